import { isRecord } from "../data/parse-json.ts";
import { type Draft, findKeyword, type Schema, type SchemaPath } from "./schema-survey.ts";

/** A schema, or a schema inside one, and how one gets there. */
export interface SchemaNode {
  schema: Schema;
  /** The schema around this one; `undefined` for the top. */
  parent: SchemaNode | undefined;
  /** From the parent's schema. */
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

/** A schema and those in it, from the top downwards, each once; without those in `seen`, to which they are added. */
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

/** Where a node is, from the top. */
export function pathOf(node: SchemaNode): SchemaPath {
  const parts: SchemaPath[] = [];
  for (let at: SchemaNode | undefined = node; at !== undefined; at = at.parent) parts.push(at.steps);
  return parts.reverse().flat();
}
