import { isRecord } from "../data/parse-json.ts";
import { quote } from "../problems/text.ts";
import { listChoices } from "./describe-violation.ts";
import type { Rule, SchemaContext } from "./schema-node.ts";
import type { Schema } from "./schema-survey.ts";
import { writeCanonical } from "./unique-items.ts";

export const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
export const isString = (value: unknown): boolean => typeof value === "string";

const typeTests: Readonly<Record<string, (value: unknown) => boolean>> = {
  array: Array.isArray,
  boolean: (value) => typeof value === "boolean",
  integer: Number.isInteger,
  null: (value) => value === null,
  number: isNumber,
  object: isRecord,
  string: isString,
};

/** The types that a schema allows; empty for all. Supports OpenAPI's `nullable`. */
export function typesOf({ type, nullable }: Schema): readonly string[] {
  const types: string[] = Array.isArray(type) ? type : typeof type === "string" ? [type] : [];
  return nullable === true && types.length > 0 && !types.includes("null") ? [...types, "null"] : types;
}

export const describeType = ({ type }: Schema) => `must be ${type}`;

export function typeRule(schema: Schema): Rule {
  const what = describeType(schema);
  const tests = typesOf(schema).map((type) => typeTests[type] ?? (() => false));
  const [only] = tests;
  if (tests.length === 1 && only !== undefined) return (value, run) => only(value) || run.fail(what);
  return (value, run) => tests.some((test) => test(value)) || run.fail(what);
}

/** Creates a message on first use, because most are never used. */
function lazily(write: () => string): () => string {
  let text: string | undefined;
  return () => {
    text ??= write();
    return text;
  };
}

/** A rule about equality as JSON. */
function choiceRule(allowed: readonly unknown[], text: string): Rule {
  const what = lazily(() => `must be ${text}${listChoices(allowed)}`);
  const isObject = (value: unknown) => typeof value === "object" && value !== null;
  const scalars = new Set(allowed.filter((value) => !isObject(value)));
  const objects = new Set(allowed.filter(isObject).map(writeCanonical));
  return (value, run) =>
    (isObject(value) ? objects.has(writeCanonical(value)) : scalars.has(value)) || run.fail(what);
}

/** Rules for values of every type. */
export function anyTypeRules(schema: Schema): Rule[] {
  const rules: Rule[] = [];
  if (schema.const !== undefined) rules.push(choiceRule([schema.const], ""));
  if (Array.isArray(schema.enum)) rules.push(choiceRule(schema.enum, "one of "));
  return rules;
}

type Compare = (value: number, limit: number) => boolean;

const comparisons: readonly (readonly [keyword: string, sign: string, holds: Compare])[] = [
  ["maximum", "<=", (value, limit) => value <= limit],
  ["minimum", ">=", (value, limit) => value >= limit],
  ["exclusiveMaximum", "<", (value, limit) => value < limit],
  ["exclusiveMinimum", ">", (value, limit) => value > limit],
];

/** Rules for numbers. */
export function numberRules(schema: Schema): Rule[] {
  const rules = comparisons.flatMap(([keyword, sign, holds]): Rule[] => {
    const limit = schema[keyword];
    if (typeof limit !== "number") return [];
    const what = `must be ${sign} ${limit}`;
    return [(value, run) => holds(value as number, limit) || run.fail(what)];
  });
  const { multipleOf } = schema;
  if (typeof multipleOf === "number") {
    const what = `must be multiple of ${multipleOf}`;
    rules.push((value, run) => Number.isInteger((value as number) / multipleOf) || run.fail(what));
  }
  return rules;
}

/** The length of a string in characters, which is exact only near the limit. Counts surrogate pairs only if necessary. */
function lengthOf(text: string, limit: number): number {
  if (text.length <= limit || text.length >= 2 * limit + 2) return text.length;
  let count = text.length;
  for (let index = 0; index + 1 < text.length; index++) {
    const isPair =
      (text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
    if (!isPair) continue;
    count--;
    index++;
  }
  return count;
}

/** Rules for strings. */
export function stringRules({ maxLength, minLength, pattern }: Schema, context: SchemaContext): Rule[] {
  const rules: Rule[] = [];
  if (typeof maxLength === "number") {
    const what = `must NOT have more than ${maxLength} characters`;
    rules.push((value, run) => lengthOf(value as string, maxLength) <= maxLength || run.fail(what));
  }
  if (typeof minLength === "number") {
    const what = `must NOT have fewer than ${minLength} characters`;
    rules.push((value, run) => {
      const text = value as string;
      // The number of characters is at most the number of UTF-16 code units.
      return (text.length >= minLength && lengthOf(text, minLength - 1) >= minLength) || run.fail(what);
    });
  }
  if (typeof pattern === "string") {
    const compiled = context.patternOf(pattern);
    const what = lazily(() => `must match the pattern ${quote(pattern)}`);
    rules.push((value, run) => compiled.test(value as string) || run.fail(what));
  }
  return rules;
}
