import { locateProblems, type UnlocatedProblem } from "../data/source-text.ts";
import type { Problem } from "../problems/index.ts";
import type { InspectedItem, InspectedPack } from "./types.ts";

/** Adds the place to a problem in an item's definition. Its `path` remains relative to the definition. */
export function placeInItem(
  { pack, texts }: Pick<InspectedPack, "pack" | "texts">,
  item: InspectedItem,
  problem: Problem,
): UnlocatedProblem {
  const { file, base, declaration } = item;
  const { kind, name } = declaration;
  return {
    problem: { ...problem, pack: pack.name, kind, item: name, ...(file === null ? {} : { file }) },
    source: file === null ? undefined : texts.get(file),
    at: [...base, ...(problem.path ?? [])],
  };
}

/** Adds places to problems in items' definitions: pack, kind, item, file and, if known, the position. */
export function placeInItems(
  inspected: Pick<InspectedPack, "pack" | "texts">,
  findings: readonly { item: InspectedItem; problem: Problem }[],
): Promise<Problem[]> {
  return locateProblems(findings.map(({ item, problem }) => placeInItem(inspected, item, problem)));
}
