export { catalog, type ProblemArguments, type ProblemCode } from "./catalog.ts";
export type { ProblemContext, Severity } from "./entry.ts";
export { formatProblem } from "./format-problem.ts";
export {
  createProblem,
  fileOfPosition,
  hasErrors,
  type Path,
  type Problem,
  type ProblemPlace,
} from "./problem.ts";
export { describeExit, type UnexpectedExit } from "./process-exit.ts";
export type { ProcessEnded, SignInFault } from "./session-problems.ts";
export type { PackageManager } from "./text.ts";
export { formatSize, listOf, printable, printableLines, quote, shorten } from "./text.ts";
export { failure, TrailblazeError } from "./trailblaze-error.ts";
