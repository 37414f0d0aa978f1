import type { CommonJsUse } from "./commonjs-variables.ts";

export type ModuleKind = "esm" | "commonjs";

/** The reason why Node cannot load a module, and its place. */
export type ModuleFault = { line?: number; column?: number } & (
  | {
      fault: "format";
      readAs: ModuleKind;
      /** The module has both ES module and CommonJS syntax. */
      isMixed: boolean;
    }
  /** A variable that ES modules do not have. The module can be loaded if only a function uses it. */
  | { fault: "variable"; name: CommonJsUse["name"]; isInFunction: boolean }
  /** The message of Node's parser. */
  | { fault: "syntax"; reason: string }
);

/** Whether Node cannot load a module, so that its exports do not matter. */
export const isBroken = (fault: ModuleFault | undefined): boolean =>
  fault !== undefined && !(fault.fault === "variable" && fault.isInFunction);
