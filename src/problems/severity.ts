export type Severity = "error" | "warning" | "info";

/**
 * Who asks: `validation` reports to an author who can mend the pack; `operation` is everything else;
 * `bystander` is an operation that met a package which is neither the project nor a declared dependency.
 */
export type ProblemContext = "validation" | "operation" | "bystander";
