import { isRecord } from "../data/parse-json.ts";
import { type Draft, findKeyword, type Schema, type SchemaPath } from "./schema-survey.ts";

/** A schema with its path. */
export interface SchemaNode {
  schema: Schema;
  /** The enclosing schema; `undefined` for the top. */
  parent: SchemaNode | undefined;
  /** The path from the parent. */
  steps: SchemaPath;
}

function* findChildren(parent: SchemaNode, draft: Draft): Generator<SchemaNode> {
  for (const [key, value] of Object.entries(parent.schema)) {
    const holds = findKeyword(draft, key)?.holds ?? [];
    if (isRecord(value) && holds.includes("itself")) yield { schema: value, parent, steps: [key] };
    const isHeld = Array.isArray(value)
      ? holds.includes("list")
      : isRecord(value) && holds.includes("object");
    if (!isHeld) continue;
    for (const [name, schema] of Object.entries(value as object)) {
      const step = Array.isArray(value) ? Number(name) : name;
      if (isRecord(schema)) yield { schema, parent, steps: [key, step] };
    }
  }
}

/** A schema and its subschemas, top down, each once. Skips those in `seen`, and adds the others to it. */
export function listSchemas(top: SchemaNode, draft: Draft, seen: Set<Schema>): SchemaNode[] {
  const nodes = [top];
  seen.add(top.schema);
  for (const node of nodes) {
    for (const child of findChildren(node, draft)) {
      if (seen.has(child.schema)) continue;
      seen.add(child.schema);
      nodes.push(child);
    }
  }
  return nodes;
}

/** The path of a node from the top. */
export function pathOf(node: SchemaNode): SchemaPath {
  const parts: SchemaPath[] = [];
  for (let at: SchemaNode | undefined = node; at !== undefined; at = at.parent) parts.push(at.steps);
  return parts.reverse().flat();
}
