import { isRecord } from "../data/parse-json.ts";
import { describeStop } from "../json-schema/describe-violation.ts";
import type { SchemaCheck } from "../json-schema/schema-validator.ts";
import { quote } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/index.ts";

type InputSchema = Readonly<Record<string, unknown>> | undefined;

/** Given arguments that the schema does not declare, each with the declared one that it resembles most. */
export function findMisspelledArguments(
  schema: InputSchema,
  given: readonly string[],
): { written: string; suggestion: string }[] {
  const properties = schema?.properties;
  if (!isRecord(properties)) return [];
  const absent = Object.keys(properties).filter((name) => !given.includes(name));
  return given.flatMap((written) => {
    if (Object.hasOwn(properties, written)) return [];
    const [suggestion] = findNearestNames(written, absent);
    return suggestion === undefined ? [] : [{ written, suggestion }];
  });
}

/** Why a tool does not run. `given`: the names of the arguments, without those that defaults add. */
export function describeRefusal(
  name: string,
  schema: InputSchema,
  given: readonly string[],
  { message, schemaFault, stopped }: Extract<SchemaCheck, { ok: false }>,
): string {
  if (stopped !== undefined) return describeStop("the arguments", stopped);
  if (schemaFault !== undefined) return `The tool's inputSchema cannot be used: ${schemaFault}`;
  const invalid = `Invalid arguments for ${quote(name)}: ${message}`;
  const [misspelled] = findMisspelledArguments(schema, given);
  if (misspelled === undefined) return invalid;
  const { written, suggestion } = misspelled;
  return `${invalid}. Did you mean ${quote(suggestion)} instead of ${quote(written)}?`;
}
