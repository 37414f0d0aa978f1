import type { Kind } from "../kinds.ts";
import { catalogue, type ProblemArguments, type ProblemCode } from "./catalogue.ts";
import type { ProblemContext, Severity } from "./entry.ts";
import { printableLines, shorten } from "./text.ts";

/** Keys that lead to a value: from the top of a definition, of package.json, or of the field. */
export type Path = readonly (string | number)[];

/** Where a problem lies. Only the keys that apply are set. */
export interface ProblemPlace {
  /** npm name of the pack. */
  pack?: string;
  kind?: Kind;
  item?: string;
  /** Path with `/`, inside the pack; absolute only for a file outside every pack, as the user's config. */
  file?: string;
  /** Keys from the `trailblaze` field, or from the top of the definition. */
  path?: Path;
  /** From 1. */
  line?: number;
  /** From 1, in UTF-16 code units. */
  column?: number;
}

/** What every problem has besides its code and arguments. */
interface ProblemBase extends ProblemPlace {
  severity: Severity;
  message: string;
  hint?: string;
}

/**
 * One finding: permanent code, severity, place, arguments and words. The same shape everywhere, JSON output included.
 * `args` is plain data as it was found: not escaped, strings cut after 4,096 characters. `message` and `hint` are made
 * from it and can be printed.
 * Comparing `code` narrows `args`.
 */
export type Problem = {
  [Code in ProblemCode]: ProblemBase & { code: Code; args: ProblemArguments[Code] };
}[ProblemCode];

/** Arguments as plain data: without what is not set, and with strings that are no longer than people are shown. */
function boundArguments(value: unknown): unknown {
  if (typeof value === "string") return shorten(value);
  if (Array.isArray(value)) return value.map(boundArguments);
  if (typeof value !== "object" || value === null) return value;
  const set = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(set.map(([key, one]) => [key, boundArguments(one)]));
}

/** The only way to make a problem: severity, message and hint come from the catalogue. */
export function createProblem<Code extends ProblemCode>(
  code: Code,
  args: ProblemArguments[Code],
  place: ProblemPlace = {},
  context: ProblemContext = "operation",
): Problem {
  const entry = catalogue[code];
  const severity = typeof entry.severity === "function" ? entry.severity(context, args) : entry.severity;
  const hint = entry.hint?.(args);
  // Not every argument is escaped by the words around it, and who logs a problem escapes nothing.
  const problem: ProblemBase & { code: Code; args: ProblemArguments[Code] } = {
    code,
    severity,
    message: printableLines(entry.message(args)),
    ...(hint === undefined ? {} : { hint: printableLines(hint) }),
    ...place,
    args: boundArguments(args) as ProblemArguments[Code],
  };
  return problem as Problem;
}

/** True when an answer with these problems must end a command with exit code 1. */
export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some(({ severity }) => severity === "error");
}

/**
 * The file that `line` and `column` are of, which is what to show and to open. It is `file`, but for a definition that
 * is missing: `file` is then the one to make, and the position that of its declaration.
 */
export function fileOfPosition({
  code,
  file,
  line,
}: Pick<Problem, "code" | "file" | "line">): string | undefined {
  return code === "MissingDefinitionFile" && line !== undefined ? "package.json" : file;
}
