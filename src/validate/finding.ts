import {
  createJsonSource,
  locateProblems,
  type SourceText,
  type UnlocatedProblem,
} from "../data/source-text.ts";
import { placeInItem } from "../inspection/place-problems.ts";
import type { InspectedItem } from "../inspection/types.ts";
import {
  createProblem,
  type Path,
  type Problem,
  type ProblemArguments,
  type ProblemCode,
  type ProblemPlace,
} from "../problems/index.ts";
import type { PackUnderTest } from "./pack-under-test.ts";

/** A problem with its place: in an item's definition, or in package.json. */
export interface Finding {
  problem: Problem;
  item?: InspectedItem;
  /** Keys from the top of package.json. */
  manifestPath?: Path;
}

/** One rule, or several about the same subject: a function of what the pack is. */
export type Check = (pack: PackUnderTest) => Iterable<Finding> | AsyncIterable<Finding>;

/** A finding in an item's definition; `path` is from the definition's top. */
export function findInItem<Code extends ProblemCode>(
  item: InspectedItem,
  code: Code,
  args: ProblemArguments[Code],
  path: Path = [],
): Finding {
  return { item, problem: createProblem(code, args, { path }, "validation") };
}

/** A finding in package.json; `manifestPath` is from its top. */
export function findInManifest<Code extends ProblemCode>(
  code: Code,
  args: ProblemArguments[Code],
  manifestPath: Path,
  place: ProblemPlace = {},
): Finding {
  return { manifestPath, problem: createProblem(code, args, place, "validation") };
}

/** A finding about a file as a whole. */
export function findInFile<Code extends ProblemCode>(
  file: string,
  code: Code,
  args: ProblemArguments[Code],
  place: ProblemPlace = {},
): Finding {
  return { problem: createProblem(code, args, { ...place, file }, "validation") };
}

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

/** Limit on the errors, the warnings and the others of one check in one item, of which a definition may have any number. */
const mostFindings = 1000;

/** Runs checks on a pack. Returns located problems with their items. */
export async function runChecks(
  pack: PackUnderTest,
  some: readonly Check[],
): Promise<{ problem: Problem; item: InspectedItem | undefined }[]> {
  const findings: Finding[] = [];
  for (const check of some) {
    const counts = new Map<string, number>();
    for await (const finding of check(pack)) {
      const { kind, name } = finding.item?.declaration ?? {};
      const key = `${finding.problem.severity} ${kind} ${name}`;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count <= mostFindings) findings.push(finding);
      else if (finding.problem.severity === "error") break;
    }
  }
  const manifest = createJsonSource(pack.inspected.manifest.text);
  const placed = await locateProblems(findings.map((finding) => placeFinding(pack, manifest, finding)));
  return placed.map((problem, index) => ({ problem, item: findings[index]?.item }));
}
