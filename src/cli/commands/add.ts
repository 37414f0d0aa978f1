import type { ShownAdditions } from "../../approval/update-lock.ts";
import { findProject } from "../../discovery/project.ts";
import { createNodeDiscoveryPort } from "../../files/node-discovery-port.ts";
import type { InspectedPack } from "../../inspection/types.ts";
import type { AddedServerOptions } from "../../install/added-server.ts";
import type { ConfigEdit, EntryToWrite } from "../../install/project-config.ts";
import { addPacks } from "../../npm/add-packs.ts";
import { parseSpecs } from "../../npm/parse-specs.ts";
import type { PackPreview } from "../../npm/preview-packs.ts";
import { failure, type Problem, printable, printableLines, TrailblazeError } from "../../problems/index.ts";
import { askForYes, canAsk, requireTerminal } from "../ask.ts";
import type { Command, CommandAnswer, CommandInput } from "../command.ts";
import { withSignals } from "../interruption.ts";
import { countItems } from "../layout.ts";
import { flag, text, textOf, texts, textsOf } from "../options.ts";
import { output } from "../output.ts";
import { formatPreviews } from "../remote/format-previews.ts";
import { formatCommand } from "../session/session-command.ts";

export const command: Command = {
  summary: "Show what packs or MCP servers from npm provide, then install them",
  usage: "<package...>",
  options: {
    yes: { ...flag("Skip the confirmation prompt"), short: "y" },
    "allow-similar": flag("Allow names that are very similar to other packs' names"),
    server: flag("Add a package with a command as an MCP server"),
    name: text("LABEL", "Label of the server in the config (default: the last segment of the npm name)"),
    arg: texts("VALUE", "Argument of the server, as --arg=VALUE if it starts with a dash (repeatable)"),
    env: texts(
      "NAME[=VALUE]",
      "Environment variable of the server; without =VALUE, a reference to it (repeatable)",
    ),
    bin: text("NAME", "Command of the package, if it has several"),
    "no-config": flag("Install a server without an entry in the config"),
    check: flag("Start an added server once and list its tools"),
  },
  run,
};

interface ServerOptions extends AddedServerOptions {
  /** Accept any package with a command. */
  isForced: boolean;
  writesConfig: boolean;
  isChecked: boolean;
}

/** An added MCP server that is not a pack. */
interface AddedServer {
  /** Its label in the config. */
  name: string;
  package: string;
  version: string | null;
  /** Name of the config file; `null` with `--no-config`. */
  file: string | null;
  /** Its tools, if it was started. */
  tools?: string[];
}

const invalid = (reason: string, hint?: string) =>
  failure("InvalidArguments", hint === undefined ? { reason } : { reason, hint });

function readOptions({ options }: CommandInput): ServerOptions {
  const server = {
    name: textOf(options.name),
    args: textsOf(options.arg) ?? [],
    env: textsOf(options.env) ?? [],
    bin: textOf(options.bin),
    isForced: options.server === true,
    writesConfig: options["no-config"] !== true,
    isChecked: options.check === true,
  };
  const isStarted = server.writesConfig || server.isChecked;
  if (!server.writesConfig && server.name !== undefined)
    throw invalid("--name and --no-config exclude each other");
  if (!isStarted && server.args.length + server.env.length > 0)
    throw invalid("--arg and --env have no effect with --no-config");
  return server;
}

/** Throws if options for a single server are given without a server, or with several. */
function checkOptions(servers: readonly PackPreview[], options: ServerOptions): void {
  const { name, args, env, bin, isForced, isChecked, writesConfig } = options;
  const isForOne = name !== undefined || bin !== undefined || args.length + env.length > 0;
  if (servers.length > 1 && isForOne) throw invalid("--name, --bin, --arg and --env apply to one server");
  if (servers.length === 0 && (isForOne || isForced || isChecked || !writesConfig)) {
    const hint = "Omit --server, --name, --bin, --arg, --env, --check and --no-config.";
    throw invalid("The options for MCP servers do not apply to packs", hint);
  }
}

/** Adds MCP servers to a project: plans the changes before the installation and makes them after it. */
class ServerAdditions {
  readonly #directory: string;
  readonly #options: ServerOptions;
  entries: EntryToWrite[] = [];
  edit: ConfigEdit | undefined;
  #shown: ShownAdditions | undefined;

  constructor(directory: string, options: ServerOptions) {
    this.#directory = directory;
    this.#options = options;
  }

