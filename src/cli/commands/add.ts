import { previewAdditions, recordAdditions, type ShownAdditions } from "../../approval/update-lock.ts";
import { isRecord } from "../../data/parse-json.ts";
import { findProject } from "../../discovery/project.ts";
import { needsKeys } from "../../extension-schema/index.ts";
import { createNodeDiscoveryPort } from "../../files/node-discovery-port.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import { checkLabels, checkProgram, createEntry, listServerTools } from "../../install/added-server.ts";
import { type ConfigEdit, type EntryToWrite, planConfigEdit } from "../../install/project-config.ts";
import { keyOfKind, kinds } from "../../kinds.ts";
import { findLock } from "../../lock/lock-file.ts";
import { addPacks, lifecycleScripts } from "../../npm/add-packs.ts";
import { parseSpecs } from "../../npm/parse-specs.ts";
import type { PackPreview } from "../../npm/preview-packs.ts";
import { failure, printable, printableLines, shorten, TrailblazeError } from "../../problems/index.ts";
import { quoteForShell } from "../../problems/text.ts";
import { askForYes, canAsk, requireTerminal } from "../ask.ts";
import { defineCommand } from "../command.ts";
import { withSignals } from "../interruption.ts";
import { countItems, wrap } from "../layout.ts";
import { flag, text, texts } from "../options.ts";
import { output } from "../output.ts";
import { serverNotes } from "../session/session-command.ts";

export const command = defineCommand({
  summary: "Show what packs or MCP servers from npm provide, then install them",
  usage: "<package...>",
  options: {
    yes: { ...flag("Skip the confirmation prompt"), short: "y" },
    "allow-similar": flag("Allow names that are very similar to other packs' names"),
    server: flag("Add a package with a command as an MCP server"),
    name: {
      ...text("LABEL", "Label of the server in the config (default: the last segment of the npm name)"),
      excludes: ["no-config"],
    },
    arg: {
      ...texts("VALUE", "Argument of the server, as --arg=VALUE if it starts with a dash (repeatable)"),
      excludes: ["no-config"],
    },
    env: {
      ...texts(
        "NAME[=VALUE]",
        "Environment variable of the server; without =VALUE, a reference to it (repeatable)",
      ),
      excludes: ["no-config"],
    },
    bin: text("NAME", "Command of the package, if it has several"),
    "no-config": flag("Install a server without an entry in the config"),
    check: flag("Start an added server once and list its tools"),
  },
  async run({ positionals, options, cwd }) {
    const { yes: isConfirmed, name, arg: args = [], env = [], bin } = options;
    const writesConfig = !options["no-config"];
    parseSpecs(positionals);
    if (!isConfirmed) requireTerminal("confirmation", "Pass --yes to install without confirmation.");
    const { directory } = findProject(createNodeDiscoveryPort(), cwd);
    // A lock that cannot be used is an error before anything is installed.
    await findLock(directory);
    let planned: (EntryToWrite & { version: string | null })[] = [];
    let edit: ConfigEdit | undefined;
    let shown: ShownAdditions | undefined;

    /** Shows what would change, and asks. */
    async function consent(previews: readonly PackPreview[], signal: AbortSignal): Promise<boolean> {
      output.note(formatPreviews(previews, output.stderrStyle().width));
      const servers = previews.filter(isServer);
      const ofOne = servers.length === 1 ? [] : (["name", "bin", "arg", "env"] as const);
      const ofServers = servers.length > 0 ? [] : (["server", "check", "no-config"] as const);
      const unfit = [...ofOne, ...ofServers].find((option) => options[option]);
      if (unfit !== undefined) {
        const what = servers.length === 0 ? "MCP servers, and these packages are packs" : "one MCP server";
        throw failure("InvalidArguments", { reason: `--${unfit} applies to ${what}`, hint: "Omit it." });
      }
      planned = servers.map((preview) => {
        return { ...createEntry(preview, { name, args, env, bin }), version: preview.pack.version };
      });
      if (writesConfig && planned.length > 0) {
        await checkLabels(directory, planned);
        edit = await planConfigEdit(directory, planned);
        output.note(printableLines(edit.diff.trimEnd()));
      }
      shown = await previewAdditions(directory, {
        packs: previews.filter((preview) => !isServer(preview)),
        servers: writesConfig ? planned : [],
      });
      if (shown !== undefined && shown.text !== "") output.note(shown.text);
      const what = planned.length === 0 ? "pack" : "package";
      const question = previews.length === 1 ? `Install this ${what}?` : `Install these ${what}s?`;
      return isConfirmed || (await askForYes(question, signal));
    }

    return await withSignals(async (signal) => {
      const change = await addPacks(positionals, {
        cwd,
        signal,
        // Without a prompt, names that resemble another pack's need --allow-similar.
        allowSimilar: !isConfirmed || options["allow-similar"],
        servers: options.server ? "any" : "declared",
        onCommand: (line) => output.note(`Running ${printable(line)}`),
        consent: (previews) => consent(previews, signal),
        async complete() {
          for (const server of planned) checkProgram(directory, server);
          await edit?.apply();
        },
      });
      const { added, declined } = change;
      const problems = [...change.problems];
      const installed = declined ? [] : planned;
      const starts =
        options.check ||
        (installed.length > 0 && canAsk() && (await askForYes("Start it once to list its tools?", signal)));
      const servers: {
        name: string;
        package: string;
        version: string | null;
        file: string | null;
        tools?: string[];
      }[] = [];
      const file = edit?.file ?? null;
      const where = (label: string) =>
        file === null ? "without an entry in the config" : `as server "${label}" in ${file}`;
      const described: string[] = [];
      for (const { label, entry, version } of installed) {
        const server = { name: label, package: String(entry.package), version, file };
        described.push(`Added ${server.package} ${version ?? ""} ${where(label)}`);
        const request = { isInConfig: edit !== undefined, ...serverNotes };
        try {
          const tools = starts ? await listServerTools(directory, { label, entry }, request) : undefined;
          if (tools !== undefined) described.push(`  tools: ${tools.join(", ") || "none"}`);
          servers.push({ ...server, ...(tools && { tools }) });
        } catch (error) {
          if (!(error instanceof TrailblazeError)) throw error;
          problems.push(error.problem);
          servers.push(server);
        }
      }
      const labels = writesConfig ? installed.map(({ label }) => label) : [];
      const recorded = await recordAdditions(directory, [...added.map((pack) => pack.name), ...labels], {
        starts: options.check,
        shown: declined ? undefined : shown,
        signal,
        ...serverNotes,
        async agree({ text }) {
          if (text !== "") output.note(text);
          return isConfirmed || (await askForYes("Write this to trailblaze.lock?", signal));
        },
      });
      const lines = [
        ...added.map((pack) => `Added ${pack.name} ${pack.version ?? ""}: ${countItems(pack)}`),
        ...described,
        ...recorded,
      ];
      return {
        json: { added, removed: [], servers, problems },
        formatText: () => (declined ? "Nothing was installed." : lines.map(printable).join("\n")),
        problems,
        exitCode: declined ? 1 : undefined,
      };
    });
  },
});

