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

/** What keywords take that take more than one kind of value. */
const choices: Readonly<Record<string, string>> = {
  type: `must be one of ${types.join(", ")}, or a list of these`,
  items: "must be a schema, or a list of schemas",
  dependencies: "must hold schemas or lists of names",
};

const words: Readonly<Record<string, string>> = {
  ...typeWords,
  integer: "a whole number",
  "object,boolean": "a schema: a map, or true or false",
};

/** A value as it is written; a list or an object by its type. */
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
      return `${choices[keyword] ?? "has none of the forms it may have"}, but is ${found}`;
    case "type":
      return `must be ${words[String(params.type)] ?? params.type}, but is ${found}`;
    case "uniqueItems":
      return "holds the same twice";
    case "minItems":
      return "is empty";
    case "minimum":
      return `must be at least ${params.limit}, but is ${found}`;
    case "exclusiveMinimum":
      return `must be more than ${params.limit}, but is ${found}`;
    case "pattern":
      return `does not have the form that it must have, but is ${found}`;
    default:
      return message ?? "does not fit";
  }
}

/** Says what is wrong with the value of a keyword. */
function* describeMisfit(
  { key, value, path }: SchemaSurvey["misfits"][number],
  draft: SchemaSurvey["draft"],
): Generator<SchemaFault> {
  const fits = findKeyword(draft, key)?.fits;
  if (fits === undefined || fits(value)) {
    yield { what: "holds the same twice", path };
    return;
  }
  // What lies inside a choice is said once, by the choice.
  for (const error of (fits.errors ?? []).filter(({ schemaPath }) => !schemaPath.includes("/anyOf/"))) {
    const inside = readPointer(error.instancePath, value);
    yield { what: describeError(key, error, valueAt(value, inside)), path: [...path, ...inside] };
  }
}

/** Why a pattern is no regular expression with the flag `u`, which is how schemas are applied. Does not run it. */
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

/** What reading a schema as a whole gives. */
export interface SchemaReading {
  faults: SchemaFault[];
  survey: SchemaSurvey | undefined;
  /** Where its references lead; `undefined` where it has none. */
  references: FollowedReferences | undefined;
}

/** Reads a schema: its faults, and what it takes to apply it. Pure; no pattern is run. */
export function readSchema(schema: Schema): SchemaReading {
  const survey = surveySchema(schema);
  if (survey === undefined) {
    const known = "must name JSON Schema 2020-12 or draft-07";
    const fault = { what: `${known}, but is ${describeValue(schema.$schema)}`, path: ["$schema"] };
    return { faults: [fault], survey, references: undefined };
  }
  const faults = [...findOwnFaults(survey)];
  if (!survey.refers) return { faults, survey, references: undefined };
  const references = followReferences(schema, survey.draft);
  for (const one of references.elsewhere) faults.push(...findOwnFaults(one));
  faults.push(...references.faults);
  return { faults, survey, references };
}

/**
 * Everything that keeps a JSON Schema from being used: what its draft's meta-schema forbids, patterns that are no regular
 * expressions, references that lead out of the schema, nowhere, in a circle, or through too many schemas. Pure; no
 * pattern is run.
 */
export function findSchemaFaults(schema: Schema): SchemaFault[] {
  return readSchema(schema).faults;
}
