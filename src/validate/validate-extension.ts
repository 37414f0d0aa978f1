import type { DiscoveredPack } from "../discovery/types.ts";
import type { ValidationOptions, ValidationReport } from "./validate-target.ts";

/**
 * Finds every problem of a pack: a folder, an installed pack by npm name (or its qualified form), or a pack that
 * `discoverPacks` returned. A folder is treated as a package under development.
 *
 * Trust level: inspection. Runs no handler, no `initialize`, no npm and no script of the package.
 *
 * Throws `TrailblazeError` only if no result is possible: `PackNotInstalled`, `ExtensionNotFound`,
 * `ProjectNotFound`, `InvalidConfig`, `ConfinementUnavailable`.
 */
export async function validateExtension(
  target: string | DiscoveredPack,
  options: ValidationOptions = {},
): Promise<ValidationReport> {
  // Loaded on demand, because programs that only discover packs do not need it.
  const { validateTarget } = await import("./validate-target.ts");
  return (await validateTarget(target, options)).report;
}
