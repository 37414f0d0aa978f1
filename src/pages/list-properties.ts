import { isRecord } from "../data/parse-json.ts";
import { formatSchemaType } from "../extension-schema/format-schema-type.ts";

/** A property of a schema of objects, or of the objects in it. */
export interface Property {
  /** `owner.name`, and `items[].sku` for the elements of an array. */
  path: string;
  type: string;
  /** Whether its own object requires it. */
  required: boolean;
  /** `undefined` without one. */
  fallback: unknown;
  description: string;
}

const deepest = 5;
const mostProperties = 500;

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

/** The properties of a schema in their order, each followed by those of its own objects; not all of a very large one. */
export function listProperties(schema: unknown): { properties: Property[]; isComplete: boolean } {
  const properties: Property[] = [];
  let isComplete = true;
  const collect = (written: unknown, prefix: string, depth: number): void => {
    const object = follow(written, schema);
    if (!isRecord(object) || !isRecord(object.properties)) return;
    const required: unknown[] = Array.isArray(object.required) ? object.required : [];
    for (const [name, inner] of Object.entries(object.properties)) {
      isComplete &&= depth <= deepest && properties.length < mostProperties;
      if (!isComplete) return;
      const property = follow(inner, schema);
      const { description, default: fallback, items } = isRecord(property) ? property : {};
      const path = `${prefix}${name}`;
      properties.push({
        path,
        type: formatSchemaType(property),
        required: required.includes(name),
        fallback,
        description: typeof description === "string" ? description : "",
      });
      collect(property, `${path}.`, depth + 1);
      collect(items, `${path}[].`, depth + 1);
    }
  };
  collect(schema, "", 1);
  return { properties, isComplete };
}
