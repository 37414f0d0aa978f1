import { posix } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import type { Path } from "../problems/index.ts";
import { isModulePath, type ShapedDefinition } from "./references.ts";

/** The value of `handler`, `initialize`, `subscribe` or a name of `complete` in a definition. */
export interface WrittenHandler {
  /** `./module.js#export`, or `{ "$function": name }` for a function in a code definition. */
  handler: unknown;
  /** From the definition's top. */
  path: Path;
}

/** The parts of `./module.js#export`. */
export interface HandlerPlace {
  /** Relative to the package, normalized, without a leading `./`. It may still lead outside the package. */
  module: string;
  exportName: string;
}

const handlerKeys: Readonly<Record<string, readonly string[]>> = {
  tool: ["handler", "initialize"],
  prompt: ["handler"],
  resource: ["handler", "subscribe"],
  composedServer: ["initialize"],
};

/** Every handler in a definition, in order. References to tools in a bundle's entries are excluded. */
export function findHandlers({ shape, definition }: ShapedDefinition): WrittenHandler[] {
  if (shape === undefined || definition === null) return [];
  const found = (handlerKeys[shape] ?? [])
    .filter((key) => definition[key] !== undefined)
    .map((key): WrittenHandler => ({ handler: definition[key], path: [key] }));
  const { complete } = shape === "prompt" || shape === "resource" ? definition : {};
  for (const [name, source] of isRecord(complete) ? Object.entries(complete) : [])
    if (typeof source === "string" || (isRecord(source) && typeof source.$function === "string"))
      found.push({ handler: source, path: ["complete", name] });
  if (shape === "toolsBundle" && Array.isArray(definition.entries)) {
    for (const [index, entry] of definition.entries.entries()) {
      const handler = isRecord(entry) ? entry.handler : undefined;
      const isReference = typeof handler === "string" && !isModulePath(handler);
      if (handler !== undefined && !isReference) found.push({ handler, path: ["entries", index, "handler"] });
    }
  }
  return found;
}

/** Parses `./module.js#export`; the export defaults to `default`. Returns a fault for any other string. */
export function parseHandler(handler: string): HandlerPlace | { fault: string } {
  const hash = handler.indexOf("#");
  const file = hash < 0 ? handler : handler.slice(0, hash);
  const exportName = hash < 0 ? "default" : handler.slice(hash + 1);
  if (!isModulePath(file)) return { fault: 'it does not start with "./"' };
  if (exportName === "") return { fault: 'the export name after "#" is missing' };
  const below = file.slice(2);
  // Most paths are normalized already, and normalizing thousands of them is slow.
  const module = /(?:^|\/)\.{0,2}(?:\/|$)/.test(below) ? posix.normalize(file) : below;
  if (module === "." || module.endsWith("/")) return { fault: "it names a folder, not a module" };
  return { module, exportName };
}
