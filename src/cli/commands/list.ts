import { discoverPacks } from "../../discovery/discover-packs.ts";
import type { DiscoveredPack, Discovery } from "../../discovery/types.ts";
import { type Kind, keyOfKind, kinds, parseKind } from "../../kinds.ts";
import { failure, type Problem, printable } from "../../problems/index.ts";
import type { CommandAnswer, CommandInput, TextStyle } from "../command.ts";
import { formatTable } from "../format-table.ts";

interface ListedItem {
  kind: Kind;
  qualifiedName: string;
  name: string;
  description: string | null;
  /** The npm name; `null` for what the project's config brings. */
  pack: string | null;
  version: string | null;
}

function readKind(word: string | undefined): Kind | undefined {
  if (word === undefined) return undefined;
  const kind = parseKind(word);
  if (kind === undefined) {
    const hint = `Kinds are ${kinds.map((one) => keyOfKind[one]).join(", ")}.`;
    throw failure("InvalidArguments", { reason: `"${word}" is no kind of item`, hint });
  }
  return kind;
}

function countItems(pack: DiscoveredPack): string {
  const counts = kinds
    .map((kind) => ({ kind, count: pack[keyOfKind[kind]].length }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${count === 1 ? kind : keyOfKind[kind]}`);
  return counts.join(", ") || "nothing";
}

function describeState(pack: DiscoveredPack): string {
  if (pack.shadowed) return "shadowed";
  return pack.enabled ? "on" : "off";
}

function formatPacks({ project, packs, problems }: Discovery, style: TextStyle): string {
  if (packs.length === 0 && problems.length > 0) return `No packs were found in ${printable(project)}.`;
  if (packs.length === 0) {
    return `No packs are installed in ${printable(project)}.\n\`trailblaze search\` finds packs, \`trailblaze add <pack>\` installs one.`;
  }
  const rows = packs.map((pack) => [
    pack.name,
    pack.version ?? "-",
    pack.origin,
    describeState(pack),
    countItems(pack),
  ]);
  return formatTable(["PACK", "VERSION", "ORIGIN", "SESSION", "BRINGS"], rows, style);
}

function formatItems(items: readonly ListedItem[], kind: Kind, style: TextStyle): string {
  if (items.length === 0) return `No installed pack brings a ${kind}.`;
  const rows = items.map((item) => [item.qualifiedName, item.version ?? "-", item.description ?? ""]);
  return formatTable(["NAME", "VERSION", "DESCRIPTION"], rows, style);
}

function formatBuiltIns(items: readonly ListedItem[] | undefined, style: TextStyle): string[] {
  if (items === undefined) return [];
  if (items.length === 0) return ["The project's config has no tools or servers of its own."];
  const rows = items.map(({ kind, name, description }) => [name, kind, description ?? ""]);
  return [formatTable(["BUILT-IN", "KIND", "DESCRIPTION"], rows, style)];
}

/** The items of one kind; a shadowed copy has none of its own, since its names mean another copy's. */
function listItems(packs: readonly DiscoveredPack[], kind: Kind): ListedItem[] {
  return packs
    .filter(({ shadowed }) => !shadowed)
    .flatMap((pack) =>
      pack[keyOfKind[kind]].map(({ qualifiedName, name, description }) => ({
        kind,
        qualifiedName,
        name,
        description,
        pack: pack.name,
        version: pack.version,
      })),
    );
}

/** The tools and servers of the project's own config. */
async function findBuiltIns(cwd: string): Promise<ListedItem[]> {
  const { listBuiltIns } = await import("../../session/list-built-ins.ts");
  const found = await listBuiltIns({ cwd });
  return found.map((item) => ({ ...item, pack: null, version: null }));
}

export async function run(input: CommandInput): Promise<CommandAnswer> {
  const { positionals, options, cwd } = input;
  const kind = readKind(positionals[0]);
  if (options.remote === true) {
    if (kind !== undefined) {
      throw failure("InvalidArguments", {
        reason: "--remote lists packs, not items",
        hint: "Leave the kind out.",
      });
    }
    const { searchFor } = await import("./search.ts");
    return searchFor("", input);
  }
  const builtIns = options["built-in"] === true ? await findBuiltIns(cwd) : undefined;
  const discovery = await discoverPacks({ cwd, global: options.global === true });
  const problems: Problem[] = [...discovery.problems, ...discovery.packs.flatMap((pack) => pack.problems)];
  if (kind === undefined) {
    const json = builtIns === undefined ? discovery : { ...discovery, builtIns };
    const formatText = (style: TextStyle) =>
      [formatPacks(discovery, style), ...formatBuiltIns(builtIns, style)].join("\n\n");
    return { json, formatText, problems };
  }
  const own = (builtIns ?? []).filter((item) => item.kind === kind);
  const items = [...own, ...listItems(discovery.packs, kind)];
  return { json: { items, problems }, formatText: (style) => formatItems(items, kind, style), problems };
}
