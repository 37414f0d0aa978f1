import type { PackFacts } from "../definitions/pack-facts.ts";
import { placeInSources } from "../definitions/place-problems.ts";
import type { Problem } from "../problems/index.ts";
import { checks } from "./checks/index.ts";
import type { Finding } from "./finding.ts";

/** Adds pack, file and position to what the checks found. */
async function placeFindings({ inspected }: PackFacts, findings: readonly Finding[]): Promise<Problem[]> {
  const pack = inspected.pack.name;
  const inItems = findings.flatMap(({ item, problem }) => (item === undefined ? [] : [{ item, problem }]));
  const placedItems = await placeInSources(pack, inspected.sources, inItems);
  const needsManifest = findings.some(({ manifestPath }) => manifestPath !== undefined);
  const locate = needsManifest
    ? (await import("../data/json-positions.ts")).createJsonLocator(inspected.manifest.text)
    : undefined;
  let next = 0;
  return findings.flatMap(({ item, manifestPath, problem }) => {
    if (item !== undefined) return placedItems[next++] ?? [];
    if (manifestPath === undefined) return { ...problem, pack };
    return { ...problem, pack, file: "package.json", ...locate?.(manifestPath) };
  });
}

/** Runs every check over the facts of a pack. Every problem is reported, none stops another. */
export async function validatePack(facts: PackFacts): Promise<Problem[]> {
  const { inspected } = facts;
  const findings = checks.flatMap((check) => [...check(facts)]);
  return [...inspected.pack.problems, ...inspected.problems, ...(await placeFindings(facts, findings))];
}
