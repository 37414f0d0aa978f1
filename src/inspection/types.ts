import type { Confinement } from "../confinement/evaluate.ts";
import type { SourceText, UnlocatedProblem } from "../data/source-text.ts";
import type { DiscoveredPack, FoundPack } from "../discovery/types.ts";
import type { Declaration } from "../extension-schema/parse-extension.ts";
import type { DefinitionShape } from "../extension-schema/shapes.ts";
import type { Path, Problem } from "../problems/index.ts";
import type { Skill } from "../skills/read-skill.ts";
import type { Format, LocatedKind } from "./locate-definitions.ts";

/** A declared item with its definition, if it could be read. */
export interface InspectedItem {
  declaration: Declaration;
  qualifiedName: string;
  /** The pack that declares it; `undefined` for a tool of the project itself. */
  pack?: DiscoveredPack;
  /** Relative to the package, with `/`; `null` if there is no file. */
  file: string | null;
  format?: Format | undefined;
  /** The text of its file, for locating problems. */
  source?: SourceText | undefined;
  /** That of the evaluation of its own file; items that it refers to may have another. */
  confinement: Confinement;
  /** Path of the definition in its file: the item's name in a combined file, otherwise empty. */
  base: Path;
  /** The shape of the definition; `undefined` if it has none of its kind's shapes. */
  shape?: DefinitionShape | undefined;
  /** Normalized: a tool's short `parameters` are expanded to `inputSchema`. `null` if not valid. */
  definition: Record<string, unknown> | null;
  /** Of a valid skill, whose definition is its front matter. It has no shape. */
  skill?: Skill;
}

export interface InspectedPack extends FoundPack {
  items: InspectedItem[];
  /** Problems of files and definitions; those of package.json are in `pack.problems`. */
  problems: Problem[];
  /** Every definition file, with or without a declaration. */
  files: readonly LocatedKind[];
  /** The texts of package.json and of all definitions that were read, by file. */
  texts: ReadonlyMap<string, SourceText>;
  /** The definitions in each file that could be read, by name. */
  definitions: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

/** Adds the place to a problem in an item's definition. Its `path` remains relative to the definition. */
export function placeInItem(
  { pack, file, source, base, declaration: { kind, name } }: InspectedItem,
  problem: Problem,
): UnlocatedProblem {
  const at = [...base, ...(problem.path ?? [])];
  const place = pack && { pack: pack.name, kind, item: name, ...(file !== null && { file }) };
  return { problem: { ...problem, ...place }, source, at };
}
