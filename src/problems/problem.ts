import type { Kind } from "../kinds.ts";
import { catalog, type ProblemArguments, type ProblemCode } from "./catalog.ts";
import { type Severity, wordsFor } from "./entry.ts";
import { withSlashes } from "./hidden-characters.ts";
import { printableLines, shorten } from "./text.ts";

/** Keys to a value, from the top of a definition, of package.json, or of the field. */
export type Path = readonly (string | number)[];

/** The place of a problem. Only the keys that apply are set. */
export interface ProblemPlace {
  /** npm name of the pack. */
  pack?: string;
  kind?: Kind;
  item?: string;
  /** Path with `/`, relative to the pack; absolute for files outside packs, such as the user's config. */
  file?: string;
  /** Keys from the `trailblaze` field, or from the top of the definition. */
  path?: Path;
  /** From 1. */
  line?: number;
  /** From 1, in UTF-16 code units. */
  column?: number;
}

interface ProblemBase extends ProblemPlace {
  severity: Severity;
  message: string;
  hint?: string;
}

/**
 * One finding: permanent code, severity, place, arguments, message and hint, with the same shape in JSON output. `args` is
 * plain data, which is not escaped; its strings are cut after 4,096 characters. `message` and `hint` are safe to print.
 * Comparing `code` narrows `args`.
 */
export type Problem = {
  [Code in ProblemCode]: ProblemBase & { code: Code; args: ProblemArguments[Code] };
}[ProblemCode];

export const withoutUndefined = <Values extends object>(values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, one]) => one !== undefined)) as Values;

/** Copies arguments without `undefined` values, and with strings cut to the limit for output. */
function boundArguments(value: unknown): unknown {
  if (typeof value === "string") return shorten(value);
  if (Array.isArray(value)) return value.map(boundArguments);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(withoutUndefined(value)).map(([key, one]) => [key, boundArguments(one)]),
  );
}

/** Its file, which a place and arguments may have, with `/`. */
const withFile = <Value extends object>(value: Value): Value =>
  "file" in value && typeof value.file === "string" ? { ...value, file: withSlashes(value.file) } : value;

/** Creates a problem with severity, message and hint from the catalog. The only function that does. */
export function createProblem<Code extends ProblemCode>(
  code: Code,
  written: ProblemArguments[Code],
  place: ProblemPlace = {},
): Problem {
  const args = withFile(written);
  const { severity, message, hint } = wordsFor(catalog[code], args);
  // The catalog does not escape every argument, and callers may log problems without escaping.
  return withoutUndefined({
    code,
    severity,
    message: printableLines(message),
    hint: hint && printableLines(hint),
    ...withFile(place),
    args: boundArguments(args),
  }) as Problem;
}

/** True if any problem is an error, so that a command exits with code 1. */
export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some(({ severity }) => severity === "error");
}

/**
 * The file that `line` and `column` refer to. It is `file`, except for a missing definition: `file` is the one to create,
 * and the position is that of its declaration in package.json.
 */
export const fileOfPosition = ({ code, file, line }: Omit<Problem, "args">): string | undefined =>
  code === "MissingDefinitionFile" && line !== undefined ? "package.json" : file;

/** The only class that the library throws, and only if no result is possible. Contains the problem as data. */
export class TrailblazeError extends Error {
  override readonly name = "TrailblazeError";
  readonly code: ProblemCode;
  readonly problem: Problem;
  /** For a reference to a pack that is not installed: the npm specifier of the pack (`@acme/jira@^1.2`). */
  readonly missingPack: string | undefined;

  constructor(problem: Problem, options: ErrorOptions & { missingPack?: string | undefined } = {}) {
    super(problem.message, options);
    this.code = problem.code;
    this.problem = problem;
    this.missingPack = options.missingPack;
  }
}

export function failure<Code extends ProblemCode>(
  code: Code,
  args: ProblemArguments[Code],
  place: ProblemPlace = {},
  options?: ConstructorParameters<typeof TrailblazeError>[1],
): TrailblazeError {
  return new TrailblazeError(createProblem(code, args, place), options);
}
