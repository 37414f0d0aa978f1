import { isRecord } from "../data/parse-json.ts";
import type { Kind } from "../kinds.ts";
import type { Path } from "../problems/index.ts";
import { isQualifiedName, parseQualifiedName, type QualifiedName } from "../qualified-names/index.ts";
import type { DefinitionShape } from "./generated/definition-validators.js";

/** A definition whose shape is known; without a shape or a definition, nothing is found in it. */
export interface ShapedDefinition {
  shape: DefinitionShape | undefined;
  definition: Readonly<Record<string, unknown>> | null;
}

/** A name that a definition mentions, as it is written there. */
export interface WrittenReference {
  reference: string;
  /** The kind of item it must lead to. */
  kind: Kind;
  /** From the definition's top. */
  path: Path;
}

/** What each list of references in a definition leads to, by the definition's shape. */
const listsByShape: Readonly<Record<string, Readonly<Record<string, Kind>>>> = {
  composedServer: { tools: "tool", toolsets: "toolset", prompts: "prompt" },
  // The entries of a document's `tools` are bundles, which are toolsets.
  serverDocument: { tools: "toolset" },
  toolsetList: { tools: "tool", toolsets: "toolset" },
};

/** True for `./module.js#export`, which is no reference to an item. */
export function isModulePath(handler: string): boolean {
  return handler.startsWith("./") || handler.startsWith("../");
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

/** The qualified names that definitions refer to, and those of some references, parsed. */
export function findQualifiedNames(
  definitions: readonly ShapedDefinition[],
  references: readonly string[],
): QualifiedName[] {
  const written = definitions.flatMap((one) => findReferences(one).map(({ reference }) => reference));
  const names = [...written, ...references].filter((reference) => isQualifiedName(reference));
  return names.map((reference) => parseQualifiedName(reference));
}

/** A qualified name in its normal form, `acme/jira/triage`, for any way of writing it; another string may become any. */
export function withoutRange(reference: string): string {
  return reference.replace(/^@/, "").replace(/@[^/]*(?=\/[^/]*$)/, "");
}
