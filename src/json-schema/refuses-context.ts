import { isRecord } from "../data/parse-json.ts";
import { readPointer, valueAt } from "../extension-schema/pointer.ts";
import { reservedParameter } from "./reserved-parameters.ts";

/** Keywords that any further key of the object may break, unless their schema accepts every object. */
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

/** Whether a schema accepts every object, as far as a look at its keywords tells. */
function acceptsObjects(schema: unknown): boolean {
  if (typeof schema === "boolean") return schema;
  if (!isRecord(schema)) return false;
  return Object.entries(schema).every(([key, value]) =>
    key === "type" ? [value].flat().includes("object") : annotations.has(key),
  );
}

/** What a reference leads to; `undefined` where finding that out takes more than a pointer into this schema. */
function follow(reference: unknown, top: unknown): unknown {
  if (typeof reference !== "string" || !/^#(?:\/|$)/.test(reference)) return undefined;
  try {
    const pointer = decodeURIComponent(reference.slice(1));
    return valueAt(top, readPointer(pointer, top));
  } catch {
    return undefined;
  }
}

/** Whether a schema's own keywords may judge an object differently once it has the key `_trailblazeContext`. */
function dependsOnKey(schema: Readonly<Record<string, unknown>>): boolean {
  const has = (key: string) => Object.hasOwn(schema, key);
  if (ofTheWhole.some(has)) return true;
  if (ofFurtherKeys.some((key) => has(key) && !acceptsObjects(schema[key]))) return true;
  const { properties, patternProperties } = schema;
  if (isRecord(properties) && Object.hasOwn(properties, reservedParameter)) return true;
  // Which patterns fit the key is not tried: a server's pattern may take very long.
  if (isRecord(patternProperties) && !Object.values(patternProperties).every(acceptsObjects)) return true;
  return dependent.some((key) => isRecord(schema[key]) && Object.hasOwn(schema[key], reservedParameter));
}

/**
 * Whether a tool with this input schema may refuse arguments because of the further key `_trailblazeContext`. In doubt
 * the answer is yes. The time it takes grows with the size of the schema alone.
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
    // Inside, pointers would begin elsewhere.
    if (schema !== inputSchema && typeof schema.$id === "string") return true;
    if (Object.hasOwn(schema, "$dynamicRef") || Object.hasOwn(schema, "$recursiveRef")) return true;
    if (Object.hasOwn(schema, "$ref")) pending.push(follow(schema.$ref, inputSchema));
    for (const key of inPlace) {
      if (Object.hasOwn(schema, key)) for (const inner of [schema[key]].flat()) pending.push(inner);
    }
    for (const key of dependent) {
      // The values of the others are lists of names.
      const values = isRecord(schema[key]) ? Object.values(schema[key]) : [];
      for (const inner of values) if (!Array.isArray(inner)) pending.push(inner);
    }
  }
  return false;
}
