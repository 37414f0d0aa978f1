import { locateProblems, type UnlocatedProblem } from "../data/source-text.ts";
import { type InspectedItem, type InspectedPack, placeInItem } from "../inspection/types.ts";
import {
  createProblem,
  type Path,
  type Problem,
  type ProblemArguments,
  type ProblemCode,
  type ProblemPlace,
} from "../problems/index.ts";
import type { PackUnderTest } from "./pack-under-test.ts";

export interface Finding {
  problem: Problem;
  item?: InspectedItem;
  /** Keys from the top of the file. */
  at?: Path | undefined;
}

/** One rule, or several about the same subject: a function of what the pack is. */
export type Check = (pack: PackUnderTest) => Iterable<Finding> | AsyncIterable<Finding>;

export interface CheckedPack {
  inspected: InspectedPack;
  problems: Problem[];
  /** The first error of each item that cannot be used. */
  unusable: ReadonlyMap<InspectedItem, Problem>;
}

/** Errors that leave an item usable: the value is ignored, or the first file is used. */
const harmless = new Set(["InvalidMetaValue", "DuplicateDefinitionFiles"]);

export const makesUnusable = ({ code, severity }: Problem): boolean =>
  severity === "error" && !harmless.has(code);

/** A finding in an item's definition; `path` is from the definition's top. */
export function findInItem<Code extends ProblemCode>(
  item: InspectedItem,
  code: Code,
  args: ProblemArguments[Code],
  path: Path = [],
): Finding {
  return { item, problem: createProblem(code, args, { path }) };
}

/** A finding about a file as a whole, or at the place in it that `at` or `place` has. */
export function findInFile<Code extends ProblemCode>(
  file: string,
  code: Code,
  args: ProblemArguments[Code],
  place: ProblemPlace = {},
  at = place.path,
): Finding {
  return { at, problem: createProblem(code, args, { ...place, file }) };
}

/** A finding in package.json; `at` is from its top. */
export const findInManifest = <Code extends ProblemCode>(
  code: Code,
  args: ProblemArguments[Code],
  at: Path,
  place?: ProblemPlace,
): Finding => findInFile("package.json", code, args, place, at);

function placeFinding(
  { inspected: { pack, texts } }: PackUnderTest,
  { item, problem, at }: Finding,
): UnlocatedProblem {
  if (item !== undefined) return placeInItem(item, problem);
  const source = at && texts.get(problem.file ?? "");
  return { problem: { ...problem, pack: pack.name }, source, at: at ?? [] };
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
  const placed = await locateProblems(findings.map((finding) => placeFinding(pack, finding)));
  return placed.map((problem, index) => ({ problem, item: findings[index]?.item }));
}
