import { definitionProblems } from "./definition-problems.ts";
import type { CatalogEntry } from "./entry.ts";
import { installProblems, remoteProblems } from "./install-problems.ts";
import { lockProblems } from "./lock-problems.ts";
import { operationProblems } from "./operation-problems.ts";
import { extensionProblems, packageProblems, publishProblems } from "./package-problems.ts";
import { sessionProblems } from "./session-problems.ts";

const entries = {
  ...extensionProblems,
  ...definitionProblems,
  ...packageProblems,
  ...operationProblems,
  ...sessionProblems,
  ...remoteProblems,
  ...installProblems,
  ...lockProblems,
  ...publishProblems,
};

/** A code is permanent: it may be added, never renamed or given another meaning. */
export type ProblemCode = keyof typeof entries;

export type ProblemArguments = {
  [Code in ProblemCode]: (typeof entries)[Code] extends CatalogEntry<infer Args> ? Args : never;
};

export const catalog: { readonly [Code in ProblemCode]: CatalogEntry<ProblemArguments[Code]> } = entries;
