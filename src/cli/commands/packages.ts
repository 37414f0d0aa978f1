import { previewAdditions, recordAdditions, recordRemovals } from "../../approval/update-lock.ts";
import { isRecord, isText } from "../../data/parse-json.ts";
import { findProject } from "../../discovery/project.ts";
import { needsKeys } from "../../extension-schema/parse-extension.ts";
import { discoveryPort } from "../../files/node-discovery-port.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import { planImport } from "../../install/import-servers.ts";
import {
  checkLabels,
  checkProgram,
  createEntry,
  listServerTools,
  locateServer,
  planConfigEdit,
  readProjectServers,
} from "../../install/project-config.ts";
import { keyOfKind } from "../../kinds.ts";
import { findLock } from "../../lock/lock-file.ts";
import { lifecycleScripts, planAdd } from "../../npm/add-packs.ts";
import { parseSpecs } from "../../npm/parse-specs.ts";
import type { PackPreview } from "../../npm/preview-packs.ts";
import { planRemove } from "../../npm/remove-packs.ts";
import { failure, printable, printableLines, shorten, TrailblazeError } from "../../problems/index.ts";
import { quoteForShell } from "../../problems/text.ts";
import { askForYes, canAsk, requireTerminal } from "../ask.ts";
import { defineCommand } from "../command.ts";
import { catchSignals } from "../interruption.ts";
import { countItems, wrap } from "../layout.ts";
import { choice, flag, text, texts } from "../options.ts";
import { output } from "../output.ts";
import { readStdin } from "../session/read-arguments.ts";
import { serverNotes } from "../session/session-command.ts";

/** The project's folder and lock. One that cannot be used is an error before anything is changed. */
async function openProject(cwd: string) {
  const { directory } = findProject(discoveryPort, cwd);
  return { directory, lock: await findLock(directory) };
}

const onCommand = (line: string) => output.note(`Running ${printable(line)}`);

