import { describeValue, keywords, type SchemaFault } from "./keywords.ts";
import { findExcess } from "./schema-bound.ts";
import { type FollowedReferences, followReferences } from "./schema-references.ts";
import { type Draft, listPatterns, type PlacedSchema, type Schema, surveySchema } from "./schema-survey.ts";

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

/** The faults of a schema itself: what the meta-schema rejects, and invalid patterns. */
function* findOwnFaults(placed: PlacedSchema, draft: Draft): Generator<SchemaFault> {
  for (const [key, value] of Object.entries(placed.schema))
    for (const { what, path } of keywords[draft].get(key)?.findFaults(value) ?? [])
      yield { what, path: [...placed.path, key, ...path] };
  for (const { pattern, path } of listPatterns(placed)) {
    const reason = explainInvalidPattern(pattern);
    if (reason !== undefined) yield { what: `is not a regular expression (${reason})`, path };
  }
}

/** The result of reading a whole schema. */
interface SchemaReading {
  faults: SchemaFault[];
  references: FollowedReferences;
}

const noReferences: FollowedReferences = { elsewhere: [], faults: [], targets: new Map() };

const readings = new WeakMap<Schema, SchemaReading>();

/** Finds the faults of a schema, once, and resolves its references. Pure; runs no patterns. */
export function readSchema(schema: Schema): SchemaReading {
  const reading = readings.get(schema) ?? readNewSchema(schema);
  readings.set(schema, reading);
  return reading;
}

function readNewSchema(schema: Schema): SchemaReading {
  const survey = surveySchema(schema);
  if (survey === undefined) {
    const known = "must be the URI of JSON Schema 2020-12 or draft-07";
    const fault = { what: `${known}, but it is ${describeValue(schema.$schema)}`, path: ["$schema"] };
    return { faults: [fault], references: noReferences };
  }
  const { draft } = survey;
  const references = followReferences(survey);
  const faults = [...survey.schemas, ...references.elsewhere].flatMap((one) => [
    ...findOwnFaults(one, draft),
  ]);
  faults.push(...references.faults);
  const excess = faults.length === 0 && findExcess(schema, references.targets);
  if (excess) faults.push({ what: excess, path: [] });
  return { faults, references };
}

/**
 * Finds the faults of a JSON Schema: violations of its meta-schema, invalid patterns, and references that are external,
 * unresolvable, cyclic, or chained too long; and that it takes too many steps. Pure; runs no patterns.
 */
export function findSchemaFaults(schema: Schema): SchemaFault[] {
  return readSchema(schema).faults;
}
