import { posix } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import type { Path } from "../problems/index.ts";
import { isModulePath, type ShapedDefinition } from "./references.ts";

/** What a definition names as its `handler` or `initialize`. */
export interface WrittenHandler {
  /** `./module.js#export`; or `{ "$function": name }`, the mark of a function in a definition that is code. */
  handler: unknown;
  /** From the definition's top. */
  path: Path;
}

/** The part of a handler that says where it is. */
export interface HandlerPlace {
  /** Relative to the package, in its shortest form and without a leading `./`; not yet checked to stay inside. */
  module: string;
  exportName: string;
}

const handlerKeys: Readonly<Record<string, readonly string[]>> = {
  tool: ["handler", "initialize"],
  prompt: ["handler"],
  composedServer: ["initialize"],
};

/** Every handler in a definition, in order; a bundle's entries may name tools instead, which are references. */
export function findHandlers({ shape, definition }: ShapedDefinition): WrittenHandler[] {
  if (shape === undefined || definition === null) return [];
  const found = (handlerKeys[shape] ?? [])
    .filter((key) => definition[key] !== undefined)
    .map((key): WrittenHandler => ({ handler: definition[key], path: [key] }));
  if (shape === "toolsBundle" && Array.isArray(definition.entries)) {
    for (const [index, entry] of definition.entries.entries()) {
      const handler = isRecord(entry) ? entry.handler : undefined;
      const isReference = typeof handler === "string" && !isModulePath(handler);
      if (handler !== undefined && !isReference) found.push({ handler, path: ["entries", index, "handler"] });
    }
  }
  return found;
}

/** Reads `./module.js#export`, where the export is `default` if none is named; or says why it is no such string. */
export function parseHandler(handler: string): HandlerPlace | { fault: string } {
  const hash = handler.indexOf("#");
  const file = hash < 0 ? handler : handler.slice(0, hash);
  const exportName = hash < 0 ? "default" : handler.slice(hash + 1);
  if (!isModulePath(file)) return { fault: 'it does not begin with "./"' };
  if (exportName === "") return { fault: 'no export is named after the "#"' };
  const below = file.slice(2);
  // Most paths are in their shortest form, and bringing a thousand of them into it takes its time.
  const module = /(?:^|\/)\.{0,2}(?:\/|$)/.test(below) ? posix.normalize(file) : below;
  if (module === "./" || module.endsWith("/")) return { fault: "it names a folder, not a module" };
  return { module, exportName };
}
