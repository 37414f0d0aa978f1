import { isExponential } from "../../json-schema/patterns/exponential-pattern.ts";
import { surveySchema } from "../../json-schema/schema-survey.ts";
import { type Check, findInItem } from "../finding.ts";
import { findSchemas, placeInDefinition } from "./subjects/schemas.ts";

/** Regular expressions with which one unlucky text would stop the host. They are looked at, never run. */
export const checkPatterns: Check = function* ({ inspected }) {
  for (const written of findSchemas(inspected.items)) {
    for (const { pattern, path } of surveySchema(written.schema)?.patterns ?? []) {
      if (!isExponential(pattern)) continue;
      yield findInItem(written.tool.item, "UnsafePattern", { pattern }, placeInDefinition(written, path));
    }
  }
};
