import { isRecord } from "../data/parse-json.ts";
import type { Path } from "../problems/index.ts";

/** The key that the host adds to the arguments of every call in a session. */
export const reservedParameter = "_trailblazeContext";

/** Keywords whose schemas apply to the arguments object itself. */
const aboutArguments = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

/** Finds paths of the reserved key in a schema, one per level even if it is both a property and required. */
export function* findReservedParameters(
  schema: Readonly<Record<string, unknown>>,
  path: Path = [],
): Generator<Path> {
  const { properties, required } = schema;
  const index = Array.isArray(required) ? required.indexOf(reservedParameter) : -1;
  if (isRecord(properties) && Object.hasOwn(properties, reservedParameter))
    yield [...path, "properties", reservedParameter];
  else if (index >= 0) yield [...path, "required", index];
  for (const key of aboutArguments) {
    const value = schema[key];
    const isSchema = isRecord(value) && key !== "dependentSchemas";
    if (isSchema) yield* findReservedParameters(value, [...path, key]);
    for (const [step, inner] of isSchema ? [] : Object.entries(value ?? {}))
      if (isRecord(inner))
        yield* findReservedParameters(inner, [...path, key, Array.isArray(value) ? Number(step) : step]);
  }
}

/** Keywords whose result never depends on an additional key. */
const regardless = new Set(
  "$schema $id $comment $defs definitions title description default examples deprecated type required".split(
    " ",
  ),
);

/**
 * Whether a tool with this input schema may reject arguments because of the additional key `_trailblazeContext`. Returns
 * true if that is not certain, also for any reference.
 */
export function mayRefuseContext(inputSchema: unknown): boolean {
  if (typeof inputSchema === "boolean") return !inputSchema;
  if (!isRecord(inputSchema)) return true;
  return Object.entries(inputSchema).some(([keyword, value]) => {
    if (regardless.has(keyword) || keyword.startsWith("x-")) return false;
    if (keyword === "properties") return !isRecord(value) || Object.hasOwn(value, reservedParameter);
    if (keyword === "dependentSchemas")
      return !isRecord(value) || Object.values(value).some(mayRefuseContext);
    if (aboutArguments.includes(keyword)) return [value].flat().some(mayRefuseContext);
    const isOpen = value === true || (isRecord(value) && Object.keys(value).length === 0);
    return keyword !== "additionalProperties" || !isOpen;
  });
}
