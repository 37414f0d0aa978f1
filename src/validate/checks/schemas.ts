import { isRecord } from "../../data/parse-json.ts";
import { describeValue } from "../../extension-schema/pointer.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import type { SchemaFault } from "../../json-schema/meta-schema.ts";
import { isExponential } from "../../json-schema/patterns/exponential-pattern.ts";
import { listPatterns, readSchema, type Schema } from "../../json-schema/read-schema.ts";
import { findReservedParameters, reservedParameter } from "../../json-schema/reserved-parameters.ts";
import { type Path, type ProblemArguments, printable } from "../../problems/index.ts";
import { type Check, type Finding, findInItem } from "../finding.ts";
import { findTools, type WrittenTool } from "./tools.ts";

interface WrittenSchema {
  tool: WrittenTool;
  /** The key of the schema; `parameters` for a schema that was expanded from the short form. */
  key: "inputSchema" | "parameters" | "argumentsSchema" | "outputSchema";
  schema: Readonly<Record<string, unknown>>;
}

function* findSchemas(items: readonly InspectedItem[]): Generator<WrittenSchema> {
  for (const tool of findTools(items)) {
    const { definition, isEntry } = tool;
    const inputKey = isEntry ? "argumentsSchema" : "inputSchema";
    const key = !isEntry && isRecord(definition.parameters) ? "parameters" : inputKey;
    const [input, output] = [definition[inputKey], definition.outputSchema];
    if (isRecord(input)) yield { tool, key, schema: input };
    if (isRecord(output)) yield { tool, key: "outputSchema", schema: output };
  }
}

/** Converts a path in a schema to the written one below its key: `parameters` are the `properties` of the expanded schema. */
const toWritten = ({ key }: WrittenSchema, path: Path): Path =>
  key === "parameters" ? (path[0] === "properties" ? path.slice(1) : []) : path;

function findInSchema<Code extends "InvalidInputSchema" | "UnsafePattern" | "ReservedParameter">(
  written: WrittenSchema,
  code: Code,
  args: ProblemArguments[Code],
  path: Path,
): Finding {
  const { tool, key } = written;
  return findInItem(tool.item, code, args, [...tool.path, key, ...toWritten(written, path)]);
}

interface WithItems {
  inspected: { items: readonly InspectedItem[] };
}

/** MCP requires type `object` at the top of each schema; clients reject a whole server for one other type. */
function findTopFault({ key, schema }: WrittenSchema): SchemaFault | undefined {
  // An empty `outputSchema` is not advertised.
  const isEmptyOutput = key === "outputSchema" && Object.keys(schema).length === 0;
  if (schema.type === "object" || isEmptyOutput) return undefined;
  if (schema.type === undefined) return { what: 'must have `type: "object"`', path: [] };
  return { what: `must be "object" at the top, but it is ${describeValue(schema.type)}`, path: ["type"] };
}

export function* checkSchemas({ inspected }: WithItems): Generator<Finding> {
  for (const written of findSchemas(inspected.items)) {
    const top = findTopFault(written);
    const faults = readSchema(written.schema).faults;
    // An invalid type at the top is reported once.
    const others = top === undefined ? faults : faults.filter(({ path }) => path.join() !== "type");
    for (const { what, path } of top === undefined ? others : [top, ...others]) {
      const where = toWritten(written, path).join(".");
      const reason = where === "" ? `it ${what}` : `\`${printable(where)}\` ${what}`;
      yield findInSchema(written, "InvalidInputSchema", { key: written.key, reason }, path);
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
      yield findInSchema(written, "InvalidInputSchema", args, path);
    }
  }
};

/** Finds regular expressions that could block the host, without running them. */
export const checkPatterns: Check = function* ({ inspected }) {
  for (const written of findSchemas(inspected.items))
    for (const { pattern, path } of readSchema(written.schema).schemas.flatMap(listPatterns))
      if (isExponential(pattern)) yield findInSchema(written, "UnsafePattern", { pattern }, path);
};

export function* checkReservedParameters({ inspected }: WithItems): Generator<Finding> {
  for (const written of findSchemas(inspected.items)) {
    if (written.key === "outputSchema") continue;
    for (const path of findReservedParameters(written.schema))
      yield findInSchema(written, "ReservedParameter", { name: reservedParameter }, path);
  }
}
