import type { InstallOptions, InstallPlan, InstallResult, ListedClient } from "../../install.ts";
import { failure, formatProblem, type Problem, printable, TrailblazeError } from "../../problems/index.ts";
import type { CommandAnswer, CommandInput, TextStyle } from "../command.ts";
import { output } from "../output.ts";
import { shortenForPeople } from "../shorten-for-people.ts";

/** Lines of a diff longer than this are cut where people read them: some clients keep all on one line. */
const maximumLine = 400;

interface Outcome {
  result: InstallResult;
  notes: readonly string[];
}
type Attempt = Outcome | { client: string; server: string; problem: Problem };

/** One action of both commands. */
export interface InstallAction {
  /** As `Installed`, `Would install`. */
  done: string;
  planned: string;
  unchanged: string;
  plan(client: string, server: string, options: InstallOptions): Promise<InstallPlan>;
}

function readScope(value: unknown): InstallOptions["scope"] {
  if (value === undefined || value === "user" || value === "project") return value;
  const reason = `Unknown scope "${printable(String(value))}"`;
  throw failure("InvalidArguments", { reason, hint: "Use --scope user or --scope project." });
}

function readOptions({ options, cwd }: CommandInput): InstallOptions {
  const text = (name: string) => (options[name] === undefined ? undefined : String(options[name]));
  return {
    cwd,
    scope: readScope(options.scope),
    file: text("file"),
    name: text("name"),
    env: Array.isArray(options.env) ? options.env.map(String) : undefined,
    force: options.force === true,
    url: text("url"),
  };
}

/** Does what a plan says, or tells it only. */
async function carryOut(plan: InstallPlan, input: CommandInput): Promise<Outcome> {
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
  { color }: TextStyle,
): string {
  const { client, server, file, key, changed, backup, diff } = result;
  const verb = !changed ? action.unchanged : isDryRun ? action.planned : action.done;
  const lines = [printable(`${verb} ${server} in ${client} as "${key}": ${file}`)];
  if (changed) {
    const diffLines = diff.replace(/\r?\n$/, "").split(/\r?\n/);
    lines.push("", ...diffLines.map((line) => formatDiffLine(line, color)), "");
    if (backup !== null) lines.push(printable(`The file as it was: ${backup}`));
  }
  return [...lines, ...notes.map(printable)].join("\n").trimEnd();
}

/** A problem of one client's config is reported; the other clients' configs are still edited. */
async function orProblem<Result>(
  client: string,
  server: string,
  run: () => Promise<Result>,
): Promise<Result | { client: string; server: string; problem: Problem }> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof TrailblazeError) || !error.code.startsWith("ClientConfig")) throw error;
    return { client, server, problem: error.problem };
  }
}

async function performForAll(
  action: InstallAction,
  server: string,
  input: CommandInput,
): Promise<CommandAnswer> {
  const { listClients } = await import("../../install.ts");
  const { clients } = await listClients({ cwd: input.cwd });
  const isProject = readScope(input.options.scope) === "project";
  const isUsable = ({ present, userFile, projectFile }: ListedClient) =>
    present && (isProject ? projectFile : userFile) !== null;
  // Everything is planned before anything is written: what is wrong with the request itself changes nothing.
  const plans: (InstallPlan | Attempt)[] = [];
  for (const { id } of clients.filter(isUsable)) {
    plans.push(await orProblem(id, server, () => action.plan(id, server, readOptions(input))));
  }
  const attempts: Attempt[] = [];
  for (const plan of plans) {
    const isPlan = "edit" in plan;
    attempts.push(isPlan ? await orProblem(plan.client, server, () => carryOut(plan, input)) : plan);
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
        ? "No client that Trailblaze knows was found here."
        : attempts
            .map((attempt) =>
              "result" in attempt
                ? formatOutcome(action, attempt, isDryRun, style)
                : formatProblem(attempt.problem, style),
            )
            .join("\n\n"),
    problems: [],
    failed: attempts.some((attempt) => "problem" in attempt),
  };
}

/** Runs `install` or `uninstall`: in one client, or with `--all` in every one that is here. */
export async function runInstallCommand(action: InstallAction, input: CommandInput): Promise<CommandAnswer> {
  const [first = "", second] = input.positionals;
  if (input.options.all === true) {
    if (second === undefined && input.options.file === undefined) {
      return performForAll(action, first, input);
    }
    const reason = "--all names every client, so no client and no --file can be named besides";
    throw failure("InvalidArguments", { reason });
  }
  if (second === undefined) {
    const hint = "`trailblaze clients` lists the clients; --all takes every one that is here.";
    throw failure("InvalidArguments", { reason: "A client and a server are needed", hint });
  }
  const outcome = await carryOut(await action.plan(first, second, readOptions(input)), input);
  const isDryRun = input.options["dry-run"] === true;
  return {
    json: outcome.result,
    formatText: (style) => formatOutcome(action, outcome, isDryRun, style),
    problems: [],
  };
}
