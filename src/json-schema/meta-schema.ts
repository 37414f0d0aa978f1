// The keywords of JSON Schema whose values have a form, as the meta-schemas of both drafts define it.
import * as z from "zod/mini";
import { isRecord } from "../data/parse-json.ts";
import { describeWritten } from "../extension-schema/pointer.ts";
import { type AnySchema, describeIssues, parseShape, rule } from "../extension-schema/shape-faults.ts";
import { type Path, quote } from "../problems/index.ts";

/** A fault in a JSON Schema, with its path from the top. `what` continues after the path. */
export interface SchemaFault {
  what: string;
  path: Path;
}

/** What a meta-schema says about a keyword. */
export interface Keyword {
  form: AnySchema;
  /** Where the value has schemas: it is one itself, an array of them, or an object of them. */
  holds: readonly ("itself" | "list" | "object")[];
}

/** A canonical string: equal exactly for equal JSON values. */
export function writeCanonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeCanonical).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? "";
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${writeCanonical(value[key])}`);
  return `{${members.join(",")}}`;
}

/** A scalar as written, or the type of an array or object. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return quote(value, 40);
  return typeof value === "object" ? describeWritten(value) : String(value);
}

/** What a meta-schema says against the value of a keyword, with paths from it. Does not look into schemas. */
export function findFaults({ form }: Keyword, value: unknown): SchemaFault[] {
  const { error } = parseShape(form, value);
  // The path of a schema's own fault is the caller's, so each begins with "it".
  const style = { path: () => "it", word: String, value: describeValue };
  return describeIssues(error?.issues ?? [], value, style).map(({ reason, path }) => ({
    what: reason.replace(/^it /, ""),
    path,
  }));
}

const text = z.string();
const flag = z.boolean();
const number = z.number();
const integer = number.check(
  rule((value) => (Number.isInteger(value) ? undefined : `must be an integer, but it is ${value}`)),
);
const count = integer.check(z.minimum(0));
const factor = number.check(
  rule((value) => (value > 0 ? undefined : `must be greater than 0, but it is ${value}`)),
);
const matching = (pattern: RegExp) =>
  text.check(z.regex(pattern, { error: "does not have the required form" }));
const schema = z.union([z.record(text, z.unknown()), flag], { error: "a schema: an object or a boolean" });

const listOf = (entry: AnySchema) => z.array(entry);
const filled = (entry: AnySchema) =>
  listOf(entry).check(rule((list) => (list.length > 0 ? undefined : "is empty")));
const hasDuplicates = (list: readonly unknown[]) => new Set(list.map(writeCanonical)).size < list.length;
const unique = (list: z.ZodMiniArray<AnySchema>) =>
  list.check(rule((entries) => (hasDuplicates(entries) ? "contains a duplicate" : undefined)));
const objectOf = (member: AnySchema) => z.record(text, member);
const names = unique(listOf(text));

const type = z.enum(["array", "boolean", "integer", "null", "number", "object", "string"]);
const typeOrList = z.union([type, unique(filled(type))], {
  error: `one of ${type.options.join(", ")}, or an array of these`,
});
const schemaOrNames = z.union([schema, names], { error: "a schema or an array of names" });
const schemaOrList = z.union([schema, filled(schema)], { error: "a schema or an array of schemas" });

/** Keywords with values of the same form, separated by spaces, and where these have schemas. */
type Row = readonly [form: AnySchema, list: string, ...holds: Keyword["holds"]];

const toTable = (rows: readonly Row[]): ReadonlyMap<string, Keyword> =>
  new Map(rows.flatMap(([form, list, ...holds]) => list.split(" ").map((name) => [name, { form, holds }])));

/** Keywords of both drafts. */
const shared: readonly Row[] = [
  [text, "$schema $ref $comment title description format pattern contentEncoding contentMediaType"],
  [flag, "readOnly uniqueItems"],
  [number, "maximum exclusiveMaximum minimum exclusiveMinimum"],
  [count, "maxLength minLength maxItems minItems maxProperties minProperties"],
  [factor, "multipleOf"],
  [listOf(z.unknown()), "examples"],
  [names, "required"],
  [typeOrList, "type"],
  [schema, "additionalProperties propertyNames contains not if then else", "itself"],
  [filled(schema), "allOf anyOf oneOf", "list"],
  [objectOf(schema), "definitions properties patternProperties", "object"],
  [objectOf(schemaOrNames), "dependencies", "object"],
];

/** The keywords of each supported draft. */
export const keywords = {
  draft2020: toTable([
    ...shared,
    [matching(/^[^#]*#?$/u), "$id"],
    [matching(/^[A-Za-z_][-A-Za-z0-9._]*$/u), "$anchor $dynamicAnchor $recursiveAnchor"],
    [text, "$dynamicRef $recursiveRef"],
    [objectOf(flag), "$vocabulary"],
    [flag, "deprecated writeOnly"],
    [count, "maxContains minContains"],
    // The meta-schema allows an empty `enum`, but no value can match it.
    [filled(z.unknown()), "enum"],
    [objectOf(names), "dependentRequired"],
    [schema, "items unevaluatedItems unevaluatedProperties contentSchema", "itself"],
    [filled(schema), "prefixItems", "list"],
    [objectOf(schema), "$defs dependentSchemas", "object"],
  ]),
  draft07: toTable([
    ...shared,
    [text, "$id"],
    [unique(filled(z.unknown())), "enum"],
    [schema, "additionalItems", "itself"],
    [schemaOrList, "items", "itself", "list"],
  ]),
};
