export { catalogue, type ProblemArguments, type ProblemCode } from "./catalogue.ts";
export { formatProblem } from "./format-problem.ts";
export {
  createProblem,
  hasErrors,
  type Problem,
  type ProblemContext,
  type ProblemPlace,
  type Severity,
} from "./problem.ts";
export { printable, quote } from "./text.ts";
export { failure, TrailblazeError } from "./trailblaze-error.ts";
