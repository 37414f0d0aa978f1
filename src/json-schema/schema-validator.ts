import { type Context, createContext, Script } from "node:vm";
import { isRecord } from "../data/parse-json.ts";
import { writePointer } from "../extension-schema/pointer.ts";
import { describeViolations } from "./describe-violation.ts";
import { SchemaChecker } from "./schema-check.ts";
import { readSchema } from "./schema-faults.ts";
import { PatternLimit } from "./schema-pattern.ts";
import { type Draft, draftUris } from "./schema-survey.ts";

/** Limit on one match with backtracking: many times what a string of that length takes with any usual pattern. */
const longestMatch = 1000;

// A script is the only way to interrupt JavaScript's engine.
const script = new Script("expression.test(text)");
let context: Context | undefined;

/** Throws if the match takes too long. */
export function backtrack(expression: RegExp, text: string): boolean {
  context ??= createContext(Object.create(null));
  Object.assign(context, { expression, text });
  return script.runInContext(context, { timeout: longestMatch }) as boolean;
}

type Schema = Readonly<Record<string, unknown>>;

/** The result of checking a value against a schema. */
export type SchemaCheck =
  /** A copy of the value with defaults. */
  | { ok: true; value: Record<string, unknown> }
  | {
      ok: false;
      /** The first violations with JSON pointers, on one line. */
      message: string;
      /** Missing required properties of the value itself. */
      missing: readonly string[];
      /** Set if the schema is not valid, so the value was not checked. */
      schemaFault?: string;
      /** Set if the check was stopped: the exceeded limit, which continues a message after a colon. */
      stopped?: string;
    };

export interface SchemaValidator {
  /**
   * Checks an object against a JSON Schema (2020-12, or draft-07 if `$schema` names it or an older draft). Does not change
   * the object, fetch, or throw: the result reports an invalid schema. `undefined` and `{}` accept any object.
   */
  check(schema: Schema | undefined, value: unknown): SchemaCheck;
  /** The same, but adds defaults to the value, which the caller must own. */
  checkOwned(schema: Schema | undefined, value: Record<string, unknown>): SchemaCheck;
}

type Compiled = { checker: SchemaChecker; schema: Schema } | { fault: string };

/** Reads drafts 4 and 6 as 7, and 2019-09 as 2020-12, because tools rarely use the differences. */
function findDraft({ $schema }: Schema): Draft | undefined {
  if ($schema === undefined) return "draft2020";
  if (typeof $schema !== "string") return undefined;
  if (/^https?:\/\/json-schema\.org\/draft-0[467]\/(?:hyper-)?schema#?$/.test($schema)) return "draft07";
  return /^https?:\/\/json-schema\.org\/draft\/20(?:19-09|20-12)\/schema#?$/.test($schema)
    ? "draft2020"
    : undefined;
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

function compile(written: Schema): Compiled {
  const draft = findDraft(written);
  if (draft === undefined) return { fault: "/$schema must be the URI of JSON Schema 2020-12 or draft-07" };
  try {
    const schema = { ...written, $schema: draftUris[draft] };
    const { faults, references } = readSchema(schema);
    const [fault] = faults;
    if (fault !== undefined) return { fault: `${writePointer(fault.path)} ${fault.what}`.trim() };
    return { checker: new SchemaChecker(draft, references.targets, backtrack), schema };
  } catch (error) {
    return { fault: error instanceof RangeError ? "it is nested too deeply" : (error as Error).message };
  }
}

/** Compiles each schema object once. */
export function createSchemaValidator(): SchemaValidator {
  const compiled = new WeakMap<Schema, Compiled>();

  const validator: SchemaValidator = {
    check(schema, value) {
      const copy = isRecord(value) ? cloneData(value) : undefined;
      if (copy === undefined) return fail(isRecord(value) ? "must be JSON" : "must be object");
      return validator.checkOwned(schema, copy);
    },
    checkOwned(schema, copy) {
      if (schema === undefined || Object.keys(schema).length === 0) return { ok: true, value: copy };
      const usable = compiled.get(schema) ?? compile(schema);
      compiled.set(schema, usable);
      if ("fault" in usable) return { ...fail("the schema is not valid"), schemaFault: usable.fault };
      const { checker, schema: top } = usable;
      try {
        if (checker.accepts(top, copy)) return { ok: true, value: copy };
        const violations = checker.findViolations(top, copy);
        const missing = violations.filter(({ path, isMissing }) => isMissing && path.length === 1);
        return fail(describeViolations(violations), [...new Set(missing.map(({ path }) => String(path[0])))]);
      } catch (error) {
        const stopped =
          error instanceof PatternLimit ? error.message : "the values and schemas are nested too deeply";
        return { ...fail(`the check was stopped: ${stopped}`), stopped };
      }
    },
  };
  return validator;
}
