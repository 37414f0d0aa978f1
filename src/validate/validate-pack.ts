import { placeInSources } from "../inspection/place-problems.ts";
import type { InspectedItem, InspectedPack, Locate } from "../inspection/types.ts";
import type { Problem } from "../problems/index.ts";
import { checks } from "./checks/index.ts";
import type { PackFacts } from "./facts/pack-facts.ts";
import type { Check, Finding } from "./finding.ts";

/** Finds line and column of problems with a path in a file that holds data; makes each file's locator once. */
function createFileLocator({ texts }: InspectedPack) {
  const locators = new Map<string, Locate | undefined>();
  return async ({ file, path }: Problem) => {
    if (file === undefined || path === undefined) return undefined;
    if (!locators.has(file)) locators.set(file, await texts.get(file)?.createLocator());
    return locators.get(file)?.(path);
  };
}

/** Adds pack, file and position to what the checks found. */
async function placeFindings({ inspected }: PackFacts, findings: readonly Finding[]): Promise<Problem[]> {
  const pack = inspected.pack.name;
  const inItems = findings.flatMap(({ item, problem }) => (item === undefined ? [] : [{ item, problem }]));
  const placedItems = await placeInSources(pack, inspected.texts, inItems);
  const needsManifest = findings.some(({ manifestPath }) => manifestPath !== undefined);
  const locate = needsManifest
    ? (await import("../data/json-positions.ts")).createJsonLocator(inspected.manifest.text)
    : undefined;
  const locateInFile = createFileLocator(inspected);
  const placed: Problem[] = [];
  let next = 0;
  for (const { item, manifestPath, problem } of findings) {
    const inItem = item === undefined ? undefined : placedItems[next++];
    if (inItem !== undefined) placed.push(inItem);
    else if (manifestPath !== undefined)
      placed.push({ ...problem, pack, file: "package.json", ...locate?.(manifestPath) });
    else placed.push({ ...problem, pack, ...(await locateInFile(problem)) });
  }
  return placed;
}

/** Runs some checks over the facts of a pack. What each finds has its place, and the item it is about. */
export async function runChecks(
  facts: PackFacts,
  some: readonly Check[],
): Promise<{ problem: Problem; item: InspectedItem | undefined }[]> {
  const findings = some.flatMap((check) => [...check(facts)]);
  const placed = await placeFindings(facts, findings);
  return placed.map((problem, index) => ({ problem, item: findings[index]?.item }));
}

/** Runs every check over the facts of a pack. Every problem is reported, none stops another. */
export async function validatePack(facts: PackFacts): Promise<Problem[]> {
  const { inspected } = facts;
  const found = await runChecks(facts, checks);
  return [...inspected.pack.problems, ...inspected.problems, ...found.map(({ problem }) => problem)];
}
