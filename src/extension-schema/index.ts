export { type CheckedDefinition, checkDefinition } from "./check-definition.ts";
export type { DefinitionShape } from "./generated/definition-validators.js";
export { type Declaration, defaultRoot, type Extension, parseExtension } from "./parse-extension.ts";
