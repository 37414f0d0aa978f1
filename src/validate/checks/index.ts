import type { Check } from "../finding.ts";
import * as handlers from "./handlers.ts";
import * as imports from "./imports.ts";
import * as definitions from "./orphan-definitions.ts";
import * as manifest from "./package-manifest.ts";
import * as prompts from "./prompts-resources.ts";
import * as published from "./published-files.ts";
import * as references from "./references.ts";
import * as schemas from "./schemas.ts";
import * as servers from "./servers.ts";
import * as skills from "./skills.ts";
import * as texts from "./texts.ts";
import * as tools from "./tools.ts";

/** Every check, in the order in which problems are reported. */
export const checks: readonly Check[] = [
  manifest.checkNameAndVersion,
  manifest.checkDependencies,
  manifest.checkPackageManifest,
  manifest.checkRepeatedKeys,
  definitions.checkOrphanDefinitions,
  definitions.checkShadowedDefinitions,
  manifest.checkDefinitionKeys,
  tools.checkItemNames,
  texts.checkDescriptions,
  texts.checkTexts,
  skills.checkSkills,
  tools.checkAdvertisedNames,
  tools.checkRepeatedNames,
  tools.checkToolNames,
  tools.checkToolMeta,
  schemas.checkSchemas,
  schemas.checkDefaults,
  schemas.checkPatterns,
  schemas.checkReservedParameters,
  prompts.checkPromptArguments,
  prompts.checkResourceUris,
  references.checkReferences,
  references.checkBundles,
  references.checkToolsetCycles,
  prompts.checkExpressions,
  imports.checkModules,
  imports.checkOutsideImports,
  handlers.checkHandlers,
  prompts.checkResourceFiles,
  servers.checkServerPrograms,
  servers.checkServerCommands,
  servers.checkVariables,
  servers.checkNeededVariables,
  servers.checkServerPackages,
  published.checkPublishedFiles,
  imports.checkImports,
  imports.checkTypeScript,
];
