// The entry point for discovery and inspection: nothing here runs a pack's code in the caller's process.
export { discoverPacks } from "./discovery/discover-packs.ts";
export type { DiscoveryOptions } from "./discovery/find-packs.ts";
export type { DiscoveredItem, DiscoveredPack, Discovery, Needs, Origin } from "./discovery/types.ts";
export type { InspectionOptions, ItemInspection, PackInspection, PackItem } from "./inspection/inspect.ts";
export { inspectItem, inspectPack } from "./inspection/inspect-pack.ts";
export type { ServerTool } from "./inspection/server-contents.ts";
export type { Kind } from "./kinds.ts";
export {
  formatProblem,
  type Problem,
  type ProblemCode,
  type Severity,
  TrailblazeError,
} from "./problems/index.ts";
export {
  createRegistry,
  type Registry,
  type RegistryItem,
} from "./qualified-names/create-registry.ts";
export {
  formatQualifiedName,
  isQualifiedName,
  parseQualifiedName,
  type QualifiedName,
} from "./qualified-names/qualified-name.ts";
export {
  type ReferenceContext,
  type ResolvablePack,
  type ResolvedReference,
  resolveReference,
} from "./qualified-names/resolve-reference.ts";
export { validateExtension } from "./validate/validate-extension.ts";
export type { ValidationOptions, ValidationReport } from "./validate/validate-target.ts";
