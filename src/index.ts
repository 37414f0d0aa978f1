// The entry of trust levels discovery and inspection: nothing here runs a pack's code in the caller's process.
export {
  type InspectionOptions,
  type ItemInspection,
  inspectItem,
  inspectPack,
  type PackInspection,
  type PackItem,
  type ServerTool,
} from "./definitions/index.ts";
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
export { type ValidationOptions, type ValidationReport, validateExtension } from "./validate/index.ts";
