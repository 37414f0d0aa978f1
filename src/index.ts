// The entry of trust levels discovery and inspection: nothing here runs a pack's code in the caller's process.
export {
  type DiscoveredItem,
  type DiscoveredPack,
  type Discovery,
  type DiscoveryOptions,
  discoverPacks,
  type Origin,
} from "./discovery/index.ts";
export type { Kind } from "./kinds.ts";
export {
  formatProblem,
  type Problem,
  type ProblemCode,
  type Severity,
  TrailblazeError,
} from "./problems/index.ts";
export {
  formatQualifiedName,
  isQualifiedName,
  parseQualifiedName,
  type QualifiedName,
  type ReferenceContext,
  type ResolvablePack,
  type ResolvedReference,
  resolveReference,
} from "./qualified-names/index.ts";
