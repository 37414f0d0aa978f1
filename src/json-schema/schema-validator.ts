import { Ajv, type ErrorObject, type FuncKeywordDefinition, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { formatJson } from "../data/json-values.ts";
import { isRecord } from "../data/parse-json.ts";
import { writePointer } from "../extension-schema/pointer.ts";
import { listOf, printable, quote, shorten } from "../problems/text.ts";
import { keywords, type SchemaFault } from "./meta-schema.ts";
import { compilePattern, findPattern } from "./patterns/linear-pattern.ts";
import { readSchema, type Schema, type SchemaReading } from "./read-schema.ts";
import { levels, mostWork } from "./schema-work.ts";

export interface Rejection {
  /** The first violations with JSON pointers, on one line. */
  message: string;
  /** Whether the schema is not valid, so that no value can be checked. The message says why. */
  isOfSchema: boolean;
}

/** This module, which callers load on demand. */
export type SchemaValidator = typeof import("./schema-validator.ts");

// Words.

const longestWord = 200;
const mostChoices = 10;
const mostTexts = 10;
/** Nested alternatives may have many. */
const mostErrors = 1000;

function listChoices(values: readonly unknown[]): string {
  const choices = values
    .slice(0, mostChoices)
    .map((value) => printable(shorten(JSON.stringify(value), longestWord)));
  return values.length > mostChoices ? `${choices.join(", ")}, …` : listOf(choices);
}

/** Formats a violation: `/summary is required`, `/count must be integer`. */
function describeError({ keyword, params, instancePath, message }: ErrorObject): string {
  const extra = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  const isExtra = ["required", "additionalProperties", "unevaluatedProperties"].includes(keyword);
  const pointer = isExtra ? instancePath + writePointer([extra]) : instancePath;
  const words: Readonly<Record<string, () => string>> = {
    required: () => "is required",
    additionalProperties: () => "is not allowed",
    unevaluatedProperties: () => "is not allowed",
    "false schema": () => "is not allowed",
    const: () => `must be ${listChoices([params.allowedValue])}`,
    enum: () => `must be one of ${listChoices(params.allowedValues)}`,
    pattern: () => `must match the pattern ${quote(params.pattern)}`,
  };
  const what = words[keyword]?.() ?? message ?? "";
  return pointer === "" ? what : `${printable(shorten(pointer, longestWord))} ${what}`;
}

function describeErrors(errors: readonly ErrorObject[] | null | undefined): string {
  const texts = [...new Set((errors ?? []).slice(0, mostErrors).map(describeError))];
  const rest = texts.length - mostTexts;
  return texts.slice(0, mostTexts).join("; ") + (rest > 0 ? `; and ${rest} more` : "");
}

// Patterns.

/** Thrown if a string is not matched with a pattern. The message continues after a colon. */
class PatternLimit extends Error {}

/** In characters of a string. */
const longestBacktracked = 1000;

/**
 * Compiles a valid pattern of a schema with the flag `u`. Our engine matches without backtracking. A pattern that it does
 * not support (lookarounds, backreferences, very large counts) matches short strings in calls; otherwise, `test` throws `PatternLimit`.
 */
export function createSchemaPattern(pattern: string, isCall: boolean) {
  const native = new RegExp(pattern, "u");
  const own = compilePattern(pattern);
  const test = (text: string) => {
    if (typeof own === "object") return findPattern(own, text);
    if (!isCall) throw new PatternLimit(`only calls match the pattern ${quote(pattern)}`);
    if (text.length > longestBacktracked)
      throw new PatternLimit(`a string is too long to be matched with the pattern ${quote(pattern)}`);
    return native.test(text);
  };
  // ajv tells patterns apart by their text.
  return { test, toString: () => pattern };
}

// ajv.

/** Checks it in linear time. */
const uniqueItems: FuncKeywordDefinition = {
  keyword: "uniqueItems",
  type: "array",
  before: "items",
  validate: (isDemanded: boolean, items: readonly unknown[]) =>
    !isDemanded || new Set(items.map((item) => formatJson(item))).size === items.length,
  errors: false,
  error: { message: "must NOT have duplicate items" },
};

const options: Options = {
  strict: false,
  strictNumbers: true,
  logger: false,
  validateFormats: false,
  validateSchema: false,
  meta: false,
  addUsedSchema: false,
  inlineRefs: false,
  ownProperties: true,
  useDefaults: true,
};

/** Keywords that say nothing about values, or that references stand for. */
const leftOut = new Set(
  "$schema $id $anchor $dynamicAnchor $recursiveAnchor $vocabulary $ref $dynamicRef $recursiveRef $defs definitions".split(
    " ",
  ),
);

const isTag = (schema: unknown) => isRecord(schema) && ("const" in schema || "enum" in schema);

/** Keywords whose schemas are only tried, so that no defaults are added. */
const trying = new Set(["anyOf", "oneOf", "not", "if", "contains", "propertyNames"]);

/** Lets ajv begin a set of the properties that schemas have looked at. */
const evaluatesNothing = { patternProperties: { "[^\\s\\S]": true } };

/**
 * A copy of a schema for ajv: without addresses, and what references mean in one place. Unknown keywords are left out,
 * because ajv knows some of them, and looks for addresses in the others.
 */
function writeForAjv(schema: Schema, { draft = "draft2020", schemas, references }: SchemaReading): object {
  const placed = new Set<unknown>(schemas.map((one) => one.schema));
  const definitions: unknown[] = [evaluatesNothing];
  // ajv loses properties that some schema has looked at, if the first schema that it tries does not apply.
  const isMarked = schemas.some(({ schema: one }) => "unevaluatedProperties" in one);
  const places = [new Map<unknown, number>(), new Map<unknown, number>()] as const;

  function refer(target: unknown, isTried: boolean): object {
    const known = places[isTried ? 1 : 0];
    const place = known.get(target) ?? definitions.push(undefined) - 1;
    if (!known.has(target)) {
      known.set(target, place);
      definitions[place] = copy(target, isTried);
    }
    return { $ref: `#/definitions/${place}` };
  }
  function copy(value: unknown, isTried: boolean): unknown {
    if (Array.isArray(value)) return value.map((inner) => copy(inner, isTried));
    if (!isRecord(value)) return value;
    const isSchema = placed.has(value);
    const isKept = (key: string) =>
      key === "const" || (key === "default" && !isTried) || (keywords[draft].has(key) && !leftOut.has(key));
    const kept = Object.entries(value).filter(([key]) => !isSchema || isKept(key));
    // First what can reject an alternative before values inside it are looked at.
    kept.sort(([, one], [, other]) => Number(isTag(other)) - Number(isTag(one)));
    const copied: Record<string, unknown> = Object.fromEntries(
      kept.map(([key, inner]) => [key, copy(inner, isTried || (isSchema && trying.has(key)))]),
    );
    const targets = (references.get(value) ?? []).map(({ target }) => refer(target, isTried));
    if (isSchema && isMarked) copied.$ref = "#/definitions/0";
    if (isSchema && isMarked && isRecord(value.if)) {
      // Else, a condition that does not match would look at properties, too.
      copied.if = { not: { not: refer(value.if, true) } };
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      copied.then = { allOf: [refer(value.if, true), copied.then ?? true] };
    }
    if (targets.length > 0) copied.allOf = [...targets, ...((copied.allOf ?? []) as object[])];
    return copied;
  }
  return { ...(copy(schema, false) as object), definitions };
}

/** Schemas of more than these are large. */
const mostNested = 500;

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Object.values(value).reduce<number>((most, inner) => Math.max(most, depthOf(inner)), 0);
}

