import { expect, test } from "vitest";
import { findReservedParameters, mayRefuseContext } from "../../src/json-schema/reserved-parameters.ts";

const reserved = "_trailblazeContext";
const properties = { [reserved]: {} };
const required = ["a", reserved];

test.each<[Record<string, unknown>, (string | number)[][]]>([
  [{ properties, required }, [["properties", reserved]]],
  [{ properties: { a: { properties } }, required: reserved }, []],
  [
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    { not: { required }, if: { required }, then: { required }, else: { required } },
    [
      ["not", "required", 1],
      ["if", "required", 1],
      ["then", "required", 1],
      ["else", "required", 1],
    ],
  ],
  [
    { allOf: [{}, { required }], anyOf: [{ required }], oneOf: [{ required }] },
    [
      ["allOf", 1, "required", 1],
      ["anyOf", 0, "required", 1],
      ["oneOf", 0, "required", 1],
    ],
  ],
  [{ not: null, if: true, allOf: [null, true], anyOf: "a" }, []],
])("the reserved parameter is found in the schema %j", (schema, paths) => {
  expect([...findReservedParameters(schema)]).toEqual(paths);
});

const strict = { type: "object", properties: { a: {} }, additionalProperties: false };
const open = { type: "object", properties: { a: {} } };

test.each<[string, Record<string, unknown>]>([
  ["is closed", strict],
  ["wants text in further keys", { additionalProperties: { type: "string" } }],
  ["closes itself over other schemas", { unevaluatedProperties: false, allOf: [open] }],
  ["names the keys that it takes", { propertyNames: { enum: ["a"] } }],
  ["is closed by a reference", { $ref: "#/$defs/a", $defs: { a: strict } }],
  ["has a dynamic reference", { $dynamicRef: "#" }],
  ["is closed in one part", { allOf: [open, strict] }],
  ["must not be something closed", { not: { ...strict, required: ["a"] } }],
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  ["is closed under a condition", { if: { required: ["a"] }, then: strict }],
  ["describes this very key", { properties: { _trailblazeContext: { type: "string" } } }],
])("a schema that %s may reject an additional key", (_, schema) => {
  expect(mayRefuseContext(schema)).toBe(true);
  expect(mayRefuseContext({ allOf: [{ anyOf: [schema] }], $defs: schema.$defs, x: schema.x })).toBe(true);
});

test.each<[string, Record<string, unknown>]>([
  ["says nothing", {}],
  ["is open", open],
  ["is closed only inside", { properties: { a: strict }, $defs: { b: strict } }],
])("a schema that %s accepts an additional key", (_, schema) => {
  expect(mayRefuseContext(schema)).toBe(false);
});
