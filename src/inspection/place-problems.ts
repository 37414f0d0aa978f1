import { locateProblems, type UnlocatedProblem } from "../data/source-text.ts";
import type { Problem } from "../problems/index.ts";
import type { InspectedItem, InspectedPack } from "./types.ts";

/** What a problem found in an item's definition needs for its place. Its `path` stays from the definition's top. */
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

/** Problems found in items' definitions, with their places: pack, kind, item, file and, where it is known, position. */
export function placeInItems(
  inspected: Pick<InspectedPack, "pack" | "texts">,
  findings: readonly { item: InspectedItem; problem: Problem }[],
): Promise<Problem[]> {
  return locateProblems(findings.map(({ item, problem }) => placeInItem(inspected, item, problem)));
}
