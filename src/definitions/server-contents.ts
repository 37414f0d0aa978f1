import { isRecord } from "../data/parse-json.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import type { Kind } from "../kinds.ts";
import { createProblem, type Problem, TrailblazeError } from "../problems/index.ts";
import { resolveReference, whyInvalidItemName } from "../qualified-names/index.ts";
import type { DefinitionLibrary } from "./definition-library.ts";
import { findReferences } from "./references.ts";
import type { InspectedItem } from "./types.ts";

/** A tool as a server offers it. */
export interface ServerTool {
  /** The advertised name. */
  name: string;
  /** `null` for an entry of an `Mcp.Tools` bundle, which is no item of its own. */
  qualifiedName: string | null;
  description: string | null;
  inputSchema: unknown;
}

/** What a composed server is composed of, its toolsets' tools after its own, each once. */
export interface ServerContents {
  tools: ServerTool[];
  /** Qualified names, in order. */
  toolNames: string[];
  /** Qualified names, in order. */
  promptNames: string[];
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

/** Finds what a server of a pack is composed of. References that lead nowhere are reported and left out. */
export class ServerContentsReader {
  readonly #library: DefinitionLibrary;
  readonly #packs: readonly DiscoveredPack[];
  readonly #builtIns: readonly string[];

  constructor(library: DefinitionLibrary, packs: readonly DiscoveredPack[], builtIns: readonly string[]) {
    this.#library = library;
    this.#packs = packs;
    this.#builtIns = builtIns;
  }

  async read(server: InspectedItem): Promise<ServerContents> {
    const toolNames = new Set(await this.#resolve(server, "tool"));
    const promptNames = await this.#resolve(server, "prompt");
    const bundled: ServerTool[] = [];
    const seen = new Set<string>();
    const pending = await this.#resolve(server, "toolset");
    for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
      if (seen.has(name)) continue;
      seen.add(name);
      const [toolset] = await this.#library.load("toolset", [name]);
      if (toolset === undefined) continue;
      if (toolset.shape === "toolsBundle") {
        bundled.push(...describeBundle(toolset));
      } else {
        for (const tool of await this.#resolve(toolset, "tool")) toolNames.add(tool);
        pending.unshift(...(await this.#resolve(toolset, "toolset")));
      }
    }
    const definitions = await this.#library.load("tool", [...toolNames]);
    return {
      tools: [...definitions.map(describeTool), ...bundled],
      toolNames: [...toolNames],
      promptNames: [...new Set(promptNames)],
    };
  }

  /** The qualified names of what an item refers to of one kind, in order. */
  async #resolve(item: InspectedItem, kind: Kind): Promise<string[]> {
    const packName = item.qualifiedName.slice(0, item.qualifiedName.lastIndexOf("/"));
    const from = this.#packs.find((pack) => pack.qualifiedName === packName && !pack.shadowed);
    if (from === undefined) return [];
    const names: string[] = [];
    const problems: Problem[] = [];
    for (const { reference, kind: wanted, path } of findReferences(item)) {
      if (wanted !== kind) continue;
      try {
        names.push(
          resolveReference(reference, { from, kind, packs: this.#packs, builtIns: this.#builtIns })
            .qualifiedName,
        );
      } catch (error) {
        if (!(error instanceof TrailblazeError)) throw error;
        // A short name that is none of the pack's may be a tool of the host that starts the server.
        const canBeBuiltIn = kind === "tool" && whyInvalidItemName(reference) === undefined;
        if (canBeBuiltIn) names.push(reference);
        problems.push(
          canBeBuiltIn
            ? createProblem("UnknownBuiltIn", { reference, nearest: [] }, { path })
            : { ...error.problem, path },
        );
      }
    }
    await this.#library.report(item, problems);
    return names;
  }
}
