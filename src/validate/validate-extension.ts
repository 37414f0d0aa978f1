import type { DiscoveredPack } from "../discovery/types.ts";
import type { ValidationOptions, ValidationReport } from "./validate-target.ts";

/**
 * Finds everything that is wrong with a pack: a folder, an installed pack by npm name (or its qualified form), or a
 * pack that `discoverPacks` returned. A folder is treated as the author's own package.
 *
 * Trust level: inspection. Runs no handler, no `initialize`, no npm and no script of the package.
 *
 * Throws `TrailblazeError` only where there is nothing to validate: `PackNotInstalled`, `ExtensionNotFound`,
 * `ProjectNotFound`, `InvalidConfig`, `ConfinementUnavailable`.
 */
export async function validateExtension(
  target: string | DiscoveredPack,
  options: ValidationOptions = {},
): Promise<ValidationReport> {
  // Loaded here, so that programs that only discover packs do not load the checks.
  const { validateTarget } = await import("./validate-target.ts");
  return (await validateTarget(target, options)).report;
}
