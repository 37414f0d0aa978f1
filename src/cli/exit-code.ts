import type { Problem, ProblemCode } from "../problems/index.ts";

export type ExitCode = 0 | 1 | 2;

/** Failures that say that the question, not the answer, is at fault. */
const unusableInput: ReadonlySet<ProblemCode> = new Set([
  "InvalidArguments",
  "InvalidConfig",
  "ProjectNotFound",
  "InvalidQualifiedName",
  "AmbiguousName",
] satisfies ProblemCode[]);

/** The exit code of a failure that ended a command. */
export function exitCodeOfFailure(code: ProblemCode): ExitCode {
  return unusableInput.has(code) ? 2 : 1;
}

/** The exit code of a command that answered. */
export function exitCodeOfAnswer(
  problems: readonly Problem[],
  { strict = false, failed = false } = {},
): ExitCode {
  const fails = ({ severity }: Problem) => severity === "error" || (strict && severity === "warning");
  return failed || problems.some(fails) ? 1 : 0;
}
