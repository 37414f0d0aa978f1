export {
  checkDefinition,
  findMisspelledKeys,
  isDefinitionKey,
  isFunction,
  normalizeDefinition,
} from "./check-definition.ts";
export type { DefinitionShape } from "./definition-schema.ts";
export {
  type Declaration,
  type Extension,
  type Needs,
  needsKeys,
  parseExtension,
} from "./parse-extension.ts";
