import type { Check } from "../finding.ts";
import { checkHandlers } from "./handlers.ts";
import { checkImports, checkModules, checkOutsideImports, checkTypeScript } from "./imports.ts";
import { checkOrphanDefinitions, checkShadowedDefinitions } from "./orphan-definitions.ts";
import {
  checkDefinitionKeys,
  checkDependencies,
  checkNameAndVersion,
  checkPackageManifest,
  checkRepeatedKeys,
} from "./package-manifest.ts";
import { checkExpressions, checkPromptArguments } from "./prompt-arguments.ts";
import { checkPublishedFiles } from "./published-files.ts";
import { checkReferences, checkToolsetCycles } from "./references.ts";
import { checkResourceFiles, checkResourceUris } from "./resources.ts";
import { checkDefaults, checkPatterns, checkReservedParameters, checkSchemas } from "./schemas.ts";
import {
  checkDependencyCommands,
  checkNeededVariables,
  checkServerCommands,
  checkServerPackages,
  checkServerPrograms,
  checkVariables,
} from "./servers.ts";
import { checkDescriptions, checkTexts } from "./texts.ts";
import {
  checkAdvertisedNames,
  checkItemNames,
  checkRepeatedNames,
  checkToolMeta,
  checkToolNames,
} from "./tools.ts";

/** Every check, in the order in which problems are reported. */
export const checks: readonly Check[] = [
  checkNameAndVersion,
  checkDependencies,
  checkPackageManifest,
  checkRepeatedKeys,
  checkOrphanDefinitions,
  checkShadowedDefinitions,
  checkDefinitionKeys,
  checkItemNames,
  checkDescriptions,
  checkTexts,
  checkAdvertisedNames,
  checkRepeatedNames,
  checkToolNames,
  checkToolMeta,
  checkSchemas,
  checkDefaults,
  checkPatterns,
  checkReservedParameters,
  checkPromptArguments,
  checkResourceUris,
  checkReferences,
  checkToolsetCycles,
  checkExpressions,
  checkModules,
  checkOutsideImports,
  checkHandlers,
  checkResourceFiles,
  checkServerPrograms,
  checkServerCommands,
  checkDependencyCommands,
  checkVariables,
  checkNeededVariables,
  checkServerPackages,
  checkPublishedFiles,
  checkImports,
  checkTypeScript,
];
