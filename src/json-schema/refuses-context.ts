import { isRecord } from "../data/parse-json.ts";
import { readPointer, valueAt } from "../extension-schema/pointer.ts";
import { reservedParameter } from "./reserved-parameters.ts";

/** Keywords that an additional key may violate, unless their schema accepts every object. */
const ofFurtherKeys = ["additionalProperties", "unevaluatedProperties", "propertyNames"] as const;
/** Keywords that count keys or compare the object as a whole. */
const ofTheWhole = ["maxProperties", "minProperties", "const", "enum"] as const;
/** Keywords whose schemas apply to the object itself. */
const inPlace = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"] as const;
/** Keywords that apply a schema, or require keys, where the object has a certain key. */
const dependent = ["dependentSchemas", "dependentRequired", "dependencies"] as const;

/** Keywords that constrain no value. */
const annotations = new Set([
  ...["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"],
]);

/** Whether a schema obviously accepts every object. */
function acceptsObjects(schema: unknown): boolean {
  if (typeof schema === "boolean") return schema;
  if (!isRecord(schema)) return false;
  return Object.entries(schema).every(([key, value]) =>
    key === "type" ? [value].flat().includes("object") : annotations.has(key),
  );
}

/** The target of a reference that is a pointer into this schema; `undefined` for others. */
function follow(reference: unknown, top: unknown): unknown {
  if (typeof reference !== "string" || !/^#(?:\/|$)/.test(reference)) return undefined;
  try {
    const pointer = decodeURIComponent(reference.slice(1));
    return valueAt(top, readPointer(pointer, top));
  } catch {
    return undefined;
  }
}

/** Whether the result of a schema's own keywords may depend on the key `_trailblazeContext`. */
function dependsOnKey(schema: Readonly<Record<string, unknown>>): boolean {
  const has = (key: string) => Object.hasOwn(schema, key);
  if (ofTheWhole.some(has)) return true;
  if (ofFurtherKeys.some((key) => has(key) && !acceptsObjects(schema[key]))) return true;
  const { properties, patternProperties } = schema;
  if (isRecord(properties) && Object.hasOwn(properties, reservedParameter)) return true;
  // Patterns are not matched with the key, because a server's pattern may take very long.
  if (isRecord(patternProperties) && !Object.values(patternProperties).every(acceptsObjects)) return true;
  return dependent.some((key) => isRecord(schema[key]) && Object.hasOwn(schema[key], reservedParameter));
}

/**
 * Whether a tool with this input schema may reject arguments because of the additional key `_trailblazeContext`. Returns
 * true in case of doubt. Takes time proportional to the size of the schema.
 */
export function mayRefuseContext(inputSchema: Readonly<Record<string, unknown>>): boolean {
  const seen = new Set<object>();
  const pending: unknown[] = [inputSchema];
  while (pending.length > 0) {
    const schema = pending.pop();
    if (schema === true) continue;
    if (!isRecord(schema)) return true;
    if (seen.has(schema)) continue;
    seen.add(schema);
    if (dependsOnKey(schema)) return true;
    // Pointers inside it have a different base.
    if (schema !== inputSchema && typeof schema.$id === "string") return true;
    if (Object.hasOwn(schema, "$dynamicRef") || Object.hasOwn(schema, "$recursiveRef")) return true;
    if (Object.hasOwn(schema, "$ref")) pending.push(follow(schema.$ref, inputSchema));
    for (const key of inPlace) {
      if (Object.hasOwn(schema, key)) for (const inner of [schema[key]].flat()) pending.push(inner);
    }
    for (const key of dependent) {
      // Other values are arrays of names.
      const values = isRecord(schema[key]) ? Object.values(schema[key]) : [];
      for (const inner of values) if (!Array.isArray(inner)) pending.push(inner);
    }
  }
  return false;
}
