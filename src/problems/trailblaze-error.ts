import type { ProblemArguments, ProblemCode } from "./catalog.ts";
import { createProblem, type Problem, type ProblemPlace } from "./problem.ts";

export interface FailureOptions extends ErrorOptions {
  missingPack?: string | undefined;
  isMissingTarget?: boolean;
}

/** The only class that the library throws, and only if no result is possible. Contains the problem as data. */
export class TrailblazeError extends Error {
  override readonly name = "TrailblazeError";
  readonly code: ProblemCode;
  readonly problem: Problem;
  /** For a reference to a pack that is not installed: the npm specifier of the pack (`@acme/jira@^1.2`). */
  readonly missingPack: string | undefined;
  /** Whether the target of the operation does not exist. */
  readonly isMissingTarget: boolean;

  constructor(problem: Problem, options: FailureOptions = {}) {
    super(problem.message, options);
    this.code = problem.code;
    this.problem = problem;
    this.missingPack = options.missingPack;
    this.isMissingTarget = options.isMissingTarget === true;
  }
}

/** Creates the error for a problem with this code. */
export function failure<Code extends ProblemCode>(
  code: Code,
  args: ProblemArguments[Code],
  place: ProblemPlace = {},
  options: FailureOptions = {},
): TrailblazeError {
  return new TrailblazeError(createProblem(code, args, place), options);
}
