import type { Check } from "../finding.ts";
import { checkAdvertisedNames } from "./advertised-names.ts";
import { checkDefinitionKeys } from "./definition-keys.ts";
import { checkDescriptions } from "./descriptions.ts";
import { checkExpressions } from "./expressions.ts";
import { checkHandlers } from "./handlers.ts";
import { checkItemNames } from "./item-names.ts";
import { checkLegacyContext } from "./legacy-context.ts";
import { checkLongTexts } from "./long-texts.ts";
import { checkOrphanDefinitions } from "./orphan-definitions.ts";
import { checkPackageManifest } from "./package-manifest.ts";
import { checkPatterns } from "./patterns.ts";
import { checkPromptArguments } from "./prompt-arguments.ts";
import { checkPublishedFiles } from "./published-files.ts";
import { checkReferences } from "./references.ts";
import { checkRepeatedKeys } from "./repeated-keys.ts";
import { checkRepeatedNames } from "./repeated-names.ts";
import { checkReservedParameters } from "./reserved-parameters.ts";
import { checkSchemas } from "./schemas.ts";
import { checkServerPrograms } from "./server-programs.ts";
import { checkShadowedDefinitions } from "./shadowed-definitions.ts";
import { checkTexts } from "./texts.ts";
import { checkToolMeta } from "./tool-meta.ts";
import { checkToolNames } from "./tool-names.ts";
import { checkToolsetCycles } from "./toolset-cycles.ts";

/** Every check, in the order in which problems are reported. */
export const checks: readonly Check[] = [
  checkPackageManifest,
  checkRepeatedKeys,
  checkOrphanDefinitions,
  checkShadowedDefinitions,
  checkDefinitionKeys,
  checkItemNames,
  checkDescriptions,
  checkTexts,
  checkLongTexts,
  checkAdvertisedNames,
  checkRepeatedNames,
  checkToolNames,
  checkToolMeta,
  checkSchemas,
  checkPatterns,
  checkReservedParameters,
  checkLegacyContext,
  checkPromptArguments,
  checkReferences,
  checkToolsetCycles,
  checkExpressions,
  checkHandlers,
  checkServerPrograms,
  checkPublishedFiles,
];
