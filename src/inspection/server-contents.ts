import { isRecord, textOrNull } from "../data/parse-json.ts";
import { locateProblems } from "../data/source-text.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import { findReferences, type WrittenReference } from "../extension-schema/references.ts";
import type { Kind } from "../kinds.ts";
import { createProblem, type Problem, TrailblazeError } from "../problems/index.ts";
import { explainInvalidItemName } from "../qualified-names/item-name.ts";
import { resolveReference } from "../qualified-names/resolve-reference.ts";
import type { DefinitionLibrary } from "./load-definitions.ts";
import { type InspectedItem, placeInItem } from "./types.ts";

/** A tool as a server offers it. */
export interface ServerTool {
  /** The advertised name. */
  name: string;
  /** `null` for an entry of a bundle, which is not an item. */
  qualifiedName: string | null;
  description: string | null;
  inputSchema: unknown;
}

/** The contents of a composed server without duplicates; the tools of toolsets follow its own. */
export interface ServerContents {
  tools: ServerTool[];
  /** Qualified names, in order. */
  toolNames: string[];
  promptNames: string[];
  resourceNames: string[];
  skillNames: string[];
}

/** A tool, or the entries of a bundle. */
function describeTools({ kind, item }: ServerMember): ServerTool[] {
  if (item === undefined || (kind !== "tool" && kind !== "toolset")) return [];
  const { definition } = item;
  const qualifiedName = kind === "tool" ? item.qualifiedName : null;
  const entries: unknown = kind === "tool" ? [definition ?? {}] : definition?.entries;
  return (Array.isArray(entries) ? entries : []).filter(isRecord).map((tool) => ({
    name: textOrNull(tool.name) ?? qualifiedName ?? "",
    qualifiedName,
    description: textOrNull(tool.description),
    inputSchema: (kind === "tool" ? tool.inputSchema : tool.argumentsSchema) ?? null,
  }));
}

/** A member of a server: an item of a pack, of which a bundle stands for its entries, or a tool of the host that starts it. */
export interface ServerMember {
  kind: Kind;
  /** Qualified, but for a tool of the host. */
  name: string;
  /** `undefined` for a tool of the host. */
  item: InspectedItem | undefined;
}

/** An item or a server in the user's config that has references. */
export interface Referrer {
  /** The origin of the references: a pack or the user. */
  from: DiscoveredPack | "user";
  references: readonly WrittenReference[];
  /** The item for problems with the references; `undefined` for the user's. */
  item: InspectedItem | undefined;
}

/** What the members of servers are read with, and who serves them. */
export interface ServingHost {
  library: DefinitionLibrary;
  builtIns: readonly string[];
  /**
   * Whether the host does not approve a toolset, so that it adds no members. With this, its `builtIns` are complete: other short names
   * cannot be built-ins.
   */
  isRefused?: (toolset: InspectedItem) => boolean;
}

const asReferrer = (item: InspectedItem): Referrer => ({
  from: item.pack ?? "user",
  item,
  references: findReferences(item),
});

/** Reads the contents of a pack's server, as inspection shows them. */
export async function readContents(host: ServingHost, server: InspectedItem): Promise<ServerContents> {
  const { offered } = await readMembers(host, asReferrer(server));
  const namesOf = (kind: Kind) => offered.flatMap((one) => (one.kind === kind ? [one.name] : []));
  return {
    tools: offered.flatMap(describeTools),
    toolNames: namesOf("tool"),
    promptNames: namesOf("prompt"),
    resourceNames: namesOf("resource"),
    skillNames: namesOf("skill"),
  };
}

/** Reads the members of a server. Reports and excludes references that cannot be resolved. */
export async function readMembers(host: ServingHost, server: Referrer) {
  const offered = new Map<string, ServerMember>();
  const toolsets = new Map<string, ServerMember>();
  const referred: ServerMember[] = [];
  const repeatedBundles: InspectedItem[] = [];
  const missingPacks: string[] = [];
  const read = (referrer: Referrer, kind: Kind) => resolveMembers(host, referrer, kind, missingPacks);
  const offer = (members: readonly ServerMember[]) => {
    for (const member of members) {
      const key = `${member.kind} ${member.name}`;
      if (!offered.has(key)) offered.set(key, member);
    }
  };
  const add = async (referrer: Referrer): Promise<void> => {
    offer(await read(referrer, "tool"));
    for (const toolset of await read(referrer, "toolset")) {
      const { name, item } = toolset;
      if (item === undefined) continue;
      const isBundle = item.shape === "toolsBundle";
      const isSeen = toolsets.has(name);
      if (isSeen && isBundle) repeatedBundles.push(item);
      if (isSeen) continue;
      toolsets.set(name, toolset);
      if (isBundle) offer([toolset]);
      if (host.isRefused?.(item)) continue;
      if (isBundle) referred.push(...(await read(asReferrer(item), "tool")));
      else await add(asReferrer(item));
    }
  };
  await add(server);
  for (const kind of ["prompt", "resource", "skill"] as const) offer(await read(server, kind));
  return {
    /** Without duplicates, in order: the server's tools, then those of its toolsets, then the other kinds. */
    offered: [...offered.values()],
    /** The toolsets that were visited, including bundles, and the tools that entries of bundles refer to. */
    used: [...toolsets.values(), ...referred],
    /** Bundles that are listed more than once, for each repetition. */
    repeatedBundles,
    /** npm specifiers of packs that are referenced but not installed, in order. */
    missingPacks,
  };
}

async function resolveMembers(
  { library, builtIns, isRefused }: ServingHost,
  { from, references, item: owner }: Referrer,
  kind: Kind,
  missingPacks: string[],
): Promise<ServerMember[]> {
  const written = references.filter((one) => one.kind === kind);
  if (written.length === 0) return [];
  await library.lookUp(written, from);
  const packs = library.found.packs.map(({ pack }) => pack);
  const context = { from, kind, packs, builtIns, manager: library.manager() };
  const names: string[] = [];
  const problems: Problem[] = [];
  for (const { reference, path } of written) {
    try {
      names.push(resolveReference(reference, context).qualifiedName);
    } catch (error) {
      if (!(error instanceof TrailblazeError)) throw error;
      if (error.missingPack !== undefined) missingPacks.push(error.missingPack);
      // A short name that the pack does not declare may be a built-in of the host that starts the server.
      const isShort = kind === "tool" && explainInvalidItemName(reference) === undefined;
      if (isRefused !== undefined || from === "user" || !isShort) {
        problems.push({ ...error.problem, path });
        continue;
      }
      names.push(reference);
      problems.push(createProblem("UnknownBuiltIn", { reference, nearest: [] }, { path }));
    }
  }
  const placed = owner && (await locateProblems(problems.map((problem) => placeInItem(owner, problem))));
  library.problems.push(...(placed ?? problems));
  const items = await library.load(kind, names);
  const byName = new Map(items.map((item) => [item.qualifiedName, item]));
  return names.flatMap((name) => {
    const item = byName.get(name);
    return item === undefined && name.includes("/") ? [] : [{ kind, name, item }];
  });
}
