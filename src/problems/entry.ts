/** What is known of one code. The words here are the only ones a problem of that code ever has. */
export interface CatalogueEntry<Arguments> {
  /** What went wrong, without the particulars: a heading of at most ten words. */
  readonly title: string;
  readonly severity: Severity | ((context: ProblemContext, args: Arguments) => Severity);
  readonly message: (args: Arguments) => string;
  /** What to do about it. */
  readonly hint?: (args: Arguments) => string | undefined;
}

/** Types an entry by the arguments its words need. */
export function entry<Arguments>(description: CatalogueEntry<Arguments>): CatalogueEntry<Arguments> {
  return description;
}

export const errorInValidation = (context: ProblemContext): Severity =>
  context === "validation" ? "error" : "warning";

export const warningForBystanders = (context: ProblemContext): Severity =>
  context === "bystander" ? "warning" : "error";

export type Severity = "error" | "warning" | "info";

/**
 * Who asks: `validation` reports to an author who can mend the pack; `operation` is everything else;
 * `bystander` is an operation that met a package which is neither the project nor a declared dependency.
 */
export type ProblemContext = "validation" | "operation" | "bystander";
