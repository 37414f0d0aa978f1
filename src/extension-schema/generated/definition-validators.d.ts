import type { Validator } from "../validator.ts";

/** The keys that each shape knows. */
export declare const knownKeys: Readonly<Record<DefinitionShape, readonly string[]>>;

export type DefinitionShape =
  | "tool"
  | "composedServer"
  | "subprocessServer"
  | "serverDocument"
  | "toolsetList"
  | "toolsBundle"
  | "prompt"
  | "resource";

export declare const tool: Validator;
export declare const composedServer: Validator;
export declare const subprocessServer: Validator;
export declare const serverDocument: Validator;
export declare const toolsetList: Validator;
export declare const toolsBundle: Validator;
export declare const prompt: Validator;
export declare const resource: Validator;
