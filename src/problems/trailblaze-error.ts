import type { ProblemArguments, ProblemCode } from "./catalogue.ts";
import { createProblem, type Problem, type ProblemPlace } from "./problem.ts";

export interface FailureOptions extends ErrorOptions {
  missingPack?: string | undefined;
  isMissingTarget?: boolean;
}

/** The one class the library throws, and only when no result is possible. Carries the problem as data. */
export class TrailblazeError extends Error {
  override readonly name = "TrailblazeError";
  readonly code: ProblemCode;
  readonly problem: Problem;
  /** Of a reference that leads to a pack that is not installed: the pack, as npm takes it (`@acme/jira@^1.2`). */
  readonly missingPack: string | undefined;
  /** What was asked about does not exist, whatever else the code says of. */
  readonly isMissingTarget: boolean;

  constructor(problem: Problem, options: FailureOptions = {}) {
    super(problem.message, options);
    this.code = problem.code;
    this.problem = problem;
    this.missingPack = options.missingPack;
    this.isMissingTarget = options.isMissingTarget === true;
  }
}

/** Makes the error for a problem of this code. */
export function failure<Code extends ProblemCode>(
  code: Code,
  args: ProblemArguments[Code],
  place: ProblemPlace = {},
  options: FailureOptions = {},
): TrailblazeError {
  return new TrailblazeError(createProblem(code, args, place), options);
}
