import { describeWritten } from "../../extension-schema/index.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import type { SchemaFault } from "../../json-schema/meta-schema.ts";
import { isExponential } from "../../json-schema/patterns/exponential-pattern.ts";
import { listPatterns, readSchema, type Schema } from "../../json-schema/read-schema.ts";
import { findReservedParameters, reservedParameter } from "../../json-schema/reserved-parameters.ts";
import { printable, quote } from "../../problems/index.ts";
import { type Check, type Finding, findInItem } from "../finding.ts";
import { findSchemas, placeInDefinition, toWritten, type WrittenSchema } from "./subjects.ts";

/** What a check of items alone needs of a pack. */
interface WithItems {
  inspected: { items: readonly InspectedItem[] };
}

/** MCP requires type `object` at the top of each schema; clients reject a whole server for one other type. */
function findTopFault({ key, schema }: WrittenSchema): SchemaFault | undefined {
  // An empty `outputSchema` is not advertised.
  const isEmptyOutput = key === "outputSchema" && Object.keys(schema).length === 0;
  if (schema.type === "object" || isEmptyOutput) return undefined;
  if (schema.type === undefined) return { what: 'must have `type: "object"`', path: [] };
  const found = typeof schema.type === "string" ? quote(schema.type, 40) : describeWritten(schema.type);
  return { what: `must be "object" at the top, but it is ${found}`, path: ["type"] };
}

/** Finds invalid schemas, according to JSON Schema and MCP. */
export function* checkSchemas({ inspected }: WithItems): Generator<Finding> {
  for (const written of findSchemas(inspected.items)) {
    const top = findTopFault(written);
    const faults = readSchema(written.schema).faults;
    // An invalid type at the top is reported once.
    const others = top === undefined ? faults : faults.filter(({ path }) => path.join() !== "type");
    for (const { what, path } of top === undefined ? others : [top, ...others]) {
      const where = toWritten(written, path).join(".");
      const reason = where === "" ? `it ${what}` : `\`${printable(where)}\` ${what}`;
      const place = placeInDefinition(written, path);
      yield findInItem(written.tool.item, "InvalidInputSchema", { key: written.key, reason }, place);
    }
  }
}

/** Whether a schema demands of its default only its type and to be listed, as most do: loading ajv would take longer. */
function hasPlainDefault({ default: value, type, enum: listed, ...others }: Schema): boolean {
  const isOfType = type === "integer" ? Number.isInteger(value) : type !== "object" && type === typeof value;
  const isListed = listed === undefined || (Array.isArray(listed) && listed.includes(value));
  return (
    isOfType && isListed && Object.keys(others).every((key) => /^(?:title|description|examples)$/.test(key))
  );
}

/** Finds defaults that violate their own schemas. A call that relies on one fails. */
export const checkDefaults: Check = async function* ({ inspected }) {
  for (const written of findSchemas(inspected.items)) {
    const { schemas } = readSchema(written.schema);
    if (!schemas.some(({ schema }) => Object.hasOwn(schema, "default") && !hasPlainDefault(schema))) continue;
    const { findInvalidDefaults } = await import("../../json-schema/schema-validator.ts");
    for (const { what, path } of findInvalidDefaults(written.schema)) {
      const reason = `\`${printable(toWritten(written, path).join("."))}\` ${what}`;
      const args = { key: written.key, reason, isDefault: true };
      yield findInItem(written.tool.item, "InvalidInputSchema", args, placeInDefinition(written, path));
    }
  }
};

/** Finds regular expressions that could block the host, without running them. */
export const checkPatterns: Check = function* ({ inspected }) {
  for (const written of findSchemas(inspected.items)) {
    for (const { pattern, path } of readSchema(written.schema).schemas.flatMap(listPatterns)) {
      if (!isExponential(pattern)) continue;
      yield findInItem(written.tool.item, "UnsafePattern", { pattern }, placeInDefinition(written, path));
    }
  }
};

/** Finds schemas with the parameter that the host adds. */
export function* checkReservedParameters({ inspected }: WithItems): Generator<Finding> {
  for (const written of findSchemas(inspected.items)) {
    if (written.key === "outputSchema") continue;
    for (const path of findReservedParameters(written.schema)) {
      const place = placeInDefinition(written, path);
      yield findInItem(written.tool.item, "ReservedParameter", { name: reservedParameter }, place);
    }
  }
}
