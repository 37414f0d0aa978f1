import { describeWritten, readPointer, typeWords, valueAt } from "../extension-schema/pointer.ts";
import type { ValidatorError } from "../extension-schema/validator.ts";
import { quote } from "../problems/index.ts";
import { type FollowedReferences, followReferences } from "./schema-references.ts";
import {
  findKeyword,
  type Schema,
  type SchemaFault,
  type SchemaSurvey,
  surveySchema,
} from "./schema-survey.ts";

const types = ["array", "boolean", "integer", "null", "number", "object", "string"];

/** The allowed values of keywords that accept several types. */
const choices: Readonly<Record<string, string>> = {
  type: `must be one of ${types.join(", ")}, or an array of these`,
  items: "must be a schema or an array of schemas",
  dependencies: "must contain schemas or arrays of names",
};

const words: Readonly<Record<string, string>> = {
  ...typeWords,
  integer: "an integer",
  "object,boolean": "a schema: an object or a boolean",
};

/** A scalar as written, or the type of an array or object. */
function describeValue(value: unknown): string {
  if (typeof value === "string") return quote(value, 40);
  return typeof value === "object" ? describeWritten(value) : String(value);
}

function describeError(
  keyword: string,
  { keyword: rule, params, message }: ValidatorError,
  value: unknown,
): string {
  const found = describeValue(value);
  switch (rule) {
    case "anyOf":
      return `${choices[keyword] ?? "must have one of the valid forms"}, but it is ${found}`;
    case "type":
      return `must be ${words[String(params.type)] ?? params.type}, but it is ${found}`;
    case "uniqueItems":
      return "contains a duplicate";
    case "minItems":
      return "is empty";
    case "minimum":
      return `must be at least ${params.limit}, but it is ${found}`;
    case "exclusiveMinimum":
      return `must be greater than ${params.limit}, but it is ${found}`;
    case "pattern":
      return `does not have the required form: it is ${found}`;
    default:
      return message ?? "is not valid";
  }
}

/** Describes the faults in the value of a keyword. */
function* describeMisfit(
  { key, value, path }: SchemaSurvey["misfits"][number],
  draft: SchemaSurvey["draft"],
): Generator<SchemaFault> {
  const fits = findKeyword(draft, key)?.fits;
  if (fits === undefined || fits(value)) {
    yield { what: "contains a duplicate", path };
    return;
  }
  // Errors inside a union are reported once, by the union itself.
  for (const error of (fits.errors ?? []).filter(({ schemaPath }) => !schemaPath.includes("/anyOf/"))) {
    const inside = readPointer(error.instancePath, value);
    yield { what: describeError(key, error, valueAt(value, inside)), path: [...path, ...inside] };
  }
}

/** The reason why a pattern is not a valid regular expression with the flag `u`; `undefined` if it is. Does not run it. */
function explainInvalidPattern(pattern: string): string | undefined {
  try {
    new RegExp(pattern, "u");
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    return message.slice(message.lastIndexOf(": ") + 2).toLowerCase();
  }
}

function* findOwnFaults({ misfits, patterns, draft }: SchemaSurvey): Generator<SchemaFault> {
  for (const misfit of misfits) yield* describeMisfit(misfit, draft);
  for (const { pattern, path } of patterns) {
    const reason = explainInvalidPattern(pattern);
    if (reason !== undefined) yield { what: `is not a regular expression (${reason})`, path };
  }
}

/** The result of reading a whole schema. */
interface SchemaReading {
  faults: SchemaFault[];
  /** The resolved references; `undefined` if there are none. */
  references: FollowedReferences | undefined;
}

/** Finds the faults of a schema and resolves its references. Pure; runs no patterns. */
export function readSchema(schema: Schema): SchemaReading {
  const survey = surveySchema(schema);
  if (survey === undefined) {
    const known = "must be the URI of JSON Schema 2020-12 or draft-07";
    const fault = { what: `${known}, but it is ${describeValue(schema.$schema)}`, path: ["$schema"] };
    return { faults: [fault], references: undefined };
  }
  const faults = [...findOwnFaults(survey)];
  if (!survey.refers) return { faults, references: undefined };
  const references = followReferences(schema, survey.draft);
  for (const one of references.elsewhere) faults.push(...findOwnFaults(one));
  faults.push(...references.faults);
  return { faults, references };
}

/**
 * Finds the faults of a JSON Schema: violations of its meta-schema, invalid patterns, and references that are external,
 * unresolvable, cyclic, or chained too long. Pure; runs no patterns.
 */
export function findSchemaFaults(schema: Schema): SchemaFault[] {
  return readSchema(schema).faults;
}
