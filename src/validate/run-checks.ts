import {
  createJsonSource,
  locateProblems,
  type SourceText,
  type UnlocatedProblem,
} from "../data/source-text.ts";
import { placeInItem } from "../inspection/place-problems.ts";
import type { InspectedItem } from "../inspection/types.ts";
import type { Problem } from "../problems/index.ts";
import type { Check, Finding } from "./finding.ts";
import type { PackUnderTest } from "./pack-under-test.ts";

/** Adds the place to a finding's problem. */
function placeFinding(
  { inspected }: PackUnderTest,
  manifest: SourceText,
  { item, manifestPath, problem }: Finding,
): UnlocatedProblem {
  if (item !== undefined) return placeInItem(inspected, item, problem);
  const pack = inspected.pack.name;
  if (manifestPath !== undefined)
    return { problem: { ...problem, pack, file: "package.json" }, source: manifest, at: manifestPath };
  const { file, path } = problem;
  const source = file === undefined || path === undefined ? undefined : inspected.texts.get(file);
  return { problem: { ...problem, pack }, source, at: path ?? [] };
}

/** Runs checks on a pack. Returns located problems with their items. */
export async function runChecks(
  pack: PackUnderTest,
  some: readonly Check[],
): Promise<{ problem: Problem; item: InspectedItem | undefined }[]> {
  const findings: Finding[] = [];
  for (const check of some) for await (const finding of check(pack)) findings.push(finding);
  const manifest = createJsonSource(pack.inspected.manifest.text);
  const placed = await locateProblems(findings.map((finding) => placeFinding(pack, manifest, finding)));
  return placed.map((problem, index) => ({ problem, item: findings[index]?.item }));
}
