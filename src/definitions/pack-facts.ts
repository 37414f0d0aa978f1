import type { DiscoveredPack } from "../discovery/types.ts";
import type { InspectedPack } from "./types.ts";

/** What parsing a module told of its exports. */
export type ModuleFacts =
  | { state: "missing" | "outside" | "notAFile" }
  /** It could not be parsed, or it exports what parsing does not tell. */
  | { state: "unclear"; reason: string; exports: readonly string[] }
  | { state: "parsed"; exports: readonly string[] };

/** Everything that the checks may know of a pack; gathered beforehand, so that each check is a pure function. */
export interface PackFacts {
  inspected: InspectedPack;
  /** The packs that are installed beside this one. */
  installed: readonly DiscoveredPack[];
  /** Names of the host's own tools. */
  builtIns: readonly string[];
  /** The files that npm would publish, relative with `/`; `undefined` where that cannot be told. */
  published: ReadonlySet<string> | undefined;
  /** The modules that handlers name, by their path relative to the package, without a leading `./`. */
  modules: ReadonlyMap<string, ModuleFacts>;
}

/** Gathers what the checks need beyond the definitions. Opens modules to parse them; runs nothing. */
export async function gatherFacts(
  inspected: InspectedPack,
  installed: readonly DiscoveredPack[],
  builtIns: readonly string[],
): Promise<PackFacts> {
  return { inspected, installed, builtIns, published: undefined, modules: new Map() };
}