export const add = defineCommand({
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
    "no-config": {
      ...flag("Install a server without an entry in the config"),
      excludes: ["name", "arg", "env"],
    },
    check: flag("Start an added server once and list its tools"),
  },
  async run(input) {
    const { positionals, options, cwd } = input;
    const { yes: isConfirmed, name, arg: args = [], env = [], bin, check } = options;
    const specs = parseSpecs(positionals);
    if (!isConfirmed) requireTerminal("confirmation", "Pass --yes to install without confirmation.");
    const { directory } = await openProject(cwd);
    const signal = await catchSignals(input);
    const plan = await planAdd(specs, {
      cwd,
      signal,
      // Without a prompt, names that resemble another pack's need --allow-similar.
      allowSimilar: !isConfirmed || options["allow-similar"],
      servers: options.server ? "any" : "declared",
      onCommand,
    });
    output.note(formatPreviews(plan.previews, output.stderrStyle().width));
    const previewed = plan.previews.filter(isServer);
    const unfit = (["name", "bin", "arg", "env"] as const).find((option) => options[option]);
    if (unfit !== undefined && previewed.length !== 1)
      throw failure("InvalidArguments", { reason: `--${unfit} applies to one MCP server`, hint: "Omit it." });
    const planned = previewed.map((preview) => {
      return { ...createEntry(preview, { name, args, env, bin }), version: preview.pack.version };
    });
    const written = options["no-config"] ? [] : planned;
    if (written.length > 0) await checkLabels(directory, written);
    const edit = written.length > 0 ? await planConfigEdit(directory, written) : undefined;
    if (edit !== undefined) output.note(printableLines(edit.diff.trimEnd()));
    const packs = plan.previews.filter((preview) => !isServer(preview));
    const shown = await previewAdditions(directory, { packs, servers: written });
    if (shown?.text) output.note(shown.text);
    if (check && planned.length === 0 && shown === undefined)
      throw failure("InvalidArguments", { reason: "--check of packs requires a lock", hint: "Omit it." });
    const isAgreed = isConfirmed || (await askForYes("Install this?", signal));
    const servers: object[] = [];
    if (!isAgreed && !signal.aborted) {
      const json = { added: [], removed: [], servers, problems: [] };
      return { json, formatText: () => "Nothing was installed.", exitCode: 1 };
    }
    const { added, problems } = await plan.apply(async () => {
      for (const server of planned) checkProgram(directory, server);
      await edit?.apply();
    });
    const starts =
      check ||
      (planned.length > 0 && canAsk() && (await askForYes("Start it once to list its tools?", signal)));
    const file = edit?.file ?? null;
    const lines = added.map((pack) => `Added ${pack.name} ${pack.version ?? ""}: ${countItems(pack)}`);
    for (const { label, entry, version } of planned) {
      const where = file === null ? "without an entry in the config" : `as server "${label}" in ${file}`;
      lines.push(`Added ${entry.package} ${version ?? ""} ${where}`);
      let tools: string[] | undefined;
      try {
        if (starts) tools = await listServerTools(directory, { label, entry }, file !== null, serverNotes);
      } catch (error) {
        if (!(error instanceof TrailblazeError)) throw error;
        problems.push(error.problem);
      }
      if (tools !== undefined) lines.push(`  tools: ${tools.join(", ") || "none"}`);
      servers.push({ name: label, package: entry.package, version, file, tools });
    }
    const names = [...added.map((pack) => pack.name), ...written.map(({ label }) => label)];
    const recorded = await recordAdditions(directory, names, {
      starts: check,
      shown,
      signal,
      ...serverNotes,
      async agree({ text }) {
        if (text !== "") output.note(text);
        return isConfirmed || (await askForYes("Write this to trailblaze.lock?", signal));
      },
    });
    return {
      json: { added, removed: [], servers, problems },
      formatText: () => [...lines, ...recorded].map(printable).join("\n"),
    };
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

function formatPreview({ pack, items, manifest, deprecated, warnings, serverBins = [] }: Shown): string[] {
  const { scripts } = manifest.value;
  const list = (title: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`  ${title.padEnd(9)} ${names.join(", ")}`];
  const describeNeed = (names: readonly string[] | undefined) =>
    names === undefined ? "not declared" : shorten(names.join(", ")) || "none";
  const needs = pack.needs === undefined ? [] : needsKeys.map((key) => [key, pack.needs?.[key]] as const);
  const notRun = Object.entries(isRecord(scripts) ? scripts : {}).filter(
    ([name, script]) => lifecycleScripts.includes(name) && isText(script),
  );
  // Names and commands are shown whole: users consent to them.
  return [
    `${pack.name} ${pack.version ?? ""}`,
    `  ${shorten(pack.description ?? "(no description)")}`,
    ...Object.values(keyOfKind).flatMap((key) =>
      list(
        key,
        pack[key].map(({ name }) => name),
      ),
    ),
    ...items.flatMap((item) => (item.declaration.kind === "server" ? formatCommand(item) : [])),
    ...list("commands", serverBins),
    ...needs.map(([key, names]) => `  needs     ${key}: ${describeNeed(names)}`),
    ...notRun.map(([name, script]) => `  not run   ${name}: ${shorten(String(script))}`),
    ...(deprecated === undefined ? [] : [`  deprecated: ${shorten(deprecated)}`]),
    ...pack.problems.map(({ code, message }) => `  ${code}: ${shorten(message)}`),
    ...warnings.map(({ code, message }) => `  warning ${code}: ${message}`),
  ].map(printable);
}

export function formatPreviews(previews: readonly Shown[], width: number | undefined): string {
  return previews
    .flatMap(formatPreview)
    .map((line) => wrap(line, width, 4))
    .join("\n");
}

export const remove = defineCommand({
  summary: "Remove packs, or MCP servers and their entries in the config",
  usage: "<pack|package...>",
  options: {
    yes: { ...flag("Accepted for scripts; remove never asks"), short: "y" },
  },
  async run(input) {
    const { positionals, cwd } = input;
    const { directory } = await openProject(cwd);
    const servers = await readProjectServers(directory);
    const signal = await catchSignals(input);
    const plan = await planRemove(positionals, { cwd, signal, onCommand });
    const own = servers.filter(({ values }) => plan.packages.some((name) => name === values.package));
    const pasted = own.filter(({ isPasted }) => isPasted);
    const entries = pasted.map(({ label }) => ({ label: String(label), entry: undefined }));
    const edit = await planConfigEdit(directory, entries).catch((error: unknown) => {
      // A layout that cannot be edited is named as entries of the list are.
      if (error instanceof TrailblazeError && error.code === "ClientConfigUnwritable") return undefined;
      throw error;
    });
    await plan.apply(async () => edit?.apply());
    const { removed } = plan;
    const gone: { name: string; package: unknown }[] = [];
    const byHand: ((typeof gone)[number] & { place: string })[] = [];
    for (const entry of own) {
      const server = { name: String(entry.label), package: entry.values.package };
      if (edit && entry.isPasted) gone.push(server);
      else byHand.push({ ...server, place: await locateServer(directory, entry) });
    }
    const packs = removed.map(({ name }) => name);
    const pruned = await recordRemovals(directory, { packs, servers: gone.map(({ name }) => name) });
    const lines = [
      ...packs.map((name) => `Removed ${name}`),
      ...gone.map(({ name }) => `Removed server "${name}" from ${edit?.file}`),
      ...byHand.map(({ name, place }) => `Remove server "${name}" from ${place} by hand`),
      ...pruned.map((name) => `Removed ${name} from trailblaze.lock`),
    ];
    return {
      json: { added: [], removed, servers: gone, byHand, problems: [] },
      formatText: () => lines.map(printable).join("\n"),
    };
  },
});

export const importServers = defineCommand({
  summary: "Add the servers of an MCP client, a file or stdin (-) to the project's config",
  usage: "<client|file|->",
  options: {
    yes: { ...flag("Add the servers without asking"), short: "y" },
    only: texts("NAME", "Import only this server (repeatable)"),
    replace: flag("Replace servers that the config already has"),
    scope: choice(
      "SCOPE",
      ["user", "project"],
      "Config to read: user (default), or project for the config in the project folder",
    ),
    "dry-run": flag("Show the changes without making them"),
  },
  async run({ positionals, options, cwd }) {
    const [source = ""] = positionals;
    const plan = await planImport(source, {
      cwd,
      scope: options.scope as "user" | "project" | undefined,
      only: options.only ?? [],
      replace: options.replace,
      readInput: readStdin,
    });
    const { added, skipped, variables, notes, edit } = plan;
    const isDryRun = options["dry-run"];
    const hasLock = (await openProject(cwd)).lock !== undefined;
    const asks = !isDryRun && !options.yes && added.length > 0;
    if (asks)
      requireTerminal(
        "confirmation",
        "Pass --yes to add the servers without confirmation, or --dry-run to see them.",
      );
    if (!isDryRun && added.length > 0) output.note(printableLines(edit.diff.trimEnd()));
    if (asks && !(await askForYes("Add this to the config?")))
      return {
        json: { added: [], skipped, variables: [], file: edit.file, diff: edit.diff },
        formatText: () => "Nothing was added.",
        exitCode: 1,
      };
    if (!isDryRun) await edit.apply();
    for (const note of notes) output.note(printable(note));
    const diff = isDryRun && printableLines(edit.diff.trimEnd());
    const lines = [
      ...added.map((name) => `${isDryRun ? "Would add" : "Added"} ${name}`),
      ...skipped.map(
        ({ name, reason, detail }) => `Skipped ${name}: ${reason}${detail ? ` (${detail})` : ""}`,
      ),
      ...(variables.length > 0 ? [`Set these variables: ${variables.join(", ")}`] : []),
      // What it adds was not shown as the lock would have it.
      ...(hasLock && !isDryRun
        ? added.map((name) => `Run \`trailblaze approve ${quoteForShell(name)}\` to read and approve it.`)
        : []),
    ];
    return {
      json: { added, skipped, variables, file: edit.file, diff: edit.diff },
      formatText: () => [diff, ...lines.map(printable)].filter(Boolean).join("\n"),
    };
  },
});
