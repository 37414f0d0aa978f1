import { isRecord } from "../../data/parse-json.ts";
import { formatSchemaType } from "../../extension-schema/format-schema-type.ts";

/** A property of a schema of objects, or of the objects in it. */
export interface Property {
  /** `owner.name`, and `items[].sku` for the elements of an array. */
  path: string;
  /** The last part of the path. */
  name: string;
  type: string;
  /** Whether its own object requires it. */
  required: boolean;
  /** `undefined` without one. */
  fallback: unknown;
  description: string;
  /** From 1. */
  depth: number;
  /** With local references followed. */
  schema: unknown;
}

/** Limits on what `listProperties` returns. */
export const deepest = 5;
export const mostProperties = 500;

/** The schema that a local `$ref` points to, with the keys beside it; the schema itself without one. */
function follow(schema: unknown, root: unknown): unknown {
  const reference = isRecord(schema) ? schema.$ref : undefined;
  if (!isRecord(schema) || typeof reference !== "string" || !reference.startsWith("#/")) return schema;
  let target: unknown = root;
  for (const key of reference.slice(2).split("/")) {
    const name = key.replaceAll("~1", "/").replaceAll("~0", "~");
    target = isRecord(target) && Object.hasOwn(target, name) ? target[name] : undefined;
  }
  const { $ref: _, ...own } = schema;
  return isRecord(target) ? { ...target, ...own } : schema;
}

/** The properties of a schema in their order, each followed by those of its own objects. */
export function listProperties(schema: unknown): Property[] {
  const found: Property[] = [];
  const collect = (written: unknown, prefix: string, depth: number): void => {
    const object = follow(written, schema);
    if (!isRecord(object) || !isRecord(object.properties) || depth > deepest) return;
    const required: unknown[] = Array.isArray(object.required) ? object.required : [];
    for (const [name, inner] of Object.entries(object.properties)) {
      if (found.length >= mostProperties) return;
      const property = follow(inner, schema);
      const { description, default: fallback, items } = isRecord(property) ? property : {};
      const path = `${prefix}${name}`;
      found.push({
        path,
        name,
        type: formatSchemaType(property),
        required: required.includes(name),
        fallback,
        description: typeof description === "string" ? description : "",
        depth,
        schema: property,
      });
      collect(property, `${path}.`, depth + 1);
      collect(items, `${path}[].`, depth + 1);
    }
  };
  collect(schema, "", 1);
  return found;
}
