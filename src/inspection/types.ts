import type { Confinement } from "../confinement/evaluation-port.ts";
import type { SourceText } from "../data/source-text.ts";
import type { FoundPack } from "../discovery/types.ts";
import type { Declaration, DefinitionShape } from "../extension-schema/index.ts";
import type { Path, Problem } from "../problems/index.ts";
import type { Format } from "./formats.ts";
import type { LocatedKind } from "./locate-definitions.ts";

/** A declared item with its definition, as far as that could be read. */
export interface InspectedItem {
  declaration: Declaration;
  qualifiedName: string;
  /** Relative to the package, with `/`; `null` where there is no file. */
  file: string | null;
  format: Format | undefined;
  /** Where the definition stands in its file: the item's name in a combined file, else empty. */
  base: Path;
  /** Which of its kind's shapes the definition has; `undefined` where it has none. */
  shape: DefinitionShape | undefined;
  /** In its normal form: a tool's short `parameters` are also there as `inputSchema`. `null` where unusable. */
  definition: Record<string, unknown> | null;
}

/** A pack with all that inspection reads of it. */
export interface InspectedPack extends FoundPack {
  items: InspectedItem[];
  /** Of the files and of the definitions' shape; those of package.json are `pack.problems`. */
  problems: Problem[];
  /** What the evaluation of code was confined by; `data` where there was none. */
  confinement: Confinement;
  /** Every definition file there is, declared or not. */
  files: readonly LocatedKind[];
  /** The texts of data definitions that could be parsed, by file. */
  sources: ReadonlyMap<string, SourceText>;
  /** The texts of all definitions that were read, by file, for showing what is wrong in them. */
  texts: ReadonlyMap<string, SourceText>;
  /** What each combined file holds, by file. */
  combined: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}