/** Compiles a schema, or one inside it, without faults. */
function createJudge(schema: Schema, reading: SchemaReading, isCall: boolean) {
  const { draft = "draft2020" } = reading;
  const written = writeForAjv(schema, reading);
  const engine = (pattern: string) => createSchemaPattern(pattern, isCall);
  const regExp = Object.assign(engine, { code: "createSchemaPattern" });
  // Optimizing takes longer than it saves. `isThorough`: finds all violations, not the first.
  const compile = (isThorough: boolean): ValidateFunction =>
    new (draft === "draft07" ? Ajv : Ajv2020)({
      ...options,
      allErrors: isThorough,
      code: { optimize: false, regExp },
    })
      .removeKeyword("uniqueItems")
      .addKeyword(uniqueItems)
      .compile(written);
  // A function that ends at the first violation is nested as deeply as there are schemas. Most values are valid, so the other is rarely needed.
  let thorough = reading.schemas.length > mostNested ? compile(true) : undefined;
  const validate = thorough ?? compile(false);
  return (value: unknown, isForeign: boolean) => {
    // Alternatives of values inside each other could take too long if none ends at its first violation.
    const isLong = () => reading.work ** (depthOf(value) / levels) > mostWork;
    if ((isForeign && isLong()) || validate(value)) return undefined;
    if (isLong()) return describeErrors(validate.errors);
    thorough ??= compile(true);
    thorough(value);
    return describeErrors(thorough.errors);
  };
}

