import type { CodeKeywordDefinition } from "ajv";
import { isRecord } from "../data/parse-json.ts";
import { findSchemaFaults } from "../extension-schema/json-schema/schema-faults.ts";
import { CheckBudget, CheckLimit } from "./check-budget.ts";
import { describeViolation, type Violation } from "./describe-violation.ts";
import { createSchemaPattern } from "./schema-pattern.ts";
import { uniqueItemsKeyword } from "./unique-items.ts";
import { writePointer } from "./write-pointer.ts";

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
    };

export interface SchemaValidator {
  /**
   * Checks an object against a JSON Schema (2020-12, or draft-07 where `$schema` names it or an older one). Never
   * changes the object, never fetches, and never rejects: a schema that cannot be used is said in the result. No schema
   * and `{}` take any object.
   */
  check(schema: Schema | undefined, value: unknown): Promise<SchemaCheck>;
  /** The same for a value that nobody else holds: defaults are filled into it. */
  checkOwned(schema: Schema | undefined, value: Record<string, unknown>): Promise<SchemaCheck>;
}

interface Validate {
  (value: unknown): boolean;
  errors?: readonly Violation[] | null;
}

type Draft = "draft2020" | "draft07";
interface Validators {
  /** Stops at the first violation. */
  first: Validate;
  /** Finds all of them. */
  all(): Validate;
}
type Compiled = Validators | { fault: string };
type Compile = (schema: Schema) => Validators;

const mostViolations = 10;
/** Violations that are looked at; alternatives inside each other have many. */
const mostRead = 1000;
/** Values, and characters in texts by the hundred, in what is looked through for all violations. */
const mostNodes = 2000;

/** Whether a value is small enough to be told all its faults. Does not walk on once it is not. */
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

const draftUris: Readonly<Record<Draft, string>> = {
  draft2020: "https://json-schema.org/draft/2020-12/schema",
  draft07: "http://json-schema.org/draft-07/schema",
};

