import { isRecord } from "../../data/parse-json.ts";
import type { Path } from "../../definitions/types.ts";
import { type Check, findInItem } from "../finding.ts";
import { findSchemas, placeInDefinition } from "./subjects/schemas.ts";

/** The key that the host writes into the arguments of every call in a session. */
const reserved = "_trailblazeContext";

/** Keywords whose schemas look at the arguments themselves, not at what is in them. */
const aboutArguments = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

/** Where a schema names the reserved key; once a level, though it may name it as a property and as required. */
function* findReserved(schema: Readonly<Record<string, unknown>>, path: Path = []): Generator<Path> {
  const { properties, required } = schema;
  const index = Array.isArray(required) ? required.indexOf(reserved) : -1;
  if (isRecord(properties) && Object.hasOwn(properties, reserved)) yield [...path, "properties", reserved];
  else if (index >= 0) yield [...path, "required", index];
  for (const key of aboutArguments) {
    const value = schema[key];
    if (typeof value !== "object" || value === null) continue;
    if (isRecord(value) && key !== "dependentSchemas") {
      yield* findReserved(value, [...path, key]);
      continue;
    }
    for (const [step, inner] of Object.entries(value)) {
      const at = Array.isArray(value) ? Number(step) : step;
      if (isRecord(inner)) yield* findReserved(inner, [...path, key, at]);
    }
  }
}

/** Schemas that ask models for what the host puts in. */
export const checkReservedParameters: Check = function* ({ inspected }) {
  for (const written of findSchemas(inspected.items)) {
    if (written.key === "outputSchema") continue;
    for (const path of findReserved(written.schema)) {
      const place = placeInDefinition(written, path);
      yield findInItem(written.tool.item, "ReservedParameter", { name: reserved }, place);
    }
  }
};
