import { isRecord } from "../data/parse-json.ts";
import { locateProblems } from "../data/source-text.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import { findReferences, type WrittenReference } from "../extension-schema/references.ts";
import type { Kind } from "../kinds.ts";
import { createProblem, type Problem, TrailblazeError } from "../problems/index.ts";
import { explainInvalidItemName, resolveReference } from "../qualified-names/index.ts";
import type { DefinitionLibrary } from "./definition-library.ts";
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

/** Reads the members of servers. Reports and excludes references that cannot be resolved. */
export class ServerContentsReader {
  readonly #library: DefinitionLibrary;
  readonly #builtIns: readonly string[];
  readonly #isRefused: ((toolset: InspectedItem) => boolean) | undefined;
  /** npm specifiers of packs that are referenced but not installed, in order. */
  readonly missingPacks: string[] = [];

  /**
   * `isRefused`: whether the host that serves them does not approve a toolset, so that it adds no members. Its `builtIns` are complete:
   * other short names cannot be built-ins.
   */
  constructor(
    library: DefinitionLibrary,
    builtIns: readonly string[],
    isRefused?: (toolset: InspectedItem) => boolean,
  ) {
    this.#isRefused = isRefused;
    this.#library = library;
    this.#builtIns = builtIns;
  }

  /** Reads the contents of a pack's server, as inspection shows them. */
  async read(server: InspectedItem): Promise<ServerContents> {
    const { offered } = await this.readMembers(this.#asReferrer(server));
    const namesOf = (kind: Kind) => offered.flatMap((one) => (one.kind === kind ? [one.name] : []));
    return {
      tools: offered.flatMap(({ kind, item }) => {
        if (item === undefined) return [];
        return kind === "tool" ? [describeTool(item)] : kind === "toolset" ? describeBundle(item) : [];
      }),
      toolNames: namesOf("tool"),
      promptNames: namesOf("prompt"),
      resourceNames: namesOf("resource"),
      skillNames: namesOf("skill"),
    };
  }

  async readMembers(server: Referrer | undefined) {
    const offered = new Map<string, ServerMember>();
    const toolsets = new Map<string, ServerMember>();
    const referred: ServerMember[] = [];
    const repeatedBundles: InspectedItem[] = [];
    const offer = (members: readonly ServerMember[]) => {
      for (const member of members) {
        const key = `${member.kind} ${member.name}`;
        if (!offered.has(key)) offered.set(key, member);
      }
    };
    const add = async (referrer: Referrer): Promise<void> => {
      offer(await this.#read(referrer, "tool"));
      for (const toolset of await this.#read(referrer, "toolset")) {
        const { name, item } = toolset;
        if (item === undefined) continue;
        const isBundle = item.shape === "toolsBundle";
        const isSeen = toolsets.has(name);
        if (isSeen && isBundle) repeatedBundles.push(item);
        if (isSeen) continue;
        toolsets.set(name, toolset);
        if (isBundle) offer([toolset]);
        const inner = this.#isRefused?.(item) ? undefined : this.#asReferrer(item);
        if (inner !== undefined && isBundle) referred.push(...(await this.#read(inner, "tool")));
        else if (inner !== undefined) await add(inner);
      }
    };
    if (server !== undefined) {
      await add(server);
      for (const kind of ["prompt", "resource", "skill"] as const) offer(await this.#read(server, kind));
    }
    return {
      /** Without duplicates, in order: the server's tools, then those of its toolsets, then the other kinds. */
      offered: [...offered.values()],
      /** The toolsets that were visited, including bundles, and the tools that entries of bundles refer to. */
      used: [...toolsets.values(), ...referred],
      /** Bundles that are listed more than once, for each repetition. */
      repeatedBundles,
    };
  }

  #asReferrer(item: InspectedItem): Referrer | undefined {
    const { pack: from } = item;
    return from && { from, item, references: findReferences(item) };
  }

  async #read({ from, references, item: owner }: Referrer, kind: Kind): Promise<ServerMember[]> {
    const written = references.filter((one) => one.kind === kind);
    if (written.length === 0) return [];
    const library = this.#library;
    await library.lookUp(
      written.map(({ reference }) => reference),
      from,
    );
    const packs = library.found.packs.map(({ pack }) => pack);
    const context = { from, kind, packs, builtIns: this.#builtIns, manager: library.manager };
    const names: string[] = [];
    const problems: Problem[] = [];
    for (const { reference, path } of written) {
      try {
        names.push(resolveReference(reference, context).qualifiedName);
      } catch (error) {
        if (!(error instanceof TrailblazeError)) throw error;
        if (error.missingPack !== undefined) this.missingPacks.push(error.missingPack);
        // A short name that the pack does not declare may be a built-in of the host that starts the server.
        const canBeBuiltIn =
          this.#isRefused === undefined &&
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
    const placed = owner && (await locateProblems(problems.map((problem) => placeInItem(owner, problem))));
    library.problems.push(...(placed ?? problems));
    const items = await library.load(kind, names);
    const byName = new Map(items.map((item) => [item.qualifiedName, item]));
    return names.flatMap((name) => {
      const item = byName.get(name);
      return item === undefined && name.includes("/") ? [] : [{ kind, name, item }];
    });
  }
}