/** Drafts 4 and 6 are read as 7, and 2019-09 as 2020-12: what they share is nearly all that tools write. */
function findDraft({ $schema }: Schema): Draft | undefined {
  if ($schema === undefined) return "draft2020";
  if (typeof $schema !== "string") return undefined;
  if (/^https?:\/\/json-schema\.org\/draft-0[467]\/(?:hyper-)?schema#?$/.test($schema)) return "draft07";
  return /^https?:\/\/json-schema\.org\/draft\/20(?:19-09|20-12)\/schema#?$/.test($schema)
    ? "draft2020"
    : undefined;
}

/** `contains`, without a violation for each of the items, perhaps millions, that are not what is looked for. */
const withoutInnerErrors = (contains: CodeKeywordDefinition): CodeKeywordDefinition => ({
  ...contains,
  // Where it stands anyway.
  before: "unevaluatedItems",
  code(context, ...rest) {
    const subschema = context.subschema.bind(context);
    context.subschema = (parts, valid) => subschema({ ...parts, createErrors: false }, valid);
    contains.code(context, ...rest);
  },
});

async function createCompiler(draft: Draft, budget: CheckBudget): Promise<Compile> {
  const regExp = (pattern: string) => createSchemaPattern(pattern, budget);
  const options = {
    useDefaults: true,
    strict: false,
    // A property named `constructor` is there only if it is the value's own.
    ownProperties: true,
    validateFormats: false,
    // Checked by `findSchemaFaults`, in a fraction of the time.
    validateSchema: false,
    meta: false,
    logger: false as const,
    code: { regExp: Object.assign(regExp, { code: "" }) },
  };
  const { Ajv } =
    draft === "draft2020" ? { Ajv: (await import("ajv/dist/2020.js")).Ajv2020 } : await import("ajv");
  const create = (allErrors: boolean) => {
    const ajv = new Ajv({ ...options, allErrors });
    ajv.removeKeyword("uniqueItems").addKeyword(uniqueItemsKeyword(budget));
    const contains = ajv.getKeyword("contains");
    if (!allErrors && typeof contains === "object") {
      ajv.removeKeyword("contains").addKeyword(withoutInnerErrors(contains as CodeKeywordDefinition));
    }
    return ajv;
  };
  const compileWith = (ajv: ReturnType<typeof create>, schema: Schema): Validate => {
    try {
      return ajv.compile(schema) as Validate;
    } finally {
      // Known only while it refers to itself: schemas of different packs may have the same `$id`.
      ajv.removeSchema();
    }
  };
  const forFirst = create(false);
  // Most schemas never need it.
  let forAll: ReturnType<typeof create> | undefined;
  return (schema) => {
    let all: Validate | undefined;
    return {
      first: compileWith(forFirst, schema),
      all: () => {
        forAll ??= create(true);
        all ??= compileWith(forAll, schema);
        return all;
      },
    };
  };
}

function findFault(schema: Schema, draft: Draft): string | undefined {
  const [first] = findSchemaFaults({ ...schema, $schema: draftUris[draft] });
  return first === undefined ? undefined : `${writePointer(first.path)} ${first.what}`.trim();
}

/** What the violations say, each once. */
function describeViolations(errors: readonly Violation[]): string {
  const told = [...new Set(errors.slice(0, mostRead).map(describeViolation))];
  const rest = told.length - mostViolations;
  return told.slice(0, mostViolations).join("; ") + (rest > 0 ? `; and ${rest} more` : "");
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

/** Loads its library with the first schema that says anything, and compiles each schema object once. */
export function createSchemaValidator(): SchemaValidator {
  // One for all schemas, since a check runs without a pause.
  const budget = new CheckBudget();
  const compilers = new Map<Draft, Promise<Compile>>();
  const compiled = new WeakMap<Schema, Promise<Compiled>>();

  const compile = async (schema: Schema): Promise<Compiled> => {
    const draft = findDraft(schema);
    if (draft === undefined) return { fault: "/$schema must name JSON Schema 2020-12 or draft-07" };
    try {
      const fault = findFault(schema, draft);
      if (fault !== undefined) return { fault };
      let compiler = compilers.get(draft);
      if (compiler === undefined) {
        compiler = createCompiler(draft, budget);
        compilers.set(draft, compiler);
      }
      const { $schema: _, ...rest } = schema;
      return (await compiler)(rest);
    } catch (error) {
      return { fault: (error as Error).message };
    }
  };

  const validator: SchemaValidator = {
    async check(schema, value) {
      const copy = isRecord(value) ? cloneData(value) : undefined;
      if (copy === undefined) return fail(isRecord(value) ? "must be JSON" : "must be object");
      return validator.checkOwned(schema, copy);
    },
    async checkOwned(schema, copy) {
      if (schema === undefined || Object.keys(schema).length === 0) return { ok: true, value: copy };
      let entry = compiled.get(schema);
      if (entry === undefined) {
        entry = compile(schema);
        compiled.set(schema, entry);
      }
      const result = await entry;
      if ("fault" in result) {
        return { ...fail("the schema cannot be used"), schemaFault: result.fault } as SchemaCheck;
      }
      let errors: readonly Violation[];
      try {
        budget.reset();
        if (result.first(copy)) return { ok: true, value: copy };
        errors = result.first.errors ?? [];
        if (isSmall(copy)) {
          const all = result.all();
          budget.reset();
          if (!all(copy)) errors = all.errors ?? [];
        }
      } catch (error) {
        return fail(error instanceof CheckLimit ? error.message : "nests too deep");
      }
      const missing = errors
        .filter(({ keyword, instancePath }) => keyword === "required" && instancePath === "")
        .map(({ params }) => String(params.missingProperty));
      return fail(describeViolations(errors), [...new Set(missing)]);
    },
  };
  return validator;
}
