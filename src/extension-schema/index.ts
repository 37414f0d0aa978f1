export { checkDefinition, isFunction } from "./check-definition.ts";
export { findMisspelledKeys, isDefinitionKey } from "./definition-keys.ts";
export type { DefinitionShape } from "./definition-schema.ts";
export { type Needs, needsKeys } from "./needs.ts";
export { type Declaration, type Extension, parseExtension } from "./parse-extension.ts";
export { describeWritten } from "./pointer.ts";
