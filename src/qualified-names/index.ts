export { explainInvalidItemName, isPackageName, qualifyPackageName } from "./item-name.ts";
export { findNearestNames } from "./nearest-names.ts";
export {
  formatQualifiedName,
  isQualifiedName,
  parseQualifiedName,
  type QualifiedName,
} from "./qualified-name.ts";
export {
  type ReferenceContext,
  type ResolvablePack,
  type ResolvedReference,
  readKind,
  resolveReference,
} from "./resolve-reference.ts";
export { findSimilarName } from "./similar-names.ts";
