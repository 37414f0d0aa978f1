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