  async plan(previews: readonly PackPreview[]): Promise<void> {
    const servers = previews.filter(({ serverBins }) => serverBins !== undefined);
    checkOptions(servers, this.#options);
    if (servers.length === 0) return;
    const { checkLabels, createEntry } = await import("../../install/added-server.ts");
    this.entries = servers.map((preview) => createEntry(preview, this.#options));
    if (!this.#options.writesConfig) return;
    await checkLabels(this.#directory, this.entries);
    const { planConfigEdit } = await import("../../install/project-config.ts");
    this.edit = await planConfigEdit(this.#directory, { write: this.entries });
    output.note(printableLines(this.edit.diff.trimEnd()));
  }

  async complete(): Promise<void> {
    const { checkProgram } = await import("../../install/added-server.ts");
    for (const entry of this.entries) checkProgram(this.#directory, entry);
    await this.edit?.apply();
  }

  /** Where there is a lock, shows what it would record. */
  async show(previews: readonly PackPreview[], packs: readonly InspectedPack[]): Promise<void> {
    const { previewAdditions } = await import("../../approval/update-lock.ts");
    const versions = previews
      .filter(({ serverBins }) => serverBins !== undefined)
      .map(({ pack }) => pack.version);
    const written = this.#options.writesConfig ? this.entries : [];
    this.#shown = await previewAdditions(this.#directory, {
      packs: packs.filter((_, index) => previews[index]?.serverBins === undefined),
      servers: written.map((entry, index) => ({ ...entry, version: versions[index] ?? null })),
    });
    if (this.#shown !== undefined && this.#shown.text !== "") output.note(this.#shown.text);
  }

  /** Where there is a lock, records what was agreed to; with --check, also what the servers list. */
  async record(packs: readonly string[], isConfirmed: boolean, signal: AbortSignal): Promise<string[]> {
    const labels = this.#options.writesConfig ? this.entries.map(({ label }) => label) : [];
    const { recordAdditions } = await import("../../approval/update-lock.ts");
    return await recordAdditions(this.#directory, [...packs, ...labels], {
      starts: this.#options.isChecked,
      shown: this.#shown,
      signal,
      onCommand: (started) =>
        output.note(`Starting ${printable(`${started.label}: `)}${formatCommand(started)}`),
      async agree({ text }) {
        if (text !== "") output.note(text);
        return isConfirmed || (await askForYes("Write this to trailblaze.lock?", signal));
      },
    });
  }

  /** With --check, starts the servers. Returns the problems of those that fail. */
  async check(added: readonly AddedServer[], signal: AbortSignal): Promise<Problem[]> {
    const wanted =
      this.#options.isChecked ||
      (added.length > 0 && canAsk() && (await askForYes("Start it once to list its tools?", signal)));
    if (!wanted) return [];
    const { listServerTools } = await import("../../install/added-server.ts");
    const problems: Problem[] = [];
    for (const [index, entry] of this.entries.entries()) {
      const server = added[index];
      if (server === undefined) continue;
      const onCommand = (command: string) =>
        output.note(`Starting ${printable(`${entry.label}: ${command}`)}`);
      try {
        server.tools = await listServerTools(this.#directory, entry, {
          isInConfig: this.#options.writesConfig,
          onCommand,
        });
      } catch (error) {
        if (!(error instanceof TrailblazeError)) throw error;
        problems.push(error.problem);
      }
    }
    return problems;
  }
}

function describeServer({ name, package: packageName, version, file, tools }: AddedServer): string[] {
  const where = file === null ? "without an entry in the config" : `as server "${name}" in ${file}`;
  const first = `Added ${packageName} ${version ?? ""} ${where}`;
  return tools === undefined ? [first] : [first, `  tools: ${tools.join(", ") || "none"}`];
}

async function run(input: CommandInput): Promise<CommandAnswer> {
  const { positionals, options, cwd } = input;
  const isConfirmed = options.yes === true;
  // Without a prompt, names that resemble another pack's need --allow-similar.
  const allowSimilar = !isConfirmed || options["allow-similar"] === true;
  parseSpecs(positionals);
  const serverOptions = readOptions(input);
  if (!isConfirmed) requireTerminal("confirmation", "Pass --yes to install without confirmation.");
  const { directory } = findProject(createNodeDiscoveryPort(), cwd);
  // A lock that cannot be used is an error before anything is installed.
  const { findLock } = await import("../../lock/lock-file.ts");
  await findLock(directory);
  const additions = new ServerAdditions(directory, serverOptions);
  return await withSignals(async (signal) => {
    const change = await addPacks(positionals, {
      cwd,
      signal,
      allowSimilar,
      servers: serverOptions.isForced ? "any" : "declared",
      onCommand: (command) => output.note(`Running ${printable(command)}`),
      onWait: (what) => output.note(`Waiting for ${printable(what)}.`),
      async consent(previews, packs) {
        output.note(formatPreviews(previews, output.stderrStyle().width));
        await additions.plan(previews);
        await additions.show(previews, packs);
        const what = additions.entries.length === 0 ? "pack" : "package";
        const question = previews.length === 1 ? `Install this ${what}?` : `Install these ${what}s?`;
        return isConfirmed || (await askForYes(question, signal));
      },
      complete: () => additions.complete(),
    }).catch(async (error: unknown) => {
      await additions.edit?.undo();
      throw error;
    });
    const { added, declined } = change;
    const servers = change.servers.map(
      ({ pack }, index): AddedServer => ({
        name: additions.entries[index]?.label ?? pack.name,
        package: pack.name,
        version: pack.version,
        file: additions.edit?.file ?? null,
      }),
    );
    const problems = [...change.problems, ...(await additions.check(servers, signal))];
    const recorded = declined
      ? []
      : await additions.record(
          added.map(({ name }) => name),
          isConfirmed,
          signal,
        );
    const lines = [
      ...added.map((pack) => `Added ${pack.name} ${pack.version ?? ""}: ${countItems(pack)}`),
      ...servers.flatMap(describeServer),
      ...recorded,
    ];
    return {
      json: { added, removed: [], servers, problems },
      formatText: () => (declined ? "Nothing was installed." : lines.map(printable).join("\n")),
      problems,
      exitCode: declined ? 1 : undefined,
    };
  });
}
