import { isRecord } from "../data/parse-json.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import { findReferences, type WrittenReference } from "../extension-schema/references.ts";
import type { Kind } from "../kinds.ts";
import { createProblem, type Problem, TrailblazeError } from "../problems/index.ts";
import { explainInvalidItemName, resolveReference } from "../qualified-names/index.ts";
import type { DefinitionLibrary } from "./definition-library.ts";
import type { InspectedItem } from "./types.ts";

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
  /** Qualified names, in order. */
  promptNames: string[];
  /** Qualified names, in order. */
  resourceNames: string[];
}

const textOrNull = (value: unknown) => (typeof value === "string" ? value : null);

function describeTool({ qualifiedName, definition }: InspectedItem): ServerTool {
  return {
    name: textOrNull(definition?.name) ?? qualifiedName,
    qualifiedName,
    description: textOrNull(definition?.description),
    inputSchema: definition?.inputSchema ?? null,
  };
}

function describeBundle({ definition }: InspectedItem): ServerTool[] {
  const entries: unknown[] = Array.isArray(definition?.entries) ? definition.entries : [];
  return entries.filter(isRecord).map((entry) => ({
    name: textOrNull(entry.name) ?? "",
    qualifiedName: null,
    description: textOrNull(entry.description),
    inputSchema: entry.argumentsSchema ?? null,
  }));
}

/** The members of a server without duplicates, in order: its tools, then those of its toolsets. */
export interface ServerMembers {
  tools: ServerMember[];
  prompts: InspectedItem[];
  resources: InspectedItem[];
  /** All toolsets that were visited, including bundles. */
  toolsets: InspectedItem[];
  /** Bundles that are listed more than once, for each repetition. */
  repeatedBundles: InspectedItem[];
}

export type ServerMember =
  | { type: "tool"; item: InspectedItem }
  /** A built-in of the host that starts the server. */
  | { type: "builtIn"; name: string }
  /** All entries of a bundle. */
  | { type: "bundle"; item: InspectedItem };

/** An item or a server in the user's config that has references. */
export interface Referrer {
  /** The origin of the references: a pack or the user. */
  from: DiscoveredPack | "user";
  references: readonly WrittenReference[];
  /** The item for problems with the references; `undefined` for the user's. */
  item: InspectedItem | undefined;
}

const byName = (items: readonly InspectedItem[]) => new Map(items.map((item) => [item.qualifiedName, item]));

/** Reads the members of servers. Reports and excludes references that cannot be resolved. */
export class ServerContentsReader {
  readonly #library: DefinitionLibrary;
  readonly #builtIns: readonly string[];
  readonly #isHostKnown: boolean;
  /** npm specifiers of packs that are referenced but not installed, in order. */
  readonly missingPacks: string[] = [];

  /** `isHostKnown`: `builtIns` is complete, so other short names cannot be built-ins. */
  constructor(
    library: DefinitionLibrary,
    builtIns: readonly string[],
    { isHostKnown = false }: { isHostKnown?: boolean } = {},
  ) {
    this.#isHostKnown = isHostKnown;
    this.#library = library;
    this.#builtIns = builtIns;
  }

  /** Reads the contents of a pack's server, as inspection shows them. */
  async read(server: InspectedItem): Promise<ServerContents> {
    const { tools, prompts, resources } = await this.readMembers(this.#asReferrer(server));
    const plain = tools.filter((member) => member.type !== "bundle");
    return {
      tools: tools.flatMap((member) =>
        member.type === "tool"
          ? describeTool(member.item)
          : member.type === "bundle"
            ? describeBundle(member.item)
            : [],
      ),
      toolNames: plain.map((member) => (member.type === "tool" ? member.item.qualifiedName : member.name)),
      promptNames: prompts.map(({ qualifiedName }) => qualifiedName),
      resourceNames: resources.map(({ qualifiedName }) => qualifiedName),
    };
  }

  /** Reads the members of a server with their definitions. */
  async readMembers(server: Referrer | undefined): Promise<ServerMembers> {
    const members = new Map<string, ServerMember>();
    const repeatedBundles: InspectedItem[] = [];
    const toolsets: InspectedItem[] = [];
    if (server === undefined) return { tools: [], prompts: [], resources: [], toolsets, repeatedBundles };
    const seen = new Set<string>();
    const add = async (referrer: Referrer): Promise<void> => {
      const toolNames = await this.#resolve(referrer, "tool");
      const tools = byName(await this.#library.load("tool", toolNames));
      for (const name of toolNames) {
        const item = tools.get(name);
        if (!name.includes("/")) members.set(`tool ${name}`, { type: "builtIn", name });
        else if (item !== undefined && !members.has(`tool ${name}`))
          members.set(`tool ${name}`, { type: "tool", item });
      }
      const toolsetNames = await this.#resolve(referrer, "toolset");
      const loaded = byName(await this.#library.load("toolset", toolsetNames));
      for (const name of toolsetNames) {
        const toolset = loaded.get(name);
        if (toolset === undefined) continue;
        const isBundle = toolset.shape === "toolsBundle";
        if (isBundle && seen.has(name)) repeatedBundles.push(toolset);
        if (seen.has(name)) continue;
        seen.add(name);
        toolsets.push(toolset);
        const inner = isBundle ? undefined : this.#asReferrer(toolset);
        if (isBundle) members.set(`bundle ${name}`, { type: "bundle", item: toolset });
        else if (inner !== undefined) await add(inner);
      }
    };
    await add(server);
    const load = async (kind: "prompt" | "resource") =>
      this.#library.load(kind, [...new Set(await this.#resolve(server, kind))]);
    return {
      tools: [...members.values()],
      prompts: await load("prompt"),
      resources: await load("resource"),
      toolsets,
      repeatedBundles,
    };
  }

  #asReferrer(item: InspectedItem): Referrer | undefined {
    const packName = item.qualifiedName.slice(0, item.qualifiedName.lastIndexOf("/"));
    const { packs } = this.#library.found;
    const found = packs.find(({ pack }) => pack.qualifiedName === packName && !pack.shadowed);
    return found === undefined ? undefined : { from: found.pack, item, references: findReferences(item) };
  }

  /** Resolves the references of one kind to qualified names, in order. */
  async #resolve({ from, references, item }: Referrer, kind: Kind): Promise<string[]> {
    const names: string[] = [];
    const problems: Problem[] = [];
    const written = references.filter((one) => one.kind === kind);
    if (written.length === 0) return names;
    await this.#library.lookUp(
      written.map(({ reference }) => reference),
      from,
    );
    const packs = this.#library.found.packs.map(({ pack }) => pack);
    const { manager } = this.#library;
    for (const { reference, path } of written) {
      try {
        names.push(
          resolveReference(reference, { from, kind, packs, builtIns: this.#builtIns, manager }).qualifiedName,
        );
      } catch (error) {
        if (!(error instanceof TrailblazeError)) throw error;
        if (error.missingPack !== undefined) this.missingPacks.push(error.missingPack);
        // A short name that the pack does not declare may be a built-in of the host that starts the server.
        const canBeBuiltIn =
          !this.#isHostKnown &&
          from !== "user" &&
          kind === "tool" &&
          explainInvalidItemName(reference) === undefined;
        if (canBeBuiltIn) names.push(reference);
        problems.push(
          canBeBuiltIn
            ? createProblem("UnknownBuiltIn", { reference, nearest: [] }, { path })
            : { ...error.problem, path },
        );
      }
    }
    if (item !== undefined) await this.#library.report(item, problems);
    else this.#library.problems.push(...problems);
    return names;
  }
}
