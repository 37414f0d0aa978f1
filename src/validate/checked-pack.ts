import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import type { Problem } from "../problems/index.ts";

export interface CheckedPack {
  inspected: InspectedPack;
  problems: Problem[];
  /** The first error of each item that cannot be used. */
  unusable: ReadonlyMap<InspectedItem, Problem>;
}

export const makesUnusable = ({ code, severity }: Problem): boolean =>
  severity === "error" && !harmless.has(code);

/** Errors that leave an item usable: the value is ignored, or the first file is used. */
const harmless = new Set(["InvalidMetaValue", "DuplicateDefinitionFiles"]);
