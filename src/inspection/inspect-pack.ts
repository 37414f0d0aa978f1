import type { Kind } from "../kinds.ts";
import { readKind } from "../qualified-names/resolve-reference.ts";
import type { InspectionOptions, ItemInspection, PackInspection } from "./inspect.ts";

/**
 * Inspects an installed pack, by npm name or its qualified form: returns it with the definitions of its items.
 *
 * Trust level: inspection. Reads definition files; definitions that are code are evaluated in a confined child
 * process. Runs no handler, no `initialize` and no npm script.
 *
 * Throws `TrailblazeError` only if no result is possible: `PackNotInstalled`, `ExtensionNotFound`,
 * `ProjectNotFound`, `InvalidConfig`, `ConfinementUnavailable`.
 */
export async function inspectPack(name: string, options: InspectionOptions = {}): Promise<PackInspection> {
  // Loaded on demand, because programs that only discover packs do not need it.
  const { findPacksFor, inspectFoundPack, requirePack } = await import("./inspect.ts");
  const found = await findPacksFor(name, options);
  return await inspectFoundPack(await requirePack(found, name), options);
}

/**
 * Inspects an item of an installed pack by qualified name: returns it with its definition, and a server also with its
 * contents. `kind` is required if items of several kinds have the name.
 *
 * Trust level: inspection, as `inspectPack`. Throws `TrailblazeError`: as `inspectPack`, and `InvalidQualifiedName`,
 * `AmbiguousName`, `PackVersionMismatch`, `ServerNotFound`, `ToolNotFound`, `ToolsetNotFound`, `PromptNotFound`.
 */
export async function inspectItem(
  name: string,
  options: InspectionOptions & { kind?: Kind } = {},
): Promise<ItemInspection> {
  const { findPacksFor, inspectFoundItem } = await import("./inspect.ts");
  const kind = readKind(options.kind);
  const found = await findPacksFor(name, options);
  return (await inspectFoundItem(found, name, { ...options, kind })).item;
}
