import { entry, entryOf } from "./entry.ts";
import { describeExit, nameExit, type ProcessExit } from "./process-exit.ts";
import { endSentence, formatInstall, listOf, type PackageManager, printable, quote } from "./text.ts";

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

/** Names for a sentence: the first ten, and how many others there are. */
const listSome = (names: readonly string[]): string =>
  listOf(names.length > 11 ? [...names.slice(0, 10), `${names.length - 10} others`] : names, "and");

/** Problems of sessions and of the servers that they start or serve. */
export const sessionProblems = {
  NameCollision: entryOf<{
    collisions: readonly { name: string; sources: readonly string[] }[];
    /** A call uses the name. */
    isCalled?: boolean;
    /** The name is that of the search for tools. */
    isReserved?: boolean;
    /** Default: tools. */
    kind?: "prompt";
  }>({
    title: "Several tools, or several prompts, have the same name",
    severity: "error",
    message: ({ collisions, kind }) => {
      const namesBySources = new Map<string, string[]>();
      for (const { name, sources } of collisions) {
        const from = listOf(sources.map(printable), "and");
        namesBySources.set(from, [...(namesBySources.get(from) ?? []), quote(name)]);
      }
      const claims = [...namesBySources].map(([from, names]) => `${listSome(names)} (from ${from})`);
      return `${kind === "prompt" ? "Prompt" : "Tool"} names must be unique in a session, but some are used more than once: ${claims.join("; ")}.`;
    },
    hint: ({ isCalled, isReserved, kind = "tool" }) =>
      isReserved
        ? "In trailblaze.config.yaml, set `prefix` for the tool's server, or exclude the tool with `packs.deny`."
        : isCalled
          ? `Call the ${kind} by its advertised name or its qualified name, or as LABEL/${kind.toUpperCase()}.`
          : "In trailblaze.config.yaml, set `prefix` for a server, exclude a pack with `packs.deny`, or set `nameCollisions` to prefix.",
  }),
  UnmatchedPattern: entryOf<{
    /** The key of the config, with dots between its parts; or the option `always`, which names tools for models. */
    key: string;
    pattern: string;
    /** Similar names, best first. */
    nearest: readonly string[];
  }>({
    title: "Pattern or name in the config matches nothing",
    severity: "warning",
    message: ({ key, pattern }) =>
      key === "always"
        ? `${quote(pattern, 200)} in \`always\` is not the name of a tool for models.`
        : `${quote(pattern, 200)} in \`${printable(key)}\` of the config matches ${key.includes(".tools.") ? "no tool of the server" : "nothing that is installed"}.`,
    hint: ({ key, nearest }) =>
      nearest.length > 0
        ? `Did you mean ${listOf(nearest)}?`
        : key === "always" || key.includes(".tools.")
          ? key === "always"
            ? "Run `trailblaze tools` to see the names."
            : "Run `trailblaze tools` to see the server's tools."
          : "Run `trailblaze list` to see what is installed.",
  }),
  HostListenerFailed: entryOf<{
    /** The option that it was given as. */
    option: "onProgress" | "onLog" | "onInput";
    /** The advertised name of the called tool. */
    tool: string;
    reason: string;
  }>({
    title: "Listener of a call failed",
    severity: "warning",
    message: ({ option, tool, reason }) =>
      `The \`${option}\` of a call of ${quote(tool, 200)} ${option === "onInput" ? "failed" : "threw an error"}: ${printable(reason)}`,
    hint: ({ option }) =>
      `Fix the function that the host passes as \`${option}\`. The call went on without it.`,
  }),
  /** `path` is a JSON pointer; `source` is the tool whose result has the integer, instead of the arguments of `tool`. */
  IntegerRounded: entry({
    title: "Tool gets a rounded integer",
    severity: "warning",
    message:
      '"{tool:200}" gets a rounded number: the integer at "{path:200}" of its arguments is too large for a number of JavaScript.',
    hint: "Take and return such integers as strings.",
    when: {
      source: {
        message:
          '"{tool:200}" gets a rounded number: the integer at "{path:200}" of the result of "{source:200}" is too large for a number of JavaScript.',
      },
    },
  }),
  InitializeFailed: entry({
    title: "Initialize function failed",
    severity: "error",
    message: 'Cannot initialize "{name:200}": {reason}',
    hint: "Fix the cause: a server starts only after all of its tools are initialized.",
  }),
  DuplicateBundleEntry: entryOf<{ name: string | undefined; bundles: readonly string[] }>({
    title: "Bundle entries of a server have the same name",
    severity: "error",
    message: ({ name, bundles }) =>
      name === undefined
        ? `The server lists the bundle ${listOf(bundles.map((bundle) => quote(bundle, 200)))} twice.`
        : bundles[0] === bundles[1]
          ? `Entry ${quote(name)} appears twice in ${listOf(bundles.slice(1).map((bundle) => quote(bundle, 200)))}.`
          : `Entry ${quote(name)} appears in both ${listOf(
              bundles.map((bundle) => quote(bundle, 200)),
              "and",
            )}, which this server combines.`,
    hint: ({ name }) =>
      name === undefined
        ? "List it once."
        : "Rename one of the entries, or put the bundles into separate servers.",
  }),
  ServerDied: entryOf<ProcessEnded & { isRelaunched?: boolean; restartReason?: string; isServed?: boolean }>({
    title: "Server exited unexpectedly",
    severity: "error",
    when: { isRelaunched: { severity: "warning" } },
    message: ({ isRelaunched, restartReason, ...ended }) => {
      const { label, of, exit } = ended;
      const subject = of === "code" ? "The process that runs code of" : "Server";
      const restart = isRelaunched ? " and is being restarted" : "";
      const fault =
        restartReason === undefined ? "" : ` It could not be restarted: ${printable(restartReason)}.`;
      const tail = exit.stderrTail?.trim() ? ` Last stderr output: ${printable(exit.stderrTail.trim())}` : "";
      const end = exit.isLost ? "was lost" : "exited unexpectedly";
      return `${subject} ${quote(label, 200)} ${end}${restart}: ${nameExit(exit)}.${fault}${tail}`;
    },
    hint: ({ isServed, exit }) =>
      isServed
        ? exit.isLost
          ? "Check the network and the URL of the server."
          : "Check the server's stderr output."
        : "Set `crash` in trailblaze.config.yaml to choose how sessions react: fail, isolate or relaunch.",
  }),
  AuthorizationRequired: entryOf<{
    /** The server's name in the config. */
    label: string;
    status: number;
    /** The scheme that the server asks for. */
    scheme?: string | undefined;
    /** The text of its answer. */
    reason?: string | undefined;
  }>({
    title: "Remote server requires authorization",
    severity: "error",
    message: ({ label, status, scheme, reason }) =>
      `Server ${quote(label)} requires authorization: it answered with HTTP status ${status}${scheme === undefined ? "" : ` and the scheme ${printable(scheme)}`}${reason === undefined ? "" : `: ${quote(reason)}`}. Credentials are sent only in \`headers\`; OAuth is not supported yet.`,
    hint: ({ scheme }) =>
      `Check \`headers\` of the server in the config, for example \`Authorization: ${printable(scheme ?? "Bearer")} \${TOKEN}\`.`,
  }),
  /** `target` has no parameters. Causes: another origin; a status that may change the method; a redirect after a redirect. */
  RemoteRedirect: entry({
    title: "Remote server redirects",
    severity: "error",
    message: 'Server "{label}" redirects: HTTP status {status:number}, "{target:200}".',
    hint: "Set `url` of the server in the config to the URL that it redirects to.",
    causes: {
      origin: {
        message: 'Server "{label}" redirects to another origin: HTTP status {status:number}, "{target:200}".',
        hint: "If you trust that origin with your headers, set `url` of the server to it in the config.",
      },
      status: {
        message:
          'Server "{label}" redirects with a status that is not followed: HTTP status {status:number}, "{target:200}".',
      },
      second: {
        message: 'Server "{label}" redirects more than once: HTTP status {status:number}, "{target:200}".',
      },
    },
  }),
  /** `asked` is what the prompt or resource asks, formatted. */
  InputRequired: entry({
    title: "Input of the user is required",
    severity: "error",
    message: '"{name}" needs input of the user. {asked:lines}',
    hint: "Pass `onInput` to `openSession`, or run the command on a terminal.",
  }),
  SessionClosed: entryOf<{ reason?: string | undefined; signal?: "SIGINT" | "SIGTERM" } | ProcessEnded>({
    title: "Session is closed",
    severity: "error",
    message: (args) => {
      if ("exit" in args) {
        const subject = args.of === "code" ? "the process that runs code of" : "server";
        return `The session was closed: ${subject} ${quote(args.label, 200)} ${describeExit(args.exit)}.`;
      }
      return args.reason === undefined
        ? "The session was closed."
        : `The session was closed: ${printable(args.reason)}`;
    },
    hint: "Open a new session.",
  }),
  StdoutNoise: entry({
    title: "Server wrote a non-MCP line to stdout",
    severity: "warning",
    message: 'Server "{label:200}" wrote a non-MCP line to stdout: "{line}".',
    hint: "Ask the server's author to log to stderr: stdout is reserved for the protocol.",
  }),
  ChangeNotApplied: entryOf<
    /** `reason` is a sentence. */
    | { cause: "project"; reason: string }
    /** `reason` continues after a colon. */
    | { cause: "watch"; reason: string }
  >({
    title: "Change of the project is not applied",
    severity: "warning",
    message: ({ cause, reason }) =>
      cause === "project"
        ? `The project has changed, but it cannot be used, and the session keeps its tools: ${printable(reason)}`
        : `The session does not notice every change of the project: ${endSentence(printable(reason))}`,
    hint: ({ cause }) =>
      cause === "project"
        ? "Finish or repeat the installation, or fix the file. The session then continues by itself."
        : "Raise the system's limit of watches, or restart after changes.",
  }),
  IsolationOverridden: entry({
    title: "Tools of packs run in child processes",
    severity: "warning",
    message:
      "Tools of packs run in child processes although the config has `isolation: in-process`, because updated packs must run their new code.",
    hint: "Turn following off with `--no-watch` to run them in one process.",
  }),
  ToolListChanged: entry({
    title: "Server's lists changed during the session",
    severity: "warning",
    message:
      'The {list:tools|prompts|resources} of server "{label:200}" changed. This session keeps the {list:tools|prompts|resources} that it started with.',
    hint: "Open a new session to use the new {list:tools|prompts|resources}.",
  }),
  PromptFailed: entry({
    title: "Prompt failed",
    severity: "error",
    message: "{reason:lines}",
  }),
  ResourceFailed: entry({
    title: "Resource failed",
    severity: "error",
    message: "{reason:lines}",
  }),
  ServerListIncomplete: entryOf<{
    label: string;
    list: "tools" | "prompts" | "resources" | "resourceTemplates";
    /** Continues the server's name, or that of the entry or key. */
    reason: string;
    /** Whether only what came before is used. */
    isRest?: boolean;
    /** The entry that is left out, by its name or URI, which may be empty; `undefined` for the whole list. */
    name?: string;
    /** The key of the entry that is left out; `undefined` for the whole entry. */
    key?: string;
  }>({
    title: "Parts of a server's lists are left out",
    severity: "warning",
    message: ({ label, list, reason, isRest, name, key }) => {
      const entries = list === "resourceTemplates" ? "resource templates" : list;
      const lists = `${entries} of server ${quote(label, 200)}`;
      const why = `left out: ${printable(reason)}.`;
      if (name === undefined)
        return isRest ? `The rest of the ${lists} is ${why}` : `The ${lists} are ${why}`;
      const entry = `${name === "" ? "One" : quote(name, 200)} of the ${lists}`;
      return key === undefined ? `${entry} is ${why}` : `${quote(key, 200)} in ${entry} is ${why}`;
    },
    hint: "The rest of the server is used. Report it to the server's author.",
  }),
  ServerResultIncomplete: entryOf<{
    /** The server, or the npm name of the pack whose code answered; neither for a tool of the config. */
    label?: string;
    pack?: string;
    method: string;
    /** What the request was about: a name or a URI. */
    name: string;
    /** The path of the key that is left out, without indexes of arrays. */
    key: string;
    reason: string;
  }>({
    title: "Parts of a result are left out",
    severity: "warning",
    message: ({ label, pack, method, name, key, reason }) => {
      const by =
        label !== undefined ? ` of server ${quote(label, 200)}` : pack ? ` of pack ${quote(pack, 200)}` : "";
      return `${quote(key, 200)} in the result of \`${printable(method)}\` for ${quote(name, 200)}${by} is left out: ${printable(reason)}.`;
    },
    hint: ({ label }) =>
      `The rest of the result is used. Report it to the ${label === undefined ? "author of the code" : "server's author"}.`,
  }),
  ServerPackageNotInstalled: entryOf<{
    /** The npm name of the package. */
    name: string;
    /** The server in the config, or the pack's server. */
    label: string;
    /** The project, or the pack as a dependency other than a peer, declares the package. */
    isDeclared: boolean;
    manager?: PackageManager | undefined;
  }>({
    title: "Package of a server is not installed",
    severity: "error",
    message: ({ name, label }) =>
      `Server ${quote(label)} runs a command of the package ${quote(name)}, which is not installed.`,
    hint: ({ name, isDeclared, manager }) => formatInstall(manager, isDeclared ? undefined : name),
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
    title: "MCP server failed to start",
    severity: "error",
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
