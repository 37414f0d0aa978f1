import type { DiscoveredPack } from "../discovery/types.ts";
import type { DetailedReport, ValidationOptions, ValidationReport } from "./validate-with.ts";

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
  return (await validateExtensionInDetail(target, options)).report;
}

/** As `validateExtension`, with the texts that the positions of problems refer to. */
export async function validateExtensionInDetail(
  target: string | DiscoveredPack,
  options: ValidationOptions = {},
): Promise<DetailedReport> {
  const { createInspectionMeans } = await import("../inspection/inspection-means.ts");
  const { validateExtensionWith } = await import("./validate-with.ts");
  return await validateExtensionWith(createInspectionMeans(), target, options);
}
