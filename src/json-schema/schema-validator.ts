import { isRecord } from "../data/parse-json.ts";
import { writePointer } from "../extension-schema/pointer.ts";
import { CheckBudget, CheckLimit } from "./check-budget.ts";
import { CheckRun, EnoughViolations } from "./check-run.ts";
import { compileSchema } from "./compile-schema.ts";
import { describeViolation, type Violation } from "./describe-violation.ts";
import { readSchema } from "./schema-faults.ts";
import type { SchemaNode } from "./schema-node.ts";
import { type Draft, draftUris } from "./schema-survey.ts";

type Schema = Readonly<Record<string, unknown>>;

/** What checking a value against a schema says. */
export type SchemaCheck =
  /** A copy of the value, with defaults filled in. */
  | { ok: true; value: Record<string, unknown> }
  | {
      ok: false;
      /** Every violation (of many the first ones), with its JSON pointer, on one line. */
      message: string;
      /** Names of required properties that the value itself lacks. */
      missing: readonly string[];
      /** Set where it is the schema that is at fault: the value was not looked at. */
      schemaFault?: string;
      /** Set where the check did not come to its end: the limit that it reached, as a clause. */
      stopped?: string;
    };

export interface SchemaValidator {
  /**
   * Checks an object against a JSON Schema (2020-12, or draft-07 where `$schema` names it or an older one). Never
   * changes the object, never fetches, and never throws: a schema that cannot be used is said in the result. No schema
   * and `{}` take any object. The work is bounded, and ends early once `isOverdue` says so.
   */
  check(schema: Schema | undefined, value: unknown, isOverdue?: () => boolean): SchemaCheck;
  /** The same for a value that only the caller holds: defaults are filled into it. */
  checkOwned(
    schema: Schema | undefined,
    value: Record<string, unknown>,
    isOverdue?: () => boolean,
  ): SchemaCheck;
}

type Compiled = SchemaNode | { fault: string };

const mostViolations = 10;
/** Values, and characters in strings by the hundred, in what is looked through for all violations. */
const mostNodes = 2000;

/** Whether a value is small enough for all its violations to be listed. Stops walking once it is not. */
function isSmall(value: unknown): boolean {
  const pending = [value];
  let nodes = 0;
  for (let one = pending.pop(); pending.length > 0 || one !== undefined; one = pending.pop()) {
    nodes += 1 + (typeof one === "string" ? one.length / 100 : 0);
    if (nodes > mostNodes) return false;
    if (typeof one !== "object" || one === null) continue;
    const inner: unknown[] = Array.isArray(one) ? one : Object.values(one);
    if (inner.length > mostNodes) return false;
    pending.push(...inner);
  }
  return true;
}

/** Drafts 4 and 6 are read as 7, and 2019-09 as 2020-12: what they share is nearly all that tools write. */
function findDraft({ $schema }: Schema): Draft | undefined {
  if ($schema === undefined) return "draft2020";
  if (typeof $schema !== "string") return undefined;
  if (/^https?:\/\/json-schema\.org\/draft-0[467]\/(?:hyper-)?schema#?$/.test($schema)) return "draft07";
  return /^https?:\/\/json-schema\.org\/draft\/20(?:19-09|20-12)\/schema#?$/.test($schema)
    ? "draft2020"
    : undefined;
}

/** What the violations say, each once. */
function describeViolations(violations: readonly Violation[]): string {
  const texts = [...new Set(violations.map(describeViolation))];
  const rest = texts.length - mostViolations;
  return texts.slice(0, mostViolations).join("; ") + (rest > 0 ? `; and ${rest} more` : "");
}

const fail = (message: string, missing: readonly string[] = []): SchemaCheck => ({
  ok: false,
  message,
  missing,
});

function cloneData(value: Record<string, unknown>): Record<string, unknown> | undefined {
  try {
    return structuredClone(value);
  } catch {
    return undefined;
  }
}

function compile(written: Schema, budget: CheckBudget): Compiled {
  const draft = findDraft(written);
  if (draft === undefined) return { fault: "/$schema must name JSON Schema 2020-12 or draft-07" };
  try {
    const schema = { ...written, $schema: draftUris[draft] };
    const { faults, ...reading } = readSchema(schema);
    const [fault] = faults;
    if (fault !== undefined) return { fault: `${writePointer(fault.path)} ${fault.what}`.trim() };
    return compileSchema(schema, draft, reading, budget);
  } catch (error) {
    return { fault: error instanceof RangeError ? "it nests too deep" : (error as Error).message };
  }
}

/** Everything that a value breaks, as far as the budget goes. */
function findViolations(node: SchemaNode, value: unknown, run: CheckRun): readonly Violation[] {
  run.mode = isSmall(value) ? "all" : "first";
  try {
    node.check(value, run, undefined);
  } catch (error) {
    // What was found before says enough.
    if (!(error instanceof EnoughViolations || run.violations.length > 0)) throw error;
  }
  return run.violations;
}

/** Compiles each schema object once. */
export function createSchemaValidator(): SchemaValidator {
  // One for all schemas, since a check runs without a pause.
  const budget = new CheckBudget();
  const compiled = new WeakMap<Schema, Compiled>();

  const validator: SchemaValidator = {
    check(schema, value, isOverdue) {
      const copy = isRecord(value) ? cloneData(value) : undefined;
      if (copy === undefined) return fail(isRecord(value) ? "must be JSON" : "must be object");
      return validator.checkOwned(schema, copy, isOverdue);
    },
    checkOwned(schema, copy, isOverdue) {
      if (schema === undefined || Object.keys(schema).length === 0) return { ok: true, value: copy };
      const node = compiled.get(schema) ?? compile(schema, budget);
      compiled.set(schema, node);
      if ("fault" in node) return { ...fail("the schema cannot be used"), schemaFault: node.fault };
      try {
        budget.start(copy, isOverdue);
        const run = new CheckRun(budget);
        if (node.check(copy, run, undefined)) return { ok: true, value: copy };
        budget.start(copy, isOverdue);
        const violations = findViolations(node, copy, run);
        const missing = violations.filter(({ path, isMissing }) => isMissing && path.length === 1);
        return fail(describeViolations(violations), [...new Set(missing.map(({ path }) => String(path[0])))]);
      } catch (error) {
        const stopped = error instanceof CheckLimit ? error.message : "the values and schemas nest too deep";
        return { ...fail(`the check was stopped: ${stopped}`), stopped };
      } finally {
        budget.start();
      }
    },
  };
  return validator;
}
