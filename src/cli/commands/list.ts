import { join } from "node:path";
import { type FoundPacks, findPacks } from "../../discovery/find-packs.ts";
import type { DiscoveredPack } from "../../discovery/types.ts";
import { discoveryPort } from "../../files/node-discovery-port.ts";
import { type Kind, keyOfKind, parseKind } from "../../kinds.ts";
import { failure, printable } from "../../problems/index.ts";
import { defineCommand, type TextStyle } from "../command.ts";
import { countItems, formatTable, wrap } from "../layout.ts";
import { flag, remoteOptions } from "../options.ts";

export const command = defineCommand({
  summary: "List the packs that a project declares, or their items of one kind",
  usage: "[servers|tools|toolsets|prompts|resources|skills]",
  options: {
    all: flag("Also list installed packs that the project does not declare"),
    global: { ...flag("Also list globally installed packs"), short: "g" },
    remote: flag("List packs in the npm registry instead"),
    ...remoteOptions,
    "built-in": flag("Also list tools and servers from the project's config"),
  },
  async run(input) {
    const { positionals, options, cwd } = input;
    const [word] = positionals;
    // Only an unknown kind loads more.
    const kind =
      word === undefined
        ? undefined
        : (parseKind(word) ?? (await import("../../qualified-names/resolve-reference.ts")).readKind(word));
    if (options.remote) {
      if (kind !== undefined)
        throw failure("InvalidArguments", { reason: "--remote lists only packs", hint: "Omit the kind." });
      const { searchFor } = await import("./search.ts");
      return searchFor("", input);
    }
    const scope = options.all ? "all" : "declared";
    const found = await findPacks(discoveryPort, { cwd, global: options.global, all: options.all });
    const { project } = found;
    const packs = found.packs.map(({ pack }) => pack);
    const builtIns = options["built-in"] ? await findBuiltIns(project) : undefined;
    const problems = [...found.problems, ...packs.flatMap((pack) => pack.problems)];
    if (kind === undefined)
      return {
        json: { project, scope, packs, problems: found.problems, builtIns },
        formatText(style) {
          const listed = formatPacks(packs, style) ?? explainEmpty(found, scope, "packs", style);
          return [listed, ...formatBuiltIns(builtIns, style)].join("\n\n");
        },
        problems,
      };
    const items = [...(builtIns ?? []).filter((item) => item.kind === kind), ...listItems(packs, kind)];
    return {
      json: { scope, items, problems },
      formatText: (style) => formatItems(items, style) ?? explainEmpty(found, scope, keyOfKind[kind], style),
    };
  },
});

interface ListedItem {
  kind: Kind;
  qualifiedName: string;
  name: string;
  description: string | null;
  /** The npm name; `null` for items of the project's config. */
  pack: string | null;
  version: string | null;
}

function describeUse(pack: DiscoveredPack): string {
  if (pack.shadowed) return "shadowed";
  const { enabled } = pack;
  return enabled === true ? "yes" : enabled === "onDemand" ? "on demand" : enabled || "no";
}

function explainEmpty(
  { project, workspace, problems }: FoundPacks,
  scope: "declared" | "all",
  what: string,
  { width }: TextStyle,
): string {
  const empty = `No ${what} are ${scope === "all" ? "installed" : "declared"} in ${printable(project)}.`;
  const folders = [project, workspace.root, ...workspace.members];
  const { listDirectory } = discoveryPort;
  const hasPackages = (folder: string) =>
    listDirectory(join(folder, "node_modules"))?.some(({ name }) => !name.startsWith("."));
  const next =
    scope === "declared" && folders.some(hasPackages)
      ? "Run `trailblaze list --all` to list everything that is installed."
      : "Run `trailblaze search` to find packs and `trailblaze add <pack>` to install one.";
  return [empty, ...(problems.length > 0 ? [] : [next])].map((line) => wrap(line, width)).join("\n");
}

function formatPacks(packs: readonly DiscoveredPack[], style: TextStyle): string | undefined {
  const rows = packs.map((pack) => [
    pack.name,
    pack.version ?? "-",
    pack.origin,
    describeUse(pack),
    countItems(pack),
  ]);
  const headings = ["PACK", "VERSION", "ORIGIN", "ENABLED", "PROVIDES"];
  return rows.length > 0 ? formatTable(headings, rows, style) : undefined;
}

function formatItems(items: readonly ListedItem[], style: TextStyle): string | undefined {
  const rows = items.map((item) => [item.qualifiedName, item.version ?? "-", item.description ?? ""]);
  return rows.length > 0 ? formatTable(["NAME", "VERSION", "DESCRIPTION"], rows, style) : undefined;
}

function formatBuiltIns(items: readonly ListedItem[] | undefined, style: TextStyle): string[] {
  if (items === undefined) return [];
  if (items.length === 0) return ["The project's config defines no tools or servers."];
  const rows = items.map(({ kind, name, description }) => [name, kind, description ?? ""]);
  return [formatTable(["BUILT-IN", "KIND", "DESCRIPTION"], rows, style)];
}

/** The items of one kind, without those of shadowed copies: their names refer to another copy. */
function listItems(packs: readonly DiscoveredPack[], kind: Kind): ListedItem[] {
  return packs
    .filter(({ shadowed }) => !shadowed)
    .flatMap(({ name: pack, version, ...items }) =>
      items[keyOfKind[kind]].map(({ qualifiedName, name, description }) => {
        return { kind, qualifiedName, name, description, pack, version };
      }),
    );
}

async function findBuiltIns(directory: string): Promise<ListedItem[]> {
  const { listConfigItems } = await import("../../config/read-config.ts");
  const { inspectionPort } = await import("../../files/node-inspection-port.ts");
  const items = await listConfigItems(inspectionPort, directory);
  return items.map((item) => ({ ...item, qualifiedName: item.name, pack: null, version: null }));
}
