import type { Kind } from "../kinds.ts";
import type { InspectionOptions, ItemInspection, PackInspection } from "./inspect.ts";

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
  // Loaded here, so that programs that only discover packs do not load what checks definitions.
  const { inspectInstalledPack } = await import("./inspect.ts");
  return await inspectInstalledPack(name, options);
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
  const { inspectInstalledItem } = await import("./inspect.ts");
  return await inspectInstalledItem(name, options);
}
