import type { Problem, ProblemCode, TrailblazeError } from "../problems/index.ts";

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
export function exitCodeOfFailure({
  code,
  isMissingTarget,
}: Pick<TrailblazeError, "code" | "isMissingTarget">): ExitCode {
  return unusableInput.has(code) && !isMissingTarget ? 2 : 1;
}

/** The exit code of a command that answered; its answer may be that what it was asked about cannot be used. */
export function exitCodeOfAnswer(
  problems: readonly Problem[],
  { strict = false, failed = false } = {},
): ExitCode {
  const fails = ({ severity }: Problem) => severity === "error" || (strict && severity === "warning");
  if (problems.some(({ code, severity }) => severity === "error" && unusableInput.has(code))) return 2;
  return failed || problems.some(fails) ? 1 : 0;
}
