import { describeValue } from "./keywords.ts";
import { findExcess } from "./schema-bound.ts";
import { type FollowedReferences, followReferences } from "./schema-references.ts";
import { type Schema, type SchemaFault, type SchemaSurvey, surveySchema } from "./schema-survey.ts";

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

function* findOwnFaults({ faults, patterns }: SchemaSurvey): Generator<SchemaFault> {
  yield* faults;
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
  const references = survey.refers ? followReferences(schema, survey.draft) : undefined;
  for (const one of references?.elsewhere ?? []) faults.push(...findOwnFaults(one));
  faults.push(...(references?.faults ?? []));
  const excess = faults.length === 0 && findExcess(schema, references?.targets);
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
