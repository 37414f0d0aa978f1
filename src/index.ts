// The entry of trust levels discovery and inspection: nothing here runs a pack's code in the caller's process.
export { discoverPacks } from "./api/discover-packs.ts";
export { inspectItem, inspectPack } from "./api/inspect-pack.ts";
export { validateExtension } from "./api/validate-extension.ts";
export type { ValidationOptions, ValidationReport } from "./api/validate-with.ts";
export type { InspectionOptions, ItemInspection, PackInspection, PackItem } from "./definitions/inspect.ts";
export type { ServerTool } from "./definitions/server-contents.ts";
export type { DiscoveryOptions } from "./discovery/find-packs.ts";
export type { DiscoveredItem, DiscoveredPack, Discovery, Origin } from "./discovery/types.ts";
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
export {
  type BuiltIn,
  createRegistry,
  type Registry,
  type RegistryItem,
} from "./registry/create-registry.ts";
