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
