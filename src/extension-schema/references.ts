import { isRecord } from "../data/parse-json.ts";
import type { Kind } from "../kinds.ts";
import type { Path } from "../problems/index.ts";
import { isQualifiedName, parseQualifiedName, type QualifiedName } from "../qualified-names/index.ts";
import type { DefinitionShape } from "./definition-schema.ts";

/** A definition with its shape, if it has any. */
export interface ShapedDefinition {
  shape: DefinitionShape | undefined;
  definition: Readonly<Record<string, unknown>> | null;
}

/** A reference in a definition, as written. */
export interface WrittenReference {
  reference: string;
  /** The required kind of the item. */
  kind: Kind;
  /** From the definition's top. */
  path: Path;
}

/** The kind of item in each array of references, by the definition's shape. */
const listsByShape: Readonly<Record<string, Readonly<Record<string, Kind>>>> = {
  composedServer: { tools: "tool", toolsets: "toolset", prompts: "prompt", resources: "resource" },
  // The entries of a document's `tools` are bundles, which are toolsets.
  serverDocument: { tools: "toolset" },
  toolsetList: { tools: "tool", toolsets: "toolset" },
};

/** True for `./module.js#export`, as opposed to a reference to an item. */
export function isModulePath(handler: string): boolean {
  return handler.startsWith("./") || handler.startsWith("../");
}

/** The path to write in place of one with backslashes, which only Windows takes for separators; `undefined` without any. */
export function replaceBackslashes(path: string): string | undefined {
  if (!path.includes("\\") || /^(?:[A-Za-z]:)?\\/.test(path)) return undefined;
  const written = path.replaceAll("\\", "/");
  return isModulePath(written) ? written : `./${written}`;
}

/** Every reference in a definition, in order. */
export function findReferences({ shape, definition }: ShapedDefinition): WrittenReference[] {
  if (shape === undefined || definition === null) return [];
  const found: WrittenReference[] = [];
  for (const [key, kind] of Object.entries(listsByShape[shape] ?? {})) {
    const list = definition[key];
    if (!Array.isArray(list)) continue;
    for (const [index, reference] of list.entries()) {
      if (typeof reference === "string") found.push({ reference, kind, path: [key, index] });
    }
  }
  if (shape === "toolsBundle" && Array.isArray(definition.entries)) {
    for (const [index, entry] of definition.entries.entries()) {
      const handler = isRecord(entry) ? entry.handler : undefined;
      if (typeof handler !== "string" || isModulePath(handler)) continue;
      found.push({ reference: handler, kind: "tool", path: ["entries", index, "handler"] });
    }
  }
  return found;
}

/** The parsed qualified names among the references of definitions and in `references`. */
export function findQualifiedNames(
  definitions: readonly ShapedDefinition[],
  references: readonly string[],
): QualifiedName[] {
  const written = definitions.flatMap((one) => findReferences(one).map(({ reference }) => reference));
  const names = [...written, ...references].filter((reference) => isQualifiedName(reference));
  return names.map((reference) => parseQualifiedName(reference));
}

/** The normal form of a qualified name, `acme/jira/triage`. Results for other strings are meaningless. */
export function withoutRange(reference: string): string {
  return reference.replace(/^@/, "").replace(/@[^/]*/, "");
}