const isServer = ({ serverBins }: PackPreview) => serverBins !== undefined;

/** How a pack starts a server; nothing for a composed server, which the host runs itself. */
function formatCommand({ declaration, definition }: InspectedItem): string[] {
  const shown = (command: string) => [`  command   ${declaration.name}: ${command}`];
  if (definition === null) return shown("defined in code (not run)");
  const { command, script, package: name, bin, args, cwd } = definition;
  const program = typeof script === "string" ? ["node", script] : [command, name, bin].filter(isText);
  if (program.length === 0) return [];
  const words = [...program, ...(Array.isArray(args) ? args.map(String) : [])];
  return shown(words.map(quoteForShell).join(" ") + (isText(cwd) ? ` (in ${cwd})` : ""));
}

type Shown = Omit<PackPreview, "spec" | "digests">;

const isText = (value: unknown): value is string => typeof value === "string";

function formatPreview({ pack, items, manifest, deprecated, warnings, serverBins = [] }: Shown): string[] {
  const { scripts } = manifest.value;
  const lines = [
    `${pack.name} ${pack.version ?? ""}`,
    `  ${shorten(pack.description ?? "(no description)")}`,
  ];
  const list = (title: string, names: readonly string[]) => {
    if (names.length > 0) lines.push(`  ${title.padEnd(9)} ${names.join(", ")}`);
  };
  for (const kind of kinds)
    list(
      keyOfKind[kind],
      pack[keyOfKind[kind]].map(({ name }) => name),
    );
  for (const item of items) if (item.declaration.kind === "server") lines.push(...formatCommand(item));
  list("commands", serverBins);
  for (const key of pack.needs === undefined ? [] : needsKeys) {
    const needed = pack.needs?.[key];
    lines.push(
      `  needs     ${key}: ${needed === undefined ? "not declared" : shorten(needed.join(", ")) || "none"}`,
    );
  }
  for (const [name, script] of Object.entries(isRecord(scripts) ? scripts : {}))
    if (lifecycleScripts.includes(name) && isText(script))
      lines.push(`  not run   ${name}: ${shorten(script)}`);
  if (deprecated !== undefined) lines.push(`  deprecated: ${shorten(deprecated)}`);
  for (const { code, message } of pack.problems) lines.push(`  ${code}: ${shorten(message)}`);
  for (const { code, message } of warnings) lines.push(`  warning ${code}: ${message}`);
  // Names and commands are shown whole: users consent to them.
  return lines.map(printable);
}

/** Describes what packs provide, for the prompt of `add`. */
export function formatPreviews(previews: readonly Shown[], width: number | undefined): string {
  return previews
    .flatMap(formatPreview)
    .map((line) => wrap(line, width, 4))
    .join("\n");
}
