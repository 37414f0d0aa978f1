// The keywords of JSON Schema whose values have a form, as the meta-schemas of both drafts define it.
import { formatJson } from "../data/json-values.ts";
import { isRecord } from "../data/parse-json.ts";
import { describeValue } from "../extension-schema/pointer.ts";
import type { Path } from "../problems/index.ts";

/** A fault in a JSON Schema, with its path from the top. `what` continues after the path. */
export interface SchemaFault {
  what: string;
  path: Path;
}

/** The faults of a value, with paths from it; of schemas in it, only that they are none. */
type Form = (value: unknown) => readonly SchemaFault[];

export interface Keyword {
  findFaults: Form;
  /** Where the value has schemas: it is one itself, an array of them, or an object of them. */
  holds: readonly ("itself" | "list" | "object")[];
}

/** Limit on the faults of a value's members, of which a server's schema can have any number. */
const mostFaults = 1000;
/** Limit on the schemas in one list: far more than tools have. ajv nests what it generates for alternatives. */
const mostInList = 1000;

const fits: readonly SchemaFault[] = [];

const be =
  (words: string, test: (value: unknown) => boolean): Form =>
  (value) =>
    test(value) ? fits : [{ what: `must be ${words}, but it is ${describeValue(value)}`, path: [] }];

const also =
  (form: Form, test: (value: unknown[]) => boolean, what: string): Form =>
  (value) => {
    const faults = form(value);
    return faults.length > 0 || test(value as unknown[]) ? faults : [{ what, path: [] }];
  };

const either = (words: string, ...forms: Form[]) =>
  be(words, (value) => forms.some((form) => form(value).length === 0));

const membersOf =
  (container: Form, member: Form): Form =>
  (value) => {
    const faults = [...container(value)];
    if (faults.length > 0) return faults;
    for (const [key, inner] of Object.entries(value as object)) {
      const place = Array.isArray(value) ? Number(key) : key;
      for (const { what, path } of member(inner)) faults.push({ what, path: [place, ...path] });
      if (faults.length >= mostFaults) break;
    }
    return faults;
  };

const text = be("a string", (value) => typeof value === "string");
const matching = (pattern: RegExp) =>
  be(`a string that matches ${pattern.source}`, (value) => typeof value === "string" && pattern.test(value));
const flag = be("a boolean", (value) => typeof value === "boolean");
const number = be("a number", Number.isFinite);
const count = be("an integer of at least 0", (value) => Number.isInteger(value) && Number(value) >= 0);
const factor = be("a number greater than 0", (value) => Number.isFinite(value) && Number(value) > 0);
const object = be("an object", isRecord);
const array = be("an array", Array.isArray);
const filled = also(array, ({ length }) => length > 0, "is empty");
const schema = either("a schema: an object or a boolean", object, flag);
const schemas = also(
  membersOf(filled, schema),
  ({ length }) => length <= mostInList,
  // As text: `toLocaleString` takes 30 ms when it is first called.
  "has more than 1,000 schemas",
);

const unique = (form: Form) =>
  also(
    form,
    (list) => new Set(list.map((entry) => formatJson(entry))).size === list.length,
    "contains a duplicate",
  );
const names = unique(membersOf(array, text));

const types = ["array", "boolean", "integer", "null", "number", "object", "string"];
const type = be("a type", (value) => types.includes(value as string));
const typeOrList = either(
  `one of ${types.join(", ")}, or an array of these`,
  type,
  unique(membersOf(filled, type)),
);
const schemaOrNames = either("a schema or an array of names", schema, names);
const schemaOrList = either("a schema or an array of schemas", schema, schemas);
const objectOf = (member: Form) => membersOf(object, member);

/** Keywords with values of the same form, separated by spaces, and where these have schemas. */
type Row = readonly [findFaults: Form, list: string, ...holds: Keyword["holds"]];

const toTable = (rows: readonly Row[]): ReadonlyMap<string, Keyword> =>
  new Map(
    rows.flatMap(([findFaults, list, ...holds]) =>
      list.split(" ").map((name) => [name, { findFaults, holds }]),
    ),
  );

const shared: readonly Row[] = [
  [text, "$schema $ref $comment title description format pattern contentEncoding contentMediaType"],
  [flag, "readOnly uniqueItems"],
  [number, "maximum exclusiveMaximum minimum exclusiveMinimum"],
  [count, "maxLength minLength maxItems minItems maxProperties minProperties"],
  [factor, "multipleOf"],
  [array, "examples"],
  [names, "required"],
  [typeOrList, "type"],
  [schema, "additionalProperties propertyNames contains not if then else", "itself"],
  [schemas, "allOf anyOf oneOf", "list"],
  [objectOf(schema), "definitions properties patternProperties", "object"],
  [objectOf(schemaOrNames), "dependencies", "object"],
];

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
    [filled, "enum"],
    [objectOf(names), "dependentRequired"],
    [schema, "items unevaluatedItems unevaluatedProperties contentSchema", "itself"],
    [schemas, "prefixItems", "list"],
    [objectOf(schema), "$defs dependentSchemas", "object"],
  ]),
  draft07: toTable([
    ...shared,
    [text, "$id"],
    [unique(filled), "enum"],
    [schema, "additionalItems", "itself"],
    [schemaOrList, "items", "itself", "list"],
  ]),
};
