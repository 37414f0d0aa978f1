export { catalog, type ProblemArguments, type ProblemCode } from "./catalog.ts";
export type { Severity } from "./entry.ts";
export { formatProblem } from "./format-problem.ts";
export {
  createProblem,
  failure,
  fileOfPosition,
  hasErrors,
  type Path,
  type Problem,
  type ProblemPlace,
  TrailblazeError,
  withoutUndefined,
} from "./problem.ts";
export type { ProcessEnded, SignInFault } from "./session-problems.ts";
export type { PackageManager, UnexpectedExit } from "./text.ts";
export { describeExit, formatSize, listOf, printable, printableLines, quote, shorten } from "./text.ts";
