/** The catalog's entry for one code: the only source of its messages. */
export interface CatalogEntry<Arguments> {
  /** A phrase of at most ten words, without details. */
  readonly title: string;
  readonly severity: Severity | ((context: ProblemContext, args: Arguments) => Severity);
  readonly message: (args: Arguments) => string;
  /** An instruction that fixes the problem. */
  readonly hint?: (args: Arguments) => string | undefined;
}

/** Infers the type of an entry's arguments. */
export function entry<Arguments>(description: CatalogEntry<Arguments>): CatalogEntry<Arguments> {
  return description;
}

export const errorInValidation = (context: ProblemContext): Severity =>
  context === "validation" ? "error" : "warning";

export const warningForBystanders = (context: ProblemContext): Severity =>
  context === "bystander" ? "warning" : "error";

/** Errors make a validation fail; warnings do so under `strict`. */
export type Severity = "error" | "warning" | "info";

/**
 * The operation that finds a problem: `validation` reports to the author of the pack; `bystander` concerns a package that
 * is neither the project nor a declared dependency; `operation` is everything else.
 */
export type ProblemContext = "validation" | "operation" | "bystander";
