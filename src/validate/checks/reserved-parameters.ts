import { findReservedParameters, reservedParameter } from "../../json-schema/reserved-parameters.ts";
import { type Check, findInItem } from "../finding.ts";
import { findSchemas, placeInDefinition } from "./subjects/schemas.ts";

/** Schemas that ask models for what the host puts in. */
export const checkReservedParameters: Check = function* ({ inspected }) {
  for (const written of findSchemas(inspected.items)) {
    if (written.key === "outputSchema") continue;
    for (const path of findReservedParameters(written.schema)) {
      const place = placeInDefinition(written, path);
      yield findInItem(written.tool.item, "ReservedParameter", { name: reservedParameter }, place);
    }
  }
};
