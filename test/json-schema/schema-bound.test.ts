import { describe, expect, test } from "vitest";
import { findSchemaFaults } from "../../src/json-schema/schema-faults.ts";
import { createSchemaValidator } from "../../src/json-schema/schema-validator.ts";
import { chain, type Schema } from "./chained-schemas.ts";

const excess = [
  {
    what: "can apply its schemas more than 1,000,000 times to one value, so no value is checked with it",
    path: [],
  },
];

const twice = (keyword: string) => (next: Schema) => ({ allOf: [{ [keyword]: next }, { [keyword]: next }] });

describe("schemas that can take exponentially many steps are refused", () => {
  test.each<[string, (next: Schema) => Schema]>([
    ["anyOf", (next) => ({ anyOf: [next, next] })],
    ["oneOf", (next) => ({ oneOf: [next, next] })],
    ["allOf", (next) => ({ allOf: [next, next] })],
    ["if and else", (next) => ({ if: next, else: next })],
    ["not", (next) => ({ allOf: [{ not: { not: next } }, { not: { not: next } }] })],
    ["dependentSchemas", (next) => ({ dependentSchemas: { x: next, y: next } })],
    [
      "properties beside patternProperties",
      (next) => ({ properties: { x: next }, patternProperties: { x: next } }),
    ],
    ["additionalProperties", twice("additionalProperties")],
    ["unevaluatedProperties", twice("unevaluatedProperties")],
    ["items", twice("items")],
    ["prefixItems", (next) => twice("prefixItems")([next] as never)],
    ["contains", twice("contains")],
    ["unevaluatedItems", twice("unevaluatedItems")],
  ])("because of %s", (_, make) => {
    expect(findSchemaFaults(chain(20, make))).toEqual(excess);
    expect(findSchemaFaults(chain(8, make))).toEqual([]);
  });

  test("also in draft-07, with $dynamicRef and in recursion", () => {
    const old = chain(20, (next) => ({ anyOf: [next, next] }));
    expect(findSchemaFaults({ $schema: "http://json-schema.org/draft-07/schema#", ...old })).toEqual(excess);
    const alternatives = (inner: Schema, kinds: object[]) =>
      kinds.map((kind) => ({ type: "object", properties: { ...kind, n: inner } }));
    const kinds = [{ i: { const: 1 } }, { i: { const: 2 } }];
    expect(findSchemaFaults({ anyOf: alternatives({ $ref: "#" }, kinds) })).toEqual(excess);
    const dynamic = { $dynamicAnchor: "node", anyOf: alternatives({ $dynamicRef: "#node" }, kinds) };
    expect(findSchemaFaults(dynamic)).toEqual(excess);
  });

  test("and no value is checked with them", () => {
    const checked = createSchemaValidator().check(
      chain(30, (next) => ({ anyOf: [next, next] })),
      { a: "x" },
    );
    expect(checked).toMatchObject({ ok: false, schemaFault: excess[0]?.what });
  });
});

const all = { $ref: "#" };
const tagged = (more: Schema = {}) => ({
  oneOf: Array.from({ length: 20 }, (_, kind) => ({
    type: "object",
    properties: { left: all, right: all, kind: { const: kind } },
    required: ["kind"],
    ...more,
  })),
});

describe("recursive schemas with alternatives are used", () => {
  test.each<[string, Schema]>([
    ["a tree", { properties: { left: all, right: all, more: { items: all } } }],
    [
      "a filter",
      { anyOf: [{ properties: { and: { items: all } } }, { properties: { or: { items: all } } }] },
    ],
    ["any JSON", { anyOf: [{ type: "string" }, { items: all }, { additionalProperties: all }] }],
    ["pairs", { anyOf: [{ type: "string" }, { prefixItems: [all, all], items: false }] }],
    ["expressions with a kind", tagged({ additionalProperties: false })],
    ["nullable members", { properties: { next: { anyOf: [all, { type: "null" }] } } }],
  ])("%s", (_, schema) => {
    expect(findSchemaFaults(schema)).toEqual([]);
  });

  test("alternatives with a kind take few steps, although the kind comes last", () => {
    let value: object = { kind: 21 };
    for (let level = 0; level < 60; level++) value = { left: value, right: {}, kind: 19 };
    expect(createSchemaValidator().check(tagged(), value).ok).toBe(false);
  });
});
