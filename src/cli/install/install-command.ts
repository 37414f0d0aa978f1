import type { InstallOptions, InstallPlan, InstallResult, ListedClient } from "../../install.ts";
import { failure, type Problem, printable, TrailblazeError } from "../../problems/index.ts";
import type { CommandAnswer, CommandInput, OptionDescription, TextStyle } from "../command.ts";
import { abbreviateHome, shortenForPeople, wrap } from "../layout.ts";
import { choice, flag, text, textOf, textsOf } from "../options.ts";
import { output } from "../output.ts";
import { formatProblemText } from "../problem-text.ts";

/** The options of `install` and `uninstall` that say which entry of which config is meant. */
export const placeOptions: Readonly<Record<string, OptionDescription>> = {
  scope: choice(
    "SCOPE",
    ["user", "project"],
    "Config to edit: user (default), or project for the config in the project folder",
  ),
  file: text("PATH", "Edit this file instead of the client's config"),
  name: text("KEY", "Name of the entry in the client's config"),
  "dry-run": flag("Show the changes without making them"),
};

/** Longer lines of a diff are cut, because some clients keep their whole config on one line. */
const maximumLine = 400;

interface Outcome {
  result: InstallResult;
  notes: readonly string[];
}
type Attempt = Outcome | { client: string; server: string | null; problem: Problem };

/** What differs between `install` and `uninstall`. */
export interface InstallAction {
  /** Verbs such as `Installed` and `Would install`. */
  done: string;
  planned: string;
  /** Such as `Nothing to do for`. */
  unchanged: string;
  preposition: "in" | "from";
  /** `server`: `null` for the project's session. */
  plan(client: string, server: string | null, options: InstallOptions): Promise<InstallPlan>;
  /** Throws the errors of finding the server, which also apply without a client to plan for. */
  check?(server: string | null): Promise<void>;
}

/** Splits each `NAME=VALUE`. An invalid one becomes a header without a name, which is refused without its value. */
function readHeaders(value: CommandInput["options"][string]): Record<string, string> {
  const headers: [string, string][] = [];
  for (const text of textsOf(value) ?? []) {
    const equals = text.indexOf("=");
    headers.push([text.slice(0, Math.max(equals, 0)), text.slice(equals + 1)]);
  }
  return Object.fromEntries(headers);
}

function readOptions({ options, cwd }: CommandInput): InstallOptions {
  return {
    cwd,
    scope: textOf(options.scope) as InstallOptions["scope"],
    file: textOf(options.file),
    name: textOf(options.name),
    env: textsOf(options.env),
    force: options.force === true,
    url: textOf(options.url),
    headers: readHeaders(options.header),
  };
}

/** Applies a plan, unless the command is a dry run. */
async function applyOrPreview(plan: InstallPlan, input: CommandInput): Promise<Outcome> {
  const { notes } = plan;
  if (input.options["dry-run"] === true) {
    const { client, server, file, key, changed, diff } = plan;
    return { result: { client, server, file, key, changed, backup: null, diff }, notes };
  }
  const { applyPlan } = await import("../../install.ts");
  const onWait = (what: string) => output.note(`Waiting for ${printable(what)}.`);
  return { result: await applyPlan(plan, { onWait }), notes };
}

function formatDiffLine(line: string, color: boolean): string {
  const text = printable(shortenForPeople(line, maximumLine).replaceAll("\t", "    "));
  if (!color) return text;
  if (line.startsWith("+")) return `\u001b[32m${text}\u001b[39m`;
  return line.startsWith("-") ? `\u001b[31m${text}\u001b[39m` : text;
}

function formatOutcome(
  action: InstallAction,
  { result, notes }: Outcome,
  isDryRun: boolean,
  { color, width }: TextStyle,
): string {
  const show = (text: string) => wrap(printable(text), width, 2);
  const { client, server, file, key, changed, backup, diff } = result;
  const verb = !changed ? action.unchanged : isDryRun ? action.planned : action.done;
  const lines = [
    show(
      `${verb} ${server ?? "the session"} ${changed ? action.preposition : "in"} ${client} as "${key}": ${abbreviateHome(file)}`,
    ),
  ];
  if (changed) {
    const diffLines = diff.replace(/\r?\n$/, "").split(/\r?\n/);
    // The first two lines of a diff name the file.
    const shown = diffLines.map((line, index) => (index < 2 ? abbreviateHome(line) : line));
    lines.push("", ...shown.map((line) => formatDiffLine(line, color)), "");
    if (backup !== null) lines.push(show(`Backup: ${abbreviateHome(backup)}`));
  }
  return [...lines, ...notes.map(show)].join("\n").trimEnd();
}

/** Returns a problem with one client's config, so that the other clients are still handled. */
async function orProblem<Result>(
  client: string,
  server: string | null,
  run: () => Promise<Result>,
): Promise<Result | { client: string; server: string | null; problem: Problem }> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof TrailblazeError) || !error.code.startsWith("ClientConfig")) throw error;
    return { client, server, problem: error.problem };
  }
}

async function performForAll(
  action: InstallAction,
  server: string | null,
  input: CommandInput,
): Promise<CommandAnswer> {
  const { listClients } = await import("../../install.ts");
  const { clients } = await listClients({ cwd: input.cwd });
  const isProject = input.options.scope === "project";
  const isUsable = ({ present, userFile, projectFile }: ListedClient) =>
    present && (isProject ? projectFile : userFile) !== null;
  // Plan for every client before writing, so that an invalid request changes nothing.
  const plans: (InstallPlan | Attempt)[] = [];
  for (const { id } of clients.filter(isUsable)) {
    plans.push(await orProblem(id, server, () => action.plan(id, server, readOptions(input))));
  }
  if (plans.length === 0) await action.check?.(server);
  const attempts: Attempt[] = [];
  for (const plan of plans) {
    const isPlan = "edit" in plan;
    attempts.push(isPlan ? await orProblem(plan.client, server, () => applyOrPreview(plan, input)) : plan);
  }
  const results = attempts.map((attempt) => {
    if ("result" in attempt) return attempt.result;
    const { severity: _, ...error } = attempt.problem;
    return { client: attempt.client, server: attempt.server, error };
  });
  const isDryRun = input.options["dry-run"] === true;
  return {
    json: { results },
    formatText: (style) =>
      attempts.length === 0
        ? "No supported MCP client was detected."
        : attempts
            .map((attempt) =>
              "result" in attempt
                ? formatOutcome(action, attempt, isDryRun, style)
                : formatProblemText(attempt.problem, style),
            )
            .join("\n\n"),
    problems: [],
    exitCode: attempts.some((attempt) => "problem" in attempt) ? 1 : 0,
  };
}

/** Runs `install` or `uninstall` for one client, or with `--all` for every detected client. */
export async function runInstallCommand(action: InstallAction, input: CommandInput): Promise<CommandAnswer> {
  const [first, second = null] = input.positionals;
  if (input.options.all === true) {
    if (second === null && input.options.file === undefined) {
      return performForAll(action, first ?? null, input);
    }
    const reason = "--all cannot be combined with a client or --file";
    throw failure("InvalidArguments", { reason });
  }
  if (first === undefined) {
    const hint = "Run `trailblaze clients` for the list of clients, or pass --all.";
    throw failure("InvalidArguments", { reason: "A client is required", hint });
  }
  const outcome = await applyOrPreview(await action.plan(first, second, readOptions(input)), input);
  const isDryRun = input.options["dry-run"] === true;
  return {
    json: outcome.result,
    formatText: (style) => formatOutcome(action, outcome, isDryRun, style),
    problems: [],
  };
}
