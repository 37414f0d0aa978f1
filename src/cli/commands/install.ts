import { resolveServer } from "../../install/plan-install.ts";
import {
  applyPlan,
  type InstallPlan,
  type InstallResult,
  listClients,
  planInstall,
  planUninstall,
} from "../../install.ts";
import {
  failure,
  type Problem,
  printable,
  printableLines,
  quote,
  TrailblazeError,
} from "../../problems/index.ts";
import { type CommandAnswer, type CommandInput, defineCommand, type TextStyle } from "../command.ts";
import { formatTable, wrap } from "../layout.ts";
import { choice, flag, installOption, text, texts } from "../options.ts";
import { output } from "../output.ts";

const placeOptions = {
  scope: choice(
    "SCOPE",
    ["user", "project"],
    "Config to edit: user (default), or project for the config in the project folder",
  ),
  file: text("PATH", "Edit this file instead of the client's config"),
  name: text("KEY", "Name of the entry in the client's config"),
  "dry-run": flag("Show the changes without making them"),
  skills: {
    ...flag(
      "Copy or remove skills, or the named ones, where the client reads them (in the project by default)",
    ),
    excludes: ["all", "env", "force", "file", "name"],
  },
  all: { ...flag("Edit the config of every detected client"), excludes: ["file"] },
};

const options = {
  ...placeOptions,
  env: texts(
    "NAME[=VALUE]",
    "Set an environment variable; without =VALUE, its value stays out of the file (repeatable)",
  ),
  force: flag("Replace an entry that Trailblaze did not write; a backup is kept"),
  ...installOption,
};

/** Also that of `uninstall`, which has fewer options. */
type Input = CommandInput<typeof placeOptions & Partial<typeof options>>;

const usage = "<client> [server|pack] | [server|pack] --all | <client> --skills [skill...]";

export const command = defineCommand({
  summary: "Add the project's session, or a single server, to an MCP client's config",
  usage,
  options,
  run: (input) => changeClients(input, true),
});

export const uninstall = defineCommand({
  summary: "Remove the project's session, or a single server, from an MCP client's config",
  usage,
  options: placeOptions,
  run: (input) => changeClients(input, false),
});

export const clients = defineCommand({
  summary: "List supported MCP clients",
  usage: "",
  options: {},
  async run({ cwd }) {
    const listing = await listClients({ cwd });
    const rows = listing.clients.map(({ id, name, present, projectFile, userFile }) => [
      id,
      present ? "yes" : "no",
      name,
      projectFile === null ? "user" : userFile === null ? "project" : "user, project",
      userFile ?? projectFile ?? "",
    ]);
    return {
      json: listing,
      formatText: (style) => formatTable(["CLIENT", "DETECTED", "NAME", "SCOPES", "FILE"], rows, style),
    };
  },
});

type Outcome = InstallResult & Pick<InstallPlan, "notes">;

