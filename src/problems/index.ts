export { catalogue, type ProblemArguments, type ProblemCode } from "./catalogue.ts";
export { formatProblem } from "./format-problem.ts";
export { createProblem, hasErrors, type Problem, type ProblemPlace } from "./problem.ts";
export type { ProblemContext, Severity } from "./severity.ts";
export { printable, quote } from "./text.ts";
export { failure, TrailblazeError } from "./trailblaze-error.ts";
