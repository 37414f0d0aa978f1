import { posix } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import type { Kind } from "../kinds.ts";
import type { Path } from "../problems/index.ts";
import { type DefinitionShape, shapes } from "./shapes.ts";

export interface ShapedDefinition {
  shape?: DefinitionShape | undefined;
  definition: Readonly<Record<string, unknown>> | null;
}

export interface WrittenReference {
  reference: string;
  kind: Kind;
  /** From the definition's top. */
  path: Path;
}

/** True for `./module.js#export`, as opposed to a reference to an item. */
export function isModulePath(handler: string): boolean {
  return handler.startsWith("./") || handler.startsWith("../");
}

const isReference = (handler: unknown): handler is string =>
  typeof handler === "string" && !isModulePath(handler);

const findEntryHandlers = ({ entries }: Readonly<Record<string, unknown>>): WrittenHandler[] =>
  (Array.isArray(entries) ? entries : []).flatMap((entry: unknown, index) =>
    isRecord(entry) && entry.handler !== undefined
      ? [{ handler: entry.handler, path: ["entries", index, "handler"] }]
      : [],
  );

export function findReferences({ shape, definition }: ShapedDefinition): WrittenReference[] {
  if (shape === undefined || definition === null) return [];
  const found: WrittenReference[] = [];
  for (const [key, kind] of Object.entries(shapes[shape].references ?? {})) {
    const list = definition[key];
    if (!Array.isArray(list)) continue;
    for (const [index, reference] of list.entries()) {
      if (typeof reference === "string") found.push({ reference, kind, path: [key, index] });
    }
  }
  for (const { handler, path } of shape === "toolsBundle" ? findEntryHandlers(definition) : [])
    if (isReference(handler)) found.push({ reference: handler, kind: "tool", path });
  return found;
}

/** The normal form of a qualified name, `acme/jira/triage`. Results for other strings are meaningless. */
export function withoutRange(reference: string): string {
  return reference.replace(/^@/, "").replace(/@[^/]*/, "");
}

/** The value of `handler`, `initialize`, `subscribe` or a name of `complete` in a definition. */
export interface WrittenHandler {
  /** `./module.js#export`, or `{ "$function": name }` for a function in a code definition. */
  handler: unknown;
  /** From the definition's top. */
  path: Path;
}

/** Every handler in a definition, in order. References to tools in a bundle's entries are excluded. */
export function findHandlers({ shape, definition }: ShapedDefinition): WrittenHandler[] {
  if (shape === undefined || definition === null) return [];
  const found = (shapes[shape].code ?? [])
    .filter((key) => definition[key] !== undefined)
    .map((key): WrittenHandler => ({ handler: definition[key], path: [key] }));
  const { complete } = shape === "prompt" || shape === "resource" ? definition : {};
  for (const [name, source] of isRecord(complete) ? Object.entries(complete) : [])
    if (typeof source === "string" || (isRecord(source) && typeof source.$function === "string"))
      found.push({ handler: source, path: ["complete", name] });
  if (shape !== "toolsBundle") return found;
  return findEntryHandlers(definition).filter(({ handler }) => !isReference(handler));
}

/**
 * Parses `./module.js#export`; the export defaults to `default`. Returns a fault for any other string. The module's path is relative
 * to the package, normalized, without a leading `./`, and may still lead outside.
 */
export function parseHandler(handler: string): { module: string; exportName: string } | { fault: string } {
  const hash = handler.indexOf("#");
  const file = hash < 0 ? handler : handler.slice(0, hash);
  const exportName = hash < 0 ? "default" : handler.slice(hash + 1);
  if (!isModulePath(file)) return { fault: 'it does not start with "./"' };
  if (exportName === "") return { fault: 'the export name after "#" is missing' };
  const module = posix.normalize(file);
  if (/(?:^\.|\/)$/.test(module)) return { fault: "it names a folder, not a module" };
  return { module, exportName };
}
