import type { ProblemArguments, ProblemCode } from "./catalogue.ts";
import { createProblem, type Problem, type ProblemPlace } from "./problem.ts";

/** The one class the library throws, and only when no result is possible. Carries the problem as data. */
export class TrailblazeError extends Error {
  override readonly name = "TrailblazeError";
  readonly code: ProblemCode;
  readonly problem: Problem;

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.message, options);
    this.code = problem.code;
    this.problem = problem;
  }
}

/** Makes the error for a problem of this code. */
export function failure<Code extends ProblemCode>(
  code: Code,
  args: ProblemArguments[Code],
  place: ProblemPlace = {},
  options?: ErrorOptions,
): TrailblazeError {
  return new TrailblazeError(createProblem(code, args, place), options);
}
