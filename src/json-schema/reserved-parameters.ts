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
    if (typeof value !== "object" || value === null) continue;
    if (isRecord(value) && key !== "dependentSchemas") {
      yield* findReservedParameters(value, [...path, key]);
      continue;
    }
    for (const [step, inner] of Object.entries(value)) {
      const at = Array.isArray(value) ? Number(step) : step;
      if (isRecord(inner)) yield* findReservedParameters(inner, [...path, key, at]);
    }
  }
}
