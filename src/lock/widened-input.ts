import { isRecord } from "../data/parse-json.ts";
import type { Json } from "./types.ts";

type Schema = { readonly [key: string]: Json };

const read = (schema: Schema, keyword: string): Json | undefined =>
  Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;

/** The members that a keyword lists; `undefined` if it is absent. */
function readList(schema: Schema, keyword: string): Json[] | undefined {
  const value = read(schema, keyword);
  return value === undefined || Array.isArray(value) ? value : [value];
}

/** The names or indexes of what a keyword contains. */
function readKeys(schema: Schema, keyword: string): string[] {
  const value = read(schema, keyword);
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

/** Whether a list allows more than before. An absent one allows everything. */
function allowsMore(from: Json[] | undefined, to: Json[] | undefined): boolean {
  if (from === undefined || to === undefined) return from !== to && to === undefined;
  const known = new Set(from.map((value) => JSON.stringify(value)));
  return to.some((value) => !known.has(JSON.stringify(value)));
}

function readTypes(schema: Schema): Json[] | undefined {
  const types = readList(schema, "type");
  // An integer is a number.
  return types?.includes("number") ? [...types, "integer"] : types;
}

const readValues = (schema: Schema) =>
  Object.hasOwn(schema, "const") ? [schema.const ?? null] : readList(schema, "enum");

const maxima = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
const minima = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];

function hasLooserLimit(from: Schema, to: Schema): boolean {
  const isLooser = (keyword: string, sign: number) => {
    const [before, after] = [read(from, keyword), read(to, keyword)];
    if (typeof before !== "number") return false;
    return typeof after !== "number" || sign * after > sign * before;
  };
  return maxima.some((one) => isLooser(one, 1)) || minima.some((one) => isLooser(one, -1));
}

/** Keywords whose absence allows more, whatever their value. */
const restrictions = ["$ref", "pattern", "not", "anyOf", "oneOf", "allOf"];

/** Whether a schema allows more than before, without what it contains. */
function isWidenedHere(from: Schema, to: Schema): boolean {
  if (allowsMore(readTypes(from), readTypes(to)) || allowsMore(readValues(from), readValues(to))) return true;
  const required = new Set(readList(to, "required") ?? []);
  if (readList(from, "required")?.some((name) => !required.has(name))) return true;
  if (restrictions.some((one) => Object.hasOwn(from, one) && !Object.hasOwn(to, one))) return true;
  // It is not known whether another reference leads to something narrower.
  if (Object.hasOwn(from, "$ref") && from.$ref !== to.$ref) return true;
  if (["anyOf", "oneOf"].some((one) => Object.hasOwn(from, one) && sizeOf(to, one) > sizeOf(from, one)))
    return true;
  if (sizeOf(to, "allOf") < sizeOf(from, "allOf") || hasLooserLimit(from, to)) return true;
  return ["properties", "patternProperties"].some((keyword) => {
    const known = new Set(readKeys(from, keyword));
    return readKeys(to, keyword).some((name) => !known.has(name));
  });
}

const sizeOf = (schema: Schema, keyword: string) => readKeys(schema, keyword).length;

/** Keywords that contain schemas, by name or in order, and those that are one. */
const containers = [
  ...["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"],
  ...["anyOf", "oneOf", "allOf", "prefixItems"],
];
const single = ["items", "additionalProperties", "unevaluatedProperties", "contains"];

/** Whether a schema of input allows more than before: new properties or values, or fewer restrictions. */
export function isInputWidened(from: Json | undefined, to: Json | undefined): boolean {
  if (to === false) return false;
  if (from === false) return true;
  // `true` and an absent schema allow everything.
  const before: Schema = isRecord(from) ? (from as Schema) : {};
  const after: Schema = isRecord(to) ? (to as Schema) : {};
  if (isWidenedHere(before, after)) return true;
  if (single.some((one) => Object.hasOwn(before, one) && isInputWidened(before[one], read(after, one)))) {
    return true;
  }
  return containers.some((keyword) => {
    const known = new Set(readKeys(after, keyword));
    const [old, now] = [before[keyword] as Schema, after[keyword] as Schema];
    return readKeys(before, keyword).some((name) => known.has(name) && isInputWidened(old[name], now[name]));
  });
}
