import { entry, entryOf, listSome } from "./entry.ts";
import {
  describeExit,
  formatInstall,
  listOf,
  type PackageManager,
  type ProcessExit,
  printable,
  quote,
} from "./text.ts";

/** A server, or the process with a pack's code, that exited unexpectedly. */
export interface ProcessEnded {
  /** The server's name, or the pack's. */
  label: string;
  of?: "code";
  exit: ProcessExit & { stderrTail?: string };
}

/** The end of a program's output, without stack traces, which would push out the error message. */
const lastWords = (text: string): string =>
  text
    .split("\n")
    .filter((line) => line.trim() !== "" && !/^\s+at /.test(line))
    .join("\n")
    .trim()
    .slice(-300);

const signInAgain = "Run `trailblaze login` again. The sign-in from before is kept.";

const signInFaults = {
  timeout: ["there was no answer in time", signInAgain],
  denied: ["the issuer refused it", signInAgain],
  state: ["the answer does not belong to this sign-in", signInAgain],
  issuer: [
    "the issuer is not the expected one",
    "Check `oauth.issuer` in the config, if you trust the issuer.",
  ],
  endpoint: ["an address cannot be used", "Check `url` of the server, and ask its operator to use https."],
  resource: ["the server's metadata is of another resource", "Check `url` of the server in the config."],
  pkce: [
    "the issuer does not support PKCE with S256",
    "Set a token in `headers` of the server in the config.",
  ],
  registration: ["the issuer does not register a client", "Register one with it, and set `oauth.clientId`."],
  exchange: ["there is no token for the answer", "Run `trailblaze logout`, then `trailblaze login` again."],
  port: ["the port of the redirect URL cannot be used", "End the program that uses it, or set another."],
} as const;

export type SignInFault = keyof typeof signInFaults;

