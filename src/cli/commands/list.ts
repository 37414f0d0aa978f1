import { join } from "node:path";
import { type FoundPacks, findPacks } from "../../discovery/find-packs.ts";
import type { DiscoveredPack, Discovery } from "../../discovery/types.ts";
import { discoveryPort } from "../../files/node-discovery-port.ts";
import { type Kind, keyOfKind, parseKind } from "../../kinds.ts";
import { failure, type Problem, printable } from "../../problems/index.ts";
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
    const all = options.all;
    const found = await findPacks(discoveryPort, { cwd, global: options.global, all });
    const { project, workspace } = found;
    const builtIns = options["built-in"] ? await findBuiltIns(project) : undefined;
    const packs = found.packs.map(({ pack }) => pack);
    const discovery: Discovery = {
      project,
      scope: all ? "all" : "declared",
      packs,
      problems: found.problems,
    };
    const listing = { ...discovery, workspace };
    const problems: Problem[] = [...found.problems, ...packs.flatMap((pack) => pack.problems)];
    if (kind === undefined) {
      const json = builtIns === undefined ? discovery : { ...discovery, builtIns };
      const formatText = (style: TextStyle) =>
        [formatPacks(listing, style), ...formatBuiltIns(builtIns, style)].join("\n\n");
      return { json, formatText, problems };
    }
    const own = (builtIns ?? []).filter((item) => item.kind === kind);
    const items = [...own, ...listItems(packs, kind)];
    return {
      json: { scope: discovery.scope, items, problems },
      formatText: (style) => formatItems(items, kind, listing, style),
    };
  },
});

type Listing = Discovery & Pick<FoundPacks, "workspace">;

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
  { scope, project, workspace, problems }: Listing,
  what: string,
  style: TextStyle,
): string {
  const verb = scope === "all" ? "installed" : "declared";
  const empty = `No ${what} are ${verb} in ${printable(project)}.`;
  const folders = [project, workspace.root, ...workspace.members];
  const { listDirectory } = discoveryPort;
  const hasPackages = (folder: string) =>
    listDirectory(join(folder, "node_modules"))?.some(({ name }) => !name.startsWith("."));
  const mayHaveMore = scope === "declared" && folders.some(hasPackages);
  const next = mayHaveMore
    ? "Run `trailblaze list --all` to list everything that is installed."
    : "Run `trailblaze search` to find packs and `trailblaze add <pack>` to install one.";
  return [empty, ...(problems.length > 0 ? [] : [next])].map((line) => wrap(line, style.width)).join("\n");
}

function formatPacks(listing: Listing, style: TextStyle): string {
  const { packs } = listing;
  if (packs.length === 0) return explainEmpty(listing, "packs", style);
  const rows = packs.map((pack) => [
    pack.name,
    pack.version ?? "-",
    pack.origin,
    describeUse(pack),
    countItems(pack),
  ]);
  return formatTable(["PACK", "VERSION", "ORIGIN", "ENABLED", "PROVIDES"], rows, style);
}

function formatItems(items: readonly ListedItem[], kind: Kind, listing: Listing, style: TextStyle): string {
  if (items.length === 0) return explainEmpty(listing, keyOfKind[kind], style);
  const rows = items.map((item) => [item.qualifiedName, item.version ?? "-", item.description ?? ""]);
  return formatTable(["NAME", "VERSION", "DESCRIPTION"], rows, style);
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

async function findBuiltIns(directory: string): Promise<ListedItem[]> {
  const { listConfigItems } = await import("../../config/read-config.ts");
  const { inspectionPort } = await import("../../files/node-inspection-port.ts");
  const items = await listConfigItems(inspectionPort, directory);
  return items.map((item) => ({ ...item, qualifiedName: item.name, pack: null, version: null }));
}
