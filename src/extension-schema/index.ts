export { type CheckedDefinition, checkDefinition, isFunction } from "./check-definition.ts";
export type { DefinitionShape } from "./generated/definition-validators.js";
export { type Declaration, type Extension, parseExtension } from "./parse-extension.ts";
