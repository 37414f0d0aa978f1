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
  promptNames: string[];
  resourceNames: string[];
  skillNames: string[];
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
  skills: InspectedItem[];
  /** All toolsets that were visited, including bundles. */
  toolsets: InspectedItem[];
  /** Bundles that are listed more than once, for each repetition. */
  repeatedBundles: InspectedItem[];
}

/** A tool of a pack, or a built-in of the host that starts the server. */
export type ToolMember = { type: "tool"; item: InspectedItem } | { type: "builtIn"; name: string };

/** `bundle` stands for all its entries; `referred` are the tools that they refer to. */
export type ServerMember = ToolMember | { type: "bundle"; item: InspectedItem; referred: ToolMember[] };

/** An item or a server in the user's config that has references. */
export interface Referrer {
  /** The origin of the references: a pack or the user. */
  from: DiscoveredPack | "user";
  references: readonly WrittenReference[];
  /** The item for problems with the references; `undefined` for the user's. */
  item: InspectedItem | undefined;
}

const qualifiedNamesOf = (items: readonly InspectedItem[]) => items.map(({ qualifiedName }) => qualifiedName);

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
    const { tools, prompts, resources, skills } = await this.readMembers(this.#asReferrer(server));
    return {
      tools: tools.flatMap((member) => {
        if (member.type === "builtIn") return [];
        return member.type === "tool" ? describeTool(member.item) : describeBundle(member.item);
      }),
      toolNames: tools.flatMap((member) => {
        if (member.type === "bundle") return [];
        return member.type === "tool" ? member.item.qualifiedName : member.name;
      }),
      promptNames: qualifiedNamesOf(prompts),
      resourceNames: qualifiedNamesOf(resources),
      skillNames: qualifiedNamesOf(skills),
    };
  }

  /** Reads the members of a server with their definitions. */
  async readMembers(server: Referrer | undefined): Promise<ServerMembers> {
    const tools = new Map<string, ServerMember>();
    const toolsets = new Map<string, InspectedItem>();
    const members: ServerMembers = {
      tools: [],
      prompts: [],
      resources: [],
      skills: [],
      toolsets: [],
      repeatedBundles: [],
    };
    if (server === undefined) return members;
    const add = async (referrer: Referrer): Promise<void> => {
      for (const member of await this.#readTools(referrer)) {
        const name = member.type === "tool" ? member.item.qualifiedName : member.name;
        if (!tools.has(name)) tools.set(name, member);
      }
      for (const toolset of await this.#read(referrer, "toolset")) {
        const isBundle = toolset.shape === "toolsBundle";
        const isSeen = toolsets.has(toolset.qualifiedName);
        if (isSeen && isBundle) members.repeatedBundles.push(toolset);
        if (isSeen) continue;
        toolsets.set(toolset.qualifiedName, toolset);
        const inner = this.#asReferrer(toolset);
        if (isBundle) {
          const referred = inner === undefined ? [] : await this.#readTools(inner);
          tools.set(`bundle ${toolset.qualifiedName}`, { type: "bundle", item: toolset, referred });
        } else if (inner !== undefined) await add(inner);
      }
    };
    await add(server);
    const prompts = new Set(await this.#read(server, "prompt"));
    const resources = new Set(await this.#read(server, "resource"));
    return {
      ...members,
      tools: [...tools.values()],
      prompts: [...prompts],
      resources: [...resources],
      skills: [...new Set(await this.#read(server, "skill"))],
      toolsets: [...toolsets.values()],
    };
  }

  #asReferrer(item: InspectedItem): Referrer | undefined {
    const from = this.#library.sourceOf(item)?.pack;
    return from && { from, item, references: findReferences(item) };
  }

  /** The items of one kind that references name, in order. */
  async #read(referrer: Referrer, kind: Kind): Promise<InspectedItem[]> {
    return this.#library.load(kind, await this.#resolve(referrer, kind));
  }

  /** The tools that references name, in order. */
  async #readTools(referrer: Referrer): Promise<ToolMember[]> {
    const names = await this.#resolve(referrer, "tool");
    const items = await this.#library.load("tool", names);
    const byName = new Map(items.map((item) => [item.qualifiedName, item]));
    return names.flatMap((name): ToolMember[] => {
      const item = byName.get(name);
      if (!name.includes("/")) return [{ type: "builtIn", name }];
      return item === undefined ? [] : [{ type: "tool", item }];
    });
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
    const context = { from, kind, packs, builtIns: this.#builtIns, manager: this.#library.manager };
    for (const { reference, path } of written) {
      try {
        names.push(resolveReference(reference, context).qualifiedName);
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
