import { resolveServer } from "../../install/plan-install.ts";
import {
  applyPlan,
  type InstallOptions,
  type InstallPlan,
  type InstallResult,
  listClients,
  planInstall,
  planUninstall,
} from "../../install.ts";
import { failure, printable, quote, TrailblazeError } from "../../problems/index.ts";
import { type CommandAnswer, type CommandInput, defineCommand, type TextStyle } from "../command.ts";
import { abbreviateHome, shortenForPeople, wrap } from "../layout.ts";
import { choice, flag, installOption, text, texts } from "../options.ts";
import { output } from "../output.ts";
import { formatProblemText } from "../problem-text.ts";

/** The options of `install` and `uninstall` that say which entry of which config is meant. */
const placeOptions = {
  scope: choice(
    "SCOPE",
    ["user", "project"],
    "Config to edit: user (default), or project for the config in the project folder",
  ),
  file: text("PATH", "Edit this file instead of the client's config"),
  name: text("KEY", "Name of the entry in the client's config"),
  "dry-run": flag("Show the changes without making them"),
};

const options = {
  ...placeOptions,
  skills: {
    ...flag("Copy skills, or the named ones, to where the client reads them (in the project by default)"),
    excludes: ["all", "env", "force", "file", "name"],
  },
  all: { ...flag("Install into every detected client"), excludes: ["file"] },
  env: texts(
    "NAME[=VALUE]",
    "Set an environment variable; without =VALUE, its value stays out of the file (repeatable)",
  ),
  force: flag("Replace an entry that Trailblaze did not write; a backup is kept"),
  ...installOption,
};

/** Also that of `uninstall`, which has fewer options. */
export type Input = CommandInput<typeof placeOptions & Partial<typeof options>>;

export const command = defineCommand({
  summary: "Add the project's session, or a single server, to an MCP client's config",
  usage: "<client> [server|pack] | [server|pack] --all | <client> --skills [skill...]",
  options,
  run,
});

/** Longer lines of a diff are cut, because some clients keep their whole config on one line. */
const maximumLine = 400;

/** What differs between `install` and `uninstall`. */
interface InstallAction {
  done: "Installed" | "Uninstalled";
  preposition: "in" | "from";
  /** `server`: `null` for the project's session. */
  plan(client: string, server: string | null, options: InstallOptions): Promise<InstallPlan>;
  /** Throws the errors of finding the server, which also apply without a client to plan for. */
  check?(server: string | null): Promise<unknown>;
}

interface Outcome {
  result: InstallResult;
  notes: readonly string[];
}

function readOptions({ options, cwd }: Input): InstallOptions {
  const { scope, file, name, env, force } = options;
  return { cwd, scope, file, name, env, force };
}

/** Applies a plan, unless the command is a dry run. */
async function applyOrPreview(plan: InstallPlan, input: Input): Promise<Outcome> {
  const { client, server, file, key, changed, diff, notes } = plan;
  if (input.options["dry-run"])
    return { result: { client, server, file, key, changed, backup: null, diff }, notes };
  const onWait = (what: string) => output.note(`Waiting for ${printable(what)}.`);
  return { result: await applyPlan(plan, { onWait }), notes };
}

function formatDiffLine(line: string, color: boolean): string {
  const shown = printable(shortenForPeople(line, maximumLine).replaceAll("\t", "    "));
  const paint = line.startsWith("+") ? 32 : line.startsWith("-") ? 31 : 39;
  return color ? `\u001b[${paint}m${shown}\u001b[39m` : shown;
}

function formatOutcome(
  { done, preposition }: InstallAction,
  { result, notes }: Outcome,
  { options }: Input,
  { color, width }: TextStyle,
): string {
  const show = (line: string) => wrap(printable(line), width, 2);
  const { client, server, file, key, changed, backup, diff } = result;
  const would = `Would ${done === "Installed" ? "install" : "uninstall"}`;
  const verb = !changed ? "Nothing to do for" : options["dry-run"] ? would : done;
  const place = `${changed ? preposition : "in"} ${client} as "${key}": ${abbreviateHome(file)}`;
  const lines = [show(`${verb} ${server ?? "the session"} ${place}`)];
  if (changed) {
    // The first two lines of a diff name the file.
    const shown = diff
      .trimEnd()
      .split(/\r?\n/)
      .map((line, index) => formatDiffLine(index < 2 ? abbreviateHome(line) : line, color));
    lines.push("", ...shown, "");
    if (backup !== null) lines.push(show(`Backup: ${abbreviateHome(backup)}`));
  }
  return [...lines, ...notes.map(show)].join("\n").trimEnd();
}

