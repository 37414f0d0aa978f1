import { describe, expect, test } from "vitest";
import { mayRefuseContext } from "../../src/json-schema/reserved-parameters.ts";

const strict = { type: "object", properties: { a: {} }, additionalProperties: false };
const open = { type: "object", properties: { a: {} } };

describe("a schema that may reject an additional key", () => {
  test.each<[string, Record<string, unknown>]>([
    ["is closed", strict],
    ["has no properties at all", { type: "object", additionalProperties: false }],
    ["wants text in further keys", { additionalProperties: { type: "string" } }],
    ["wants an object of a certain shape in further keys", { additionalProperties: { required: ["x"] } }],
    ["never accepts further keys", { additionalProperties: { not: {} } }],
    ["closes itself over other schemas", { unevaluatedProperties: false, allOf: [open] }],
    ["names the keys that it takes", { propertyNames: { enum: ["a"] } }],
    ["limits the number of keys", { maxProperties: 3 }],
    ["is a closed object in a list of keys by pattern", { patternProperties: { "^_": { type: "string" } } }],
    ["compares the whole object", { enum: [{ a: 1 }] }],
    ["compares with one object", { const: {} }],
    ["is closed by a reference", { $ref: "#/$defs/a", $defs: { a: strict } }],
    ["leads elsewhere", { $ref: "https://schemas.example/tool.json" }],
    ["has a dynamic reference", { $dynamicRef: "#" }],
    ["is closed in one part", { allOf: [open, strict] }],
    ["is closed in one variant of any", { anyOf: [open, strict] }],
    ["is closed in one variant of one", { oneOf: [open, strict] }],
    ["is no schema in one variant", { anyOf: [open, false] }],
    ["must not be something closed", { not: { ...strict, required: ["a"] } }],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    ["is closed under a condition", { if: { required: ["a"] }, then: strict }],
    ["is closed otherwise", { if: { required: ["a"] }, else: strict }],
    ["is closed where a key is there", { dependentSchemas: { a: strict } }],
    ["is closed where a key is there, in draft-07", { dependencies: { a: strict } }],
    ["wants another key beside this one", { dependentRequired: { _trailblazeContext: ["a"] } }],
    ["describes this very key", { properties: { _trailblazeContext: { type: "string" } } }],
  ])("a schema that %s may reject an additional key", (_, schema) => {
    expect(mayRefuseContext(schema)).toBe(true);
    expect(mayRefuseContext({ allOf: [{ anyOf: [schema] }], $defs: schema.$defs, x: schema.x })).toBe(true);
  });
});

describe("a schema that accepts an additional key", () => {
  test.each<[string, Record<string, unknown>]>([
    ["says nothing", {}],
    ["is open", open],
    ["says that it is open", { ...open, additionalProperties: true }],
    ["takes anything in further keys", { additionalProperties: {} }],
    ["is closed only inside", { properties: { a: strict }, $defs: { b: strict } }],
    ["is open in each variant", { anyOf: [open, { ...open, required: ["a"] }] }],
    ["asks for keys", { required: ["a"], "x-order": ["a"] }],
  ])("a schema that %s accepts an additional key", (_, schema) => {
    expect(mayRefuseContext(schema)).toBe(false);
  });
});