export const sessionProblems = {
  NameCollision: entryOf<{
    collisions: readonly { name: string; sources: readonly string[] }[];
    /** A call uses the name. */
    isCalled?: boolean;
    /** The name is that of the search for tools. */
    isReserved?: boolean;
    /** Default: tools. */
    kind?: "prompt" | "skill";
  }>({
    message: ({ collisions, kind }) => {
      const namesBySources = new Map<string, string[]>();
      for (const { name, sources } of collisions) {
        const from = listOf(sources.map(printable), "and");
        namesBySources.set(from, [...(namesBySources.get(from) ?? []), quote(name)]);
      }
      const claims = [...namesBySources].map(([from, names]) => `${listSome(names)} (from ${from})`);
      if (kind === "skill")
        return `Several skills have one URI, and the first is used: ${claims.join("; ")}.`;
      return `${kind === "prompt" ? "Prompt" : "Tool"} names must be unique in a session, but some are used more than once: ${claims.join("; ")}.`;
    },
    hint: ({ isCalled, isReserved, kind = "tool" }) =>
      isReserved
        ? "In trailblaze.config.yaml, set `prefix` for the tool's server, or exclude the tool with `packs.deny`."
        : isCalled
          ? `Call the ${kind} by its advertised name or its qualified name, or as LABEL/${kind.toUpperCase()}.`
          : "In trailblaze.config.yaml, set `prefix` for a server, exclude a pack with `packs.deny`, or set `nameCollisions` to prefix.",
    when: {
      "kind=skill": {
        severity: "warning",
        hint: "Rename one of the servers or packs, or exclude it with `packs.deny`.",
      },
    },
  }),
  /** `key` has dots between its parts; it is `always` for the option that names tools for models. */
  UnmatchedPattern: entryOf<{ key: string; pattern: string; nearest: readonly string[] }>({
    severity: "warning",
    message: '"{pattern:200}" in `{key}` matches nothing.',
    hint: "Run `trailblaze list` to see what is installed, and `trailblaze tools` to see the tools of servers.",
    when: {
      nearest: { hint: "Did you mean {nearest:or}?" },
      "key=always": {
        message: '"{pattern:200}" in `always` is not the name of a tool for models.',
        hint: "Run `trailblaze tools` to see the names.",
      },
    },
  }),
  /** `option` is one of a call; `tool` is the advertised name of the called tool. */
  HostListenerFailed: entry({
    severity: "warning",
    message: 'The `{option}` of a call of "{tool:200}" failed: {reason}',
    hint: "Fix the function that the host passes as `{option}`. The call went on without it, or was denied if that is `onCall`.",
  }),
  InitializeFailed: entry({
    message: 'Cannot initialize "{name:200}": {reason}',
    hint: "Fix the cause: a server starts only after all of its tools are initialized.",
  }),
  DuplicateBundleEntry: entry({
    message: "The server lists the bundle {bundles:quotes} twice.",
    hint: "List it once.",
    when: {
      name: {
        message: 'Entry "{name}" appears twice in what this server combines: {bundles:quotes}.',
        hint: "Rename one of the entries, or put the bundles into separate servers.",
      },
    },
  }),
  ServerDied: entryOf<ProcessEnded & { isRelaunched?: boolean; restartReason?: string; isServed?: boolean }>({
    when: { isRelaunched: { severity: "warning" } },
    message: ({ isRelaunched, restartReason, ...ended }) => {
      const { label, of, exit } = ended;
      const subject = of === "code" ? "The process that runs code of" : "Server";
      const restart = isRelaunched ? " and is being restarted" : "";
      const fault =
        restartReason === undefined ? "" : ` It could not be restarted: ${printable(restartReason)}.`;
      const tail = exit.stderrTail?.trim() ? ` Last stderr output: ${printable(exit.stderrTail.trim())}` : "";
      return `${subject} ${quote(label, 200)} ${describeExit(exit)}${restart}.${fault}${tail}`;
    },
    hint: ({ isServed, exit }) =>
      isServed
        ? exit.isLost
          ? "Check the network and the URL of the server."
          : "Check the server's stderr output."
        : "Set `crash` in trailblaze.config.yaml to choose how sessions react: fail, isolate or relaunch.",
  }),
  /**
   * `scheme` is what the server asks for, `reason` the text of its answer or why there is no token; `missing`: the scopes that it
   * asks for beside those of the token, `scopes`: with those. `hasHeader`: the entry has an `Authorization` header of its own.
   */
  AuthorizationRequired: entry({
    message:
      'Server "{label}" requires authorization: it answered with HTTP status {status:number}[ and the scheme {scheme}][: "{reason:500}"].',
    hint: "Run `trailblaze login {label:shell}`, or set a token in `headers` of the server in the config, for example `Authorization: Bearer ${TOKEN}`.",
    when: {
      hasHeader: {
        hint: "Check `headers` of the server in the config, for example `Authorization: Bearer ${TOKEN}`.",
      },
      scopes: {
        message:
          'Server "{label}" requires more scopes[ ({missing})]: it answered with HTTP status {status:number}.',
        hint: 'Run `trailblaze login {label:shell} --scope "{scopes:9999}"`.',
      },
    },
  }),
  SignInFailed: entryOf<{ label: string; reason: SignInFault; detail?: string | undefined }>({
    message: ({ label, reason, detail }) => {
      const more = detail === undefined ? "" : `: ${printable(detail)}`;
      return `Signing in to ${quote(label)} failed, because ${signInFaults[reason][0]}${more}.`;
    },
    hint: ({ reason }) => signInFaults[reason][1],
  }),
  RemoteRedirect: entry({
    message:
      'Server "{label}" redirects with HTTP status {status:number} to "{target:200}", which is not followed.',
    hint: "If you trust that address with your headers, set `url` of the server in the config to it.",
  }),
  /** `asked` is what the prompt or resource asks, formatted. */
  InputRequired: entry({
    message: '"{name}" needs input of the user. {asked:lines}',
    hint: "Pass `onInput` to `openSession`, or run the command on a terminal.",
  }),
  SessionClosed: entryOf<{ reason?: string | undefined; signal?: "SIGINT" | "SIGTERM" } | ProcessEnded>({
    message: "The session was closed.",
    hint: "Open a new session.",
    when: {
      reason: { message: "The session was closed: {reason}" },
      "of=code": {
        message: 'The session was closed: the process that runs code of "{label:200}" {exit:exit}.',
      },
      exit: { message: 'The session was closed: server "{label:200}" {exit:exit}.' },
    },
  }),
  StdoutNoise: entry({
    severity: "warning",
    message: 'Server "{label:200}" wrote a non-MCP line to stdout: "{line}".',
    hint: "Ask the server's author to log to stderr: stdout is reserved for the protocol.",
  }),
  ChangeNotApplied: entry({
    severity: "warning",
    message: "The session does not notice every change of the project: {reason:sentence}",
    hint: "Raise the system's limit of watches, or restart after changes.",
  }),
  IsolationOverridden: entry({
    severity: "warning",
    message:
      "Tools of packs run in child processes although the config has `isolation: in-process`, because updated packs must run their new code.",
    hint: "Turn following off with `--no-watch` to run them in one process.",
  }),
  ToolListChanged: entry({
    severity: "warning",
    message:
      'The {list} of server "{label:200}" changed. This session keeps the {list} that it started with.',
    hint: "Open a new session to use the new {list}.",
  }),
  PromptFailed: entry({
    message: "{reason:lines}",
  }),
  ResourceFailed: entry({
    message: "{reason:lines}",
  }),
  /**
   * `isRest`: only what came before is used. `name`: the entry that is left out, by its name or URI, which may be empty.
   * `key`: that of the entry that is left out.
   */
  ServerListIncomplete: entry({
    severity: "warning",
    message: 'The {list:words} of server "{label:200}" are left out: {reason}.',
    hint: "The rest of the server is used. Report it to the server's author.",
    when: {
      key: {
        message:
          '"{key:200}" in "{name:200}" of the {list:words} of server "{label:200}" is left out: {reason}.',
      },
      name: { message: '"{name:200}" of the {list:words} of server "{label:200}" is left out: {reason}.' },
      "name=": { message: 'One of the {list:words} of server "{label:200}" is left out: {reason}.' },
      isRest: { message: 'The rest of the {list:words} of server "{label:200}" is left out: {reason}.' },
    },
  }),
  /**
   * `label` or `pack`: the server, or the npm name of the pack whose code answered. `name`: the name or URI that was asked for.
   * `key`: the path of what is left out, without indexes of arrays.
   */
  ServerResultIncomplete: entry({
    severity: "warning",
    message:
      '"{key:200}" in the result of `{method}` for "{name:200}"[ of server "{label:200}"][ of pack "{pack:200}"] is left out: {reason}.',
    hint: "The rest of the result is used. Report it to the author of the server or pack.",
  }),
  /** `name`: the npm name. `label`: the server in the config, or the pack's. `isDeclared`: by the project, or by the pack, not as a peer. */
  ServerPackageNotInstalled: entry({
    message: 'Server "{label}" runs a command of the package "{name}", which is not installed.',
    hint: (args: { name: string; isDeclared: boolean; manager?: PackageManager | undefined }) =>
      formatInstall(args.manager, args.isDeclared ? undefined : args.name),
  }),
  ServerStartFailed: entryOf<
    {
      label: string;
      stderrTail?: string;
      /** The first lines of its stdout that are not MCP. */
      stdout?: string;
      /** The variable of the environment that the server's entry refers to and that is not set. */
      variable?: string;
      /** Replaces the default hint. */
      hint?: string;
    } & (
      | { exit: ProcessExit }
      /** Continues after a colon, without a period. */
      | { reason: string }
    )
  >({
    message: (args) =>
      `Server ${quote(args.label)} failed to start: ${"exit" in args ? `it ${describeExit(args.exit)}` : printable(args.reason)}.`,
    hint: ({ stderrTail, stdout, hint }) => {
      const said = [
        stderrTail && `Check its last stderr output: ${quote(lastWords(stderrTail), 300)}`,
        stdout && `Check what it wrote to stdout, which is not MCP: ${quote(stdout, 300)}`,
      ].filter(Boolean);
      return said.length > 0 ? said.join(" ") : (hint ?? "Run its command by hand to see its output.");
    },
  }),
};
