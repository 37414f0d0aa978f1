import { isRecord } from "../data/parse-json.ts";
import { findSchemaFaults } from "../extension-schema/json-schema/schema-faults.ts";
import { isExponential } from "../extension-schema/patterns/exponential-pattern.ts";
import { describeViolation, type Violation } from "./describe-violation.ts";
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
type Compiled = { validate: Validate } | { fault: string };

const mostViolations = 10;

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

/** Compiles a pattern as ajv would, unless applying it could take for ever. */
function compilePattern(pattern: string, flags: string): RegExp {
  if (isExponential(pattern)) throw new Error("a pattern in it can backtrack for ever");
  return new RegExp(pattern, flags);
}

async function createCompiler(draft: Draft): Promise<(schema: Schema) => Validate> {
  const options = {
    allErrors: true,
    useDefaults: true,
    strict: false,
    // A property named `constructor` is there only if it is the value's own.
    ownProperties: true,
    validateFormats: false,
    // Checked by `findSchemaFaults`, in a fraction of the time.
    validateSchema: false,
    meta: false,
    // Schemas of different packs may have the same `$id`.
    addUsedSchema: false,
    logger: false as const,
    code: { regExp: Object.assign(compilePattern, { code: "" }) },
  };
  const ajv =
    draft === "draft2020"
      ? new (await import("ajv/dist/2020.js")).Ajv2020(options)
      : new (await import("ajv")).Ajv(options);
  return (schema) => ajv.compile(schema) as Validate;
}

function findFault(schema: Schema, draft: Draft): string | undefined {
  const [first] = findSchemaFaults({ ...schema, $schema: draftUris[draft] });
  return first === undefined ? undefined : `${writePointer(first.path)} ${first.what}`.trim();
}

/** What the violations say, each once. */
function describeViolations(errors: readonly Violation[]): string {
  const told = [...new Set(errors.map(describeViolation))];
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
  const compilers = new Map<Draft, Promise<(schema: Schema) => Validate>>();
  const compiled = new WeakMap<Schema, Promise<Compiled>>();

  const compile = async (schema: Schema): Promise<Compiled> => {
    const draft = findDraft(schema);
    if (draft === undefined) return { fault: "/$schema must name JSON Schema 2020-12 or draft-07" };
    try {
      const fault = findFault(schema, draft);
      if (fault !== undefined) return { fault };
      let compiler = compilers.get(draft);
      if (compiler === undefined) {
        compiler = createCompiler(draft);
        compilers.set(draft, compiler);
      }
      const { $schema: _, ...rest } = schema;
      return { validate: (await compiler)(rest) };
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
      try {
        if (result.validate(copy)) return { ok: true, value: copy };
      } catch {
        return fail("nests too deep");
      }
      const errors = result.validate.errors ?? [];
      const missing = errors
        .filter(({ keyword, instancePath }) => keyword === "required" && instancePath === "")
        .map(({ params }) => String(params.missingProperty));
      return fail(describeViolations(errors), [...new Set(missing)]);
    },
  };
  return validator;
}
