import { createInspectionMeans } from "../definitions/index.ts";
import type { DiscoveredPack } from "../discovery/index.ts";
import {
  type ValidationOptions,
  type ValidationReport,
  validateExtensionWith,
} from "./validate-extension.ts";

/**
 * Finds everything that is wrong with a pack: a folder, an installed pack by npm name (or its qualified form), or a
 * pack that `discoverPacks` returned. A folder is treated as the author's own package.
 *
 * Trust level: inspection. Runs no handler, no `initialize`, no npm and no script of the package.
 *
 * Throws `TrailblazeError` only where there is nothing to validate: `PackNotInstalled`, `ExtensionNotFound`,
 * `ProjectNotFound`, `InvalidConfig`, `ConfinementUnavailable`.
 */
export function validateExtension(
  target: string | DiscoveredPack,
  options: ValidationOptions = {},
): Promise<ValidationReport> {
  return validateExtensionWith(createInspectionMeans(), target, options);
}

export type { ValidationOptions, ValidationReport } from "./validate-extension.ts";