function compile(schema: Schema, isForeign: boolean): ReturnType<typeof createJudge> | string {
  try {
    const reading = readSchema(schema);
    const [fault] = reading.faults;
    if (fault !== undefined) return `${writePointer(fault.path)} ${fault.what}`.trim();
    if (isForeign && reading.schemas.length > mostNested) return "it is large";
    return createJudge(schema, reading, true);
  } catch (error) {
    return error instanceof RangeError ? "it is nested too deeply" : (error as Error).message;
  }
}

/** Of each schema object, compiled once. */
const judges = new WeakMap<Schema, ReturnType<typeof compile>>();

/**
 * Checks an object against a JSON Schema (2020-12, or draft-07 if `$schema` names it), and adds defaults to it:
 * the caller must own it. Does not fetch or throw. `undefined` and `{}` accept any object.
 * `isForeign`: the schema is from a remote server, and what could take this process much time is not checked.
 */
export function check(schema: Schema | undefined, value: unknown, isForeign = false): Rejection | undefined {
  const reject = (message: string, isOfSchema = false) => ({ message, isOfSchema });
  if (!isRecord(value)) return reject("must be object");
  if (schema === undefined || Object.keys(schema).length === 0) return undefined;
  const judge = judges.get(schema) ?? compile(schema, isForeign);
  judges.set(schema, judge);
  if (typeof judge === "string") return reject(judge, true);
  try {
    const message = judge(value, isForeign);
    return message === undefined ? undefined : reject(message);
  } catch (error) {
    const stopped =
      error instanceof PatternLimit ? error.message : "the values and schemas are nested too deeply";
    return reject(`the check was stopped: ${stopped}`);
  }
}

const countValues = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce<number>((count, inner) => count + countValues(inner), 1)
    : 1;

/**
 * Finds each `default` that its own schema rejects. `what` describes the violations, and the path is that of the default.
 * Returns nothing for an invalid schema, and skips a default that could take too much work or that only calls can check.
 */
export function findInvalidDefaults(whole: Schema): SchemaFault[] {
  const reading = readSchema(whole);
  const { draft, schemas, faults, work } = reading;
  const withDefaults = schemas.filter(({ schema }) => Object.hasOwn(schema, "default"));
  const isLarge = schemas.length > mostNested;
  if (draft === undefined || faults.length > 0 || isLarge || withDefaults.length === 0) return [];
  return withDefaults.flatMap(({ schema, path }) => {
    // Checking may add the defaults of inner schemas, as a call does.
    const value = structuredClone(schema.default);
    if (depthOf(value) > levels || countValues(value) * work > mostWork) return [];
    try {
      const what = createJudge(schema, reading, false)(value, false);
      return what === undefined ? [] : [{ what, path: [...path, "default"] }];
    } catch (error) {
      if (error instanceof PatternLimit || error instanceof RangeError) return [];
      throw error;
    }
  });
}
