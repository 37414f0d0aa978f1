import type { Kind } from "../kinds.ts";
import type { InspectionOptions, ItemInspection, PackInspection } from "./inspect.ts";

// Who only discovers does not pay for loading what checks definitions.
const loadMeans = async () => (await import("./inspection-means.ts")).createInspectionMeans();

/**
 * An installed pack with the definitions of its items, by npm name or its qualified form.
 *
 * Trust level: inspection. Reads definition files; definitions that are code are evaluated in a confined child
 * process. Runs no handler, no `initialize` and no npm script.
 *
 * Throws `TrailblazeError` only where there is nothing to show: `PackNotInstalled`, `ExtensionNotFound`,
 * `ProjectNotFound`, `InvalidConfig`, `ConfinementUnavailable`.
 */
export async function inspectPack(name: string, options: InspectionOptions = {}): Promise<PackInspection> {
  const { inspectPackWith } = await import("./inspect.ts");
  return await inspectPackWith(await loadMeans(), name, options);
}

/**
 * One item of an installed pack by qualified name, with its definition; a server also with what it is composed of.
 * `kind` decides where a name belongs to items of several kinds.
 *
 * Trust level: inspection, as `inspectPack`. Throws `TrailblazeError`: as `inspectPack`, and `InvalidQualifiedName`,
 * `AmbiguousName`, `PackVersionMismatch`, `ServerNotFound`, `ToolNotFound`, `ToolsetNotFound`, `PromptNotFound`.
 */
export async function inspectItem(
  name: string,
  options: InspectionOptions & { kind?: Kind } = {},
): Promise<ItemInspection> {
  const { inspectItemWith } = await import("./inspect.ts");
  return await inspectItemWith(await loadMeans(), name, options);
}