/** A problem with one client's config is returned, so that the other clients are still handled. */
async function attempt<Result>(use: () => Promise<Result>): Promise<Result | TrailblazeError> {
  try {
    return await use();
  } catch (error) {
    if (error instanceof TrailblazeError && error.code.startsWith("ClientConfig")) return error;
    throw error;
  }
}

async function performForAll(
  action: InstallAction,
  server: string | null,
  input: Input,
): Promise<CommandAnswer> {
  const place = input.options.scope === "project" ? "projectFile" : "userFile";
  const { clients } = await listClients({ cwd: input.cwd });
  const used = clients.filter((client) => client.present && client[place] !== null);
  if (used.length === 0) await action.check?.(server);
  // Plan for all clients before writing, so that an invalid request changes nothing.
  const plans: (InstallPlan | TrailblazeError)[] = [];
  for (const { id } of used) plans.push(await attempt(() => action.plan(id, server, readOptions(input))));
  const outcomes: (Outcome | TrailblazeError)[] = [];
  for (const plan of plans)
    outcomes.push(plan instanceof TrailblazeError ? plan : await attempt(() => applyOrPreview(plan, input)));
  const results = outcomes.map((outcome, index) => {
    if (!(outcome instanceof TrailblazeError)) return outcome.result;
    const { severity: _, ...error } = outcome.problem;
    return { client: used[index]?.id, server, error };
  });
  return {
    json: { results },
    formatText: (style) =>
      outcomes
        .map((outcome) =>
          outcome instanceof TrailblazeError
            ? formatProblemText(outcome.problem, style)
            : formatOutcome(action, outcome, input, style),
        )
        .join("\n\n") || "No supported MCP client was detected.",
    exitCode: outcomes.some((outcome) => outcome instanceof TrailblazeError) ? 1 : 0,
  };
}

/** Runs `install` or `uninstall` for one client, or with `--all` for all detected clients. */
async function runInstallCommand(action: InstallAction, input: Input): Promise<CommandAnswer> {
  const [first, second = null, surplus] = input.positionals;
  if (input.options.skills === true) {
    const { runSkillsCommand } = await import("./install-skills.ts");
    return runSkillsCommand(action.done === "Installed", input);
  }
  if (surplus !== undefined)
    throw failure("InvalidArguments", { reason: `Unexpected argument ${quote(surplus)}` });
  if (input.options.all) {
    if (second === null) return performForAll(action, first ?? null, input);
    throw failure("InvalidArguments", { reason: "--all cannot be combined with a client" });
  }
  if (first === undefined) {
    const hint = "Run `trailblaze clients` for the list of clients, or pass --all.";
    throw failure("InvalidArguments", { reason: "A client is required", hint });
  }
  const outcome = await applyOrPreview(await action.plan(first, second, readOptions(input)), input);
  return {
    json: outcome.result,
    formatText: (style) => formatOutcome(action, outcome, input, style),
  };
}

async function run(input: Input): Promise<CommandAnswer> {
  const { options, cwd } = input;
  const withPacks = async <Value>(find: () => Promise<Value>): Promise<Value> => {
    // A dry run installs no packs.
    if (options["dry-run"]) return find();
    const { withMissingPacks } = await import("../../session/install-missing.ts");
    const onInstall = (line: string) => output.note(`Running ${printable(line)}`);
    return withMissingPacks({ cwd, install: options.install === true, onInstall }, find);
  };
  const action: InstallAction = {
    done: "Installed",
    preposition: "in",
    plan: (client, server, planOptions) => withPacks(() => planInstall(client, server, planOptions)),
    async check(server) {
      await withPacks(() => resolveServer(server, { cwd }));
    },
  };
  return runInstallCommand(action, input);
}

const uninstallOptions = {
  ...placeOptions,
  skills: {
    ...flag("Remove the copies of skills, or of the named ones (from the project by default)"),
    excludes: ["all", "file", "name"],
  },
  all: { ...flag("Uninstall from every detected client"), excludes: ["file"] },
};

export const uninstall = defineCommand({
  summary: "Remove the project's session, or a single server, from an MCP client's config",
  usage: "<client> [server|pack] | [server|pack] --all | <client> --skills [skill...]",
  options: uninstallOptions,
  run: (input) => runInstallCommand({ done: "Uninstalled", preposition: "from", plan: planUninstall }, input),
});