/** Edits the config of one client, or with --all those of all detected clients. */
async function changeClients(input: Input, isInstall: boolean): Promise<CommandAnswer> {
  const { options, cwd, positionals } = input;
  const { scope, file, name, env, force, all: isAll, "dry-run": isDryRun } = options;
  if (options.skills) return changeSkills(input, isInstall);
  const [first, second = null, surplus] = positionals;
  const invalid = (reason: string, hint?: string) => failure("InvalidArguments", { reason, hint });
  if (surplus !== undefined) throw invalid(`Unexpected argument ${quote(surplus)}`);
  if (isAll && second !== null) throw invalid("--all cannot be combined with a client");
  if (!isAll && first === undefined)
    throw invalid("A client is required", "Run `trailblaze clients` for the list of clients, or pass --all.");
  const server = isAll ? (first ?? null) : second;

  const find = async <Value>(use: () => Promise<Value>): Promise<Value> => {
    // Neither a dry run nor what is removed installs packs.
    if (isDryRun || !isInstall) return use();
    const { withMissingPacks } = await import("../../session/install-missing.ts");
    const onInstall = (line: string) => output.note(`Running ${printable(line)}`);
    return withMissingPacks({ cwd, install: options.install === true, onInstall }, use);
  };
  const place = { cwd, scope, file, name, env, force };
  const plan = isInstall ? planInstall : planUninstall;
  const clients = isAll ? await findClients(input) : [first ?? ""];
  if (clients.length === 0 && isInstall) await find(() => resolveServer(server, { cwd }));
  const failures: { client: string; problem: Problem }[] = [];
  /** With --all, a problem with one client's config does not keep the others from being edited. */
  const attempt = async <Result>(client: string, use: () => Promise<Result>): Promise<Result[]> => {
    try {
      return [await use()];
    } catch (error) {
      const isOfClient = error instanceof TrailblazeError && error.code.startsWith("ClientConfig");
      if (!isAll || !isOfClient) throw error;
      failures.push({ client, problem: error.problem });
      return [];
    }
  };
  // Plans for all clients before it writes, so that an invalid request changes nothing.
  const plans: InstallPlan[] = [];
  for (const client of clients)
    plans.push(...(await attempt(client, () => find(() => plan(client, server, place)))));
  const outcomes: Outcome[] = [];
  for (const planned of plans) {
    const edit = async () => ({ ...planned, backup: null, ...(!isDryRun && (await applyPlan(planned))) });
    outcomes.push(...(await attempt(planned.client, edit)));
  }
  const edited = outcomes.map(({ client, server, file, key, changed, backup, diff }) => {
    return { client, server, file, key, changed, backup, diff };
  });
  const failed = failures.map(({ client, problem: { severity: _, ...error } }) => ({
    client,
    server,
    error,
  }));
  const results = [...edited, ...failed];
  const verb = isInstall ? "install" : "uninstall";
  const done = isDryRun ? `Would ${verb}` : isInstall ? "Installed" : "Uninstalled";
  const preposition = isInstall ? "in" : "from";
  return {
    json: isAll ? { results } : results[0],
    formatText: (style) =>
      outcomes.map((outcome) => formatOutcome(outcome, done, preposition, style)).join("\n\n") ||
      (failures.length === 0 ? "No supported MCP client was detected." : ""),
    problems: failures.map(({ problem }) => problem),
  };
}

/** The detected clients that have a config of the scope. */
async function findClients({ options, cwd }: Input): Promise<string[]> {
  const place = options.scope === "project" ? "projectFile" : "userFile";
  const { clients } = await listClients({ cwd });
  return clients.filter((client) => client.present && client[place] !== null).map(({ id }) => id);
}

function formatOutcome(outcome: Outcome, done: string, preposition: string, style: TextStyle): string {
  const { client, server, file, key, changed, backup, diff, notes } = outcome;
  const show = (line: string) => wrap(printable(line), style.width, 2);
  const place = `${changed ? preposition : "in"} ${client} as "${key}": ${file}`;
  const lines = [show(`${changed ? done : "Nothing to do for"} ${server ?? "the session"} ${place}`)];
  if (changed) {
    lines.push("", printableLines(diff.trimEnd()), "");
    if (backup !== null) lines.push(show(`Backup: ${backup}`));
  }
  return [...lines, ...notes.map(show)].join("\n").trimEnd();
}

async function changeSkills(input: Input, isInstall: boolean): Promise<CommandAnswer> {
  const { options, cwd, positionals } = input;
  const [client, ...names] = positionals;
  if (client === undefined) throw failure("InvalidArguments", { reason: "A client is required" });
  const { changeCopies } = await import("../../install/skill-copies.ts");
  const { openCommandSession } = await import("../session/session-command.ts");
  const { session } = isInstall ? await openCommandSession(input) : {};
  const place = { cwd, scope: options.scope, isDryRun: options["dry-run"] };
  const result = await changeCopies(client, names, session, place);
  const { folder, installed, removed, kept, problems } = result;
  const lists = Object.entries({ Installed: installed, Removed: removed, Kept: kept });
  const lines = lists.flatMap(([what, list]) => (list.length === 0 ? [] : `${what}: ${list.join(", ")}`));
  const heading = `${place.isDryRun ? "Would change the skills" : "Skills"} in ${folder}`;
  const shown = [heading, ...(lines.length === 0 ? ["None."] : lines)];
  return {
    json: result,
    formatText: ({ width }) => shown.map((line) => wrap(printable(line), width, 2)).join("\n"),
    problems,
  };
}
