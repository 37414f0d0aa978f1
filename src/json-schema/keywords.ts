// The keywords of JSON Schema whose values have a form, as the meta-schemas of both drafts define it.
import { isRecord } from "../data/parse-json.ts";
import { describeWritten } from "../extension-schema/pointer.ts";
import { type Path, quote } from "../problems/index.ts";

/** A fault in a JSON Schema, with its path from the top. `what` continues after the path. */
export interface SchemaFault {
  what: string;
  path: Path;
}

/** What a meta-schema says about a keyword. */
export interface Keyword {
  /** The faults of a value, with paths from it. Does not look into schemas. */
  findFaults: (value: unknown) => readonly SchemaFault[];
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

const fits: readonly SchemaFault[] = [];
const faultOf = (what: string): readonly SchemaFault[] => [{ what, path: [] }];

/** A value of one form, which a message names after "must be". */
const one = (form: string, test: (value: unknown) => boolean, holds: Keyword["holds"] = []): Keyword => ({
  findFaults: (value) => (test(value) ? fits : faultOf(`must be ${form}, but it is ${describeValue(value)}`)),
  holds,
});

const isString = (value: unknown) => typeof value === "string";
const isNumber = (value: unknown) => Number.isFinite(value);
const isSchema = (value: unknown) => isRecord(value) || typeof value === "boolean";
const isListOf = (value: unknown, test: (entry: unknown) => boolean) =>
  Array.isArray(value) && value.every(test);
const hasDuplicates = (list: readonly unknown[]) => new Set(list.map(writeCanonical)).size < list.length;
const isNames = (value: unknown) => isListOf(value, isString) && !hasDuplicates(value as unknown[]);

const object = one("an object", isRecord);
const array = one("an array", Array.isArray);
const text = one("a string", isString);
const flag = one("a boolean", (value) => typeof value === "boolean");
const number = one("a number", isNumber);
const integer = one("an integer", Number.isInteger);
const schema = one("a schema: an object or a boolean", isSchema, ["itself"]);

/** A value that fits a keyword and has no fault that `findMore` finds. */
const also = (
  keyword: Keyword,
  findMore: (value: never) => readonly SchemaFault[],
  holds: Keyword["holds"] = [],
): Keyword => ({
  findFaults(value) {
    const faults = keyword.findFaults(value);
    return faults.length > 0 ? faults : findMore(value as never);
  },
  holds,
});

/** An object or an array whose members fit a keyword. */
const membersOf = (container: Keyword, member: Keyword, holds: Keyword["holds"] = []): Keyword =>
  also(
    container,
    (value: object) => {
      const isList = Array.isArray(value);
      return Object.entries(value).flatMap(([key, inner]) =>
        member
          .findFaults(inner)
          .map(({ what, path }) => ({ what, path: [isList ? Number(key) : key, ...path] })),
      );
    },
    holds,
  );

const form = (pattern: RegExp): Keyword =>
  also(text, (value: string) =>
    pattern.test(value) ? fits : faultOf(`does not have the required form: it is ${describeValue(value)}`),
  );
const anchor = form(/^[A-Za-z_][-A-Za-z0-9._]*$/u);
const count = also(integer, (value: number) =>
  value >= 0 ? fits : faultOf(`must be at least 0, but it is ${value}`),
);
const factor = also(number, (value: number) =>
  value > 0 ? fits : faultOf(`must be greater than 0, but it is ${value}`),
);
const filled = also(array, (value: unknown[]) => (value.length > 0 ? fits : faultOf("is empty")));
const unique = (keyword: Keyword): Keyword =>
  also(keyword, (value: unknown[]) => (hasDuplicates(value) ? faultOf("contains a duplicate") : fits));
const names = unique(membersOf(array, text));
const schemas = membersOf(object, schema, ["object"]);
const schemaList = membersOf(filled, schema, ["list"]);

const types = ["array", "boolean", "integer", "null", "number", "object", "string"];
const isType = (value: unknown) => types.includes(value as string);
const type = one(
  `one of ${types.join(", ")}, or an array of these`,
  (value) => isType(value) || (isNames(value) && (value as string[]).length > 0 && isListOf(value, isType)),
);

const dependencies = membersOf(
  object,
  one("a schema or an array of names", (value) => isSchema(value) || isNames(value)),
  ["object"],
);
const schemaOrList = one(
  "a schema or an array of schemas",
  (value) => isSchema(value) || (isListOf(value, isSchema) && (value as unknown[]).length > 0),
  ["itself", "list"],
);

/** Keywords with values of the same form, separated by spaces. */
type Row = readonly [Keyword, string];

const toTable = (rows: readonly Row[]): ReadonlyMap<string, Keyword> =>
  new Map(rows.flatMap(([keyword, list]) => list.split(" ").map((name) => [name, keyword] as const)));

/** Keywords of both drafts. */
const shared: readonly Row[] = [
  [text, "$schema $ref $comment title description format pattern contentEncoding contentMediaType"],
  [flag, "readOnly uniqueItems"],
  [number, "maximum exclusiveMaximum minimum exclusiveMinimum"],
  [count, "maxLength minLength maxItems minItems maxProperties minProperties"],
  [factor, "multipleOf"],
  [array, "examples"],
  [names, "required"],
  [type, "type"],
  [schema, "additionalProperties propertyNames contains not if then else"],
  [schemaList, "allOf anyOf oneOf"],
  [schemas, "definitions properties patternProperties"],
  [dependencies, "dependencies"],
];

/** The keywords of each supported draft. */
export const keywords = {
  draft2020: toTable([
    ...shared,
    [form(/^[^#]*#?$/u), "$id"],
    [anchor, "$anchor $dynamicAnchor $recursiveAnchor"],
    [text, "$dynamicRef $recursiveRef"],
    [membersOf(object, flag), "$vocabulary"],
    [flag, "deprecated writeOnly"],
    [count, "maxContains minContains"],
    // The meta-schema allows an empty `enum`, but no value can match it.
    [filled, "enum"],
    [membersOf(object, names), "dependentRequired"],
    [schema, "items unevaluatedItems unevaluatedProperties contentSchema"],
    [schemaList, "prefixItems"],
    [schemas, "$defs dependentSchemas"],
  ]),
  draft07: toTable([
    ...shared,
    [text, "$id"],
    [unique(filled), "enum"],
    [schema, "additionalItems"],
    [schemaOrList, "items"],
  ]),
};
