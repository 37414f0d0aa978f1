import { CheckRun, findViolations } from "./check-run.ts";
import { compileSchema } from "./compile-schema.ts";
import { describeViolations } from "./describe-violation.ts";
import { readSchema } from "./schema-faults.ts";
import { PatternLimit } from "./schema-pattern.ts";
import { type Schema, type SchemaFault, surveySchema } from "./schema-survey.ts";

/**
 * Finds each `default` that its own schema rejects. `what` describes the violations, and the path is that of the default.
 * Returns nothing for an invalid schema, and skips a default that cannot be checked within the limits.
 */
export function findInvalidDefaults(schema: Schema): SchemaFault[] {
  const survey = surveySchema(schema);
  if (survey === undefined || survey.defaults.length === 0) return [];
  const { faults, references } = readSchema(schema);
  if (faults.length > 0) return [];
  const found: SchemaFault[] = [];
  const nodeOf = compileSchema(survey.draft, references);
  for (const { schema: one, path } of survey.defaults) {
    // Checking may add the defaults of inner schemas, as a call does.
    const value = structuredClone(one.default);
    const run = new CheckRun();
    try {
      if (nodeOf(one).check(value, run, undefined)) continue;
      const what = describeViolations(findViolations(nodeOf(one), value, run));
      found.push({ what, path: [...path, "default"] });
    } catch (error) {
      if (!(error instanceof PatternLimit || error instanceof RangeError)) throw error;
    }
  }
  return found;
}
