import { describe, expect, test } from "vitest";
import { readSchema } from "../../src/json-schema/read-schema.ts";
import { check } from "../../src/json-schema/schema-validator.ts";
import { chain, type Schema } from "./chained-schemas.ts";

const excess = [
  {
    what: "can apply its schemas more than 1,000,000 times to one value, so no value is checked with it",
    path: [],
  },
];

/** For values inside each other, of which fewer levels count. */
const often = (keyword: string) => (next: Schema) => ({
  allOf: Array.from({ length: 150 }, () => ({ [keyword]: next })),
});

describe("schemas that can take exponentially many steps are refused", () => {
  test.each<[string, (next: Schema) => Schema]>([
    ["anyOf", (next) => ({ anyOf: [next, next] })],
    ["allOf", (next) => ({ allOf: [next, next] })],
    ["not", (next) => ({ allOf: [{ not: { not: next } }, { not: { not: next } }] })],
    ["dependentSchemas", (next) => ({ dependentSchemas: { x: next, y: next } })],
  ])("because of %s", (_, make) => {
    expect(readSchema(chain(20, make)).faults).toEqual(excess);
    expect(readSchema(chain(8, make)).faults).toEqual([]);
  });

  test.each<[string, (next: Schema) => Schema]>([
    [
      "properties beside patternProperties",
      (next) => ({
        allOf: Array.from({ length: 75 }, () => ({
          properties: { x: next },
          patternProperties: { x: next },
        })),
      }),
    ],
    ["additionalProperties", often("additionalProperties")],
    ["items", often("items")],
    ["prefixItems", (next) => often("prefixItems")([next] as never)],
  ])("because of %s", (_, make) => {
    expect(readSchema(chain(4, make)).faults).toEqual(excess);
    expect(readSchema(chain(1, make)).faults).toEqual([]);
  });

  test("also in draft-07, with $dynamicRef and in recursion", () => {
    const old = chain(20, (next) => ({ anyOf: [next, next] }));
    const $schema = "http://json-schema.org/draft-07/schema#";
    expect(readSchema({ $schema, ...old }).faults).toEqual(excess);
    const kinds = Array.from({ length: 40 }, (_, kind) => ({ i: { const: kind } }));
    const alternatives = (inner: Schema) => kinds.map((kind) => ({ properties: { ...kind, n: inner } }));
    expect(readSchema({ anyOf: alternatives({ $ref: "#" }) }).faults).toEqual(excess);
    const dynamic = { $dynamicAnchor: "node", anyOf: alternatives({ $dynamicRef: "#node" }) };
    expect(readSchema(dynamic).faults).toEqual(excess);
  });

  test("and those of which many members refer to a large one", () => {
    const large = {
      allOf: Array.from({ length: 10 }, () => ({ allOf: Array.from({ length: 1000 }, Object) })),
    };
    const prefixItems = Array.from({ length: 150 }, () => ({ $ref: "#/$defs/large" }));
    expect(readSchema({ prefixItems, $defs: { large } }).faults).toEqual(excess);
  });

  test("but not wide and deep ones that take few", () => {
    const siblings = Array.from({ length: 100 }, Object);
    const wide = (next: Schema) => ({ allOf: [next, ...siblings] });
    expect(readSchema(chain(90, wide))).toMatchObject({ faults: [], work: 9_183 });
  });

  test("and no value is checked with them", () => {
    const checked = check(
      chain(30, (next) => ({ anyOf: [next, next] })),
      { a: "x" },
    );
    expect(checked).toEqual({ message: excess[0]?.what, isOfSchema: true });
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
    ["any JSON", { anyOf: [{ type: "string" }, { items: all }, { additionalProperties: all }] }],
    ["expressions with a kind", tagged({ additionalProperties: false })],
  ])("%s", (_, schema) => {
    expect(readSchema(schema).faults).toEqual([]);
  });

  test("alternatives with a kind take few steps, although the kind comes last", () => {
    let value: object = { kind: 21 };
    for (let level = 0; level < 60; level++) value = { left: value, right: {}, kind: 19 };
    expect(check(tagged(), value)).toBeDefined();
  });
});
