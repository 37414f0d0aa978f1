import type { Problem } from "../problems/index.ts";
import type { InspectedItem, Locate, SourceText } from "./types.ts";

/**
 * Adds to problems of items what tells their place: pack, kind, item, file and, from the text where it is data, line
 * and column. Their `path` stays from the definition's top.
 */
export async function placeInSources(
  pack: string,
  sources: ReadonlyMap<string, SourceText>,
  findings: readonly { item: InspectedItem; problem: Problem }[],
): Promise<Problem[]> {
  const locators = new Map<string, Locate | undefined>();
  const placed: Problem[] = [];
  for (const { item, problem } of findings) {
    const { file, base, declaration } = item;
    if (file !== null && !locators.has(file)) locators.set(file, await sources.get(file)?.createLocator());
    const locate = file === null ? undefined : locators.get(file);
    placed.push({
      ...problem,
      pack,
      kind: declaration.kind,
      item: declaration.name,
      ...(file === null ? {} : { file }),
      ...locate?.([...base, ...(problem.path ?? [])]),
    });
  }
  return placed;
}
