import { definitionProblems } from "./definition-problems.ts";
import type { CatalogEntry } from "./entry.ts";
import { installProblems } from "./install-problems.ts";
import { lockProblems } from "./lock-problems.ts";
import { operationProblems } from "./operation-problems.ts";
import { packageProblems } from "./package-problems.ts";
import { sessionProblems } from "./session-problems.ts";

const entries = {
  ...definitionProblems,
  ...packageProblems,
  ...operationProblems,
  ...sessionProblems,
  ...installProblems,
  ...lockProblems,
};

/** A code is permanent: it may be added, never renamed or given another meaning. */
export type ProblemCode = keyof typeof entries;

export type ProblemArguments = {
  [Code in ProblemCode]: (typeof entries)[Code] extends CatalogEntry<infer Args> ? Args : never;
};

export const catalog: { readonly [Code in ProblemCode]: CatalogEntry<ProblemArguments[Code]> } = entries;
