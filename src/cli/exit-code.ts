import type { Problem, ProblemCode, TrailblazeError } from "../problems/index.ts";

/** 130 and 143: ended by Ctrl-C or by SIGTERM, as shells report it. */
export type ExitCode = 0 | 1 | 2 | 130 | 143;

/** Codes of errors in the arguments or the config. */
const unusableInput: ReadonlySet<ProblemCode> = new Set([
  "InvalidArguments",
  "InvalidConfig",
  "ProjectNotFound",
  "InvalidQualifiedName",
  "AmbiguousName",
  "LockMissing",
  "LockMalformed",
] satisfies ProblemCode[]);

export function exitCodeOfFailure({ problem }: TrailblazeError): ExitCode {
  const { code } = problem;
  if (code === "SessionClosed" && "signal" in problem.args && problem.args.signal === "SIGINT") return 130;
  const isMissingTarget = code === "ProjectNotFound" && problem.args.isTarget && !problem.args.exists;
  return unusableInput.has(code) && !isMissingTarget ? 2 : 1;
}

/** `strict`: warnings count, too. */
export function exitCodeOfProblems(problems: readonly Problem[], strict: boolean): ExitCode {
  const fails = ({ severity }: Problem) => severity === "error" || (strict && severity === "warning");
  if (problems.some(({ code, severity }) => severity === "error" && unusableInput.has(code))) return 2;
  return problems.some(fails) ? 1 : 0;
}
