import { describe, expect, test } from "vitest";
import { createSchemaValidator } from "../../src/json-schema/schema-validator.ts";
import { chain, type Schema } from "./chained-schemas.ts";

const check = (schema: Schema, value: unknown) => {
  const checked = createSchemaValidator().check(schema, value);
  return checked.ok ? "ok" : (checked.schemaFault ?? checked.message);
};

const list = <T>(length: number, make: (index: number) => T) =>
  Array.from({ length }, (_, index) => make(index));
const properties = (count: number, schema: unknown = { type: "string" }) =>
  Object.fromEntries(list(count, (index) => [`p${index}`, schema]));

function nest(key: string, levels: number): unknown {
  return levels === 0 ? {} : { [key]: nest(key, levels - 1) };
}

describe("large valid values", () => {
  const item = {
    type: "object",
    properties: {
      id: { type: "integer", minimum: 0 },
      name: { type: "string", minLength: 1, pattern: "^[a-z0-9 ]+$" },
      tags: { type: "array", items: { enum: ["a", "b"] }, uniqueItems: true },
      at: {
        anyOf: [{ type: "null" }, { type: "object", properties: { x: { type: "number" } }, required: ["x"] }],
      },
    },
    required: ["id", "name"],
    additionalProperties: false,
  };

  test("100,000 objects are checked", () => {
    const items = list(100_000, (id) => ({ id, name: `item ${id}`, tags: ["a", "b"], at: { x: id } }));
    expect(check({ properties: { l: { type: "array", items: item } } }, { l: items })).toBe("ok");
    const wrong = [...items, { id: -1, name: "x" }];
    expect(check({ properties: { l: { items: item } } }, { l: wrong })).toBe("/l/100000/id must be >= 0");
  });

  test("20,000 objects are checked against 100 alternatives", () => {
    const oneOf = list(100, (kind) => ({ properties: { kind: { const: kind } }, required: ["kind"] }));
    const items = list(20_000, (index) => ({ kind: index % 100 }));
    expect(check({ properties: { l: { items: { oneOf } } } }, { l: items })).toBe("ok");
  });

  test("a string of 4 MiB is checked", () => {
    const a = { maxLength: 10_000_000, minLength: 1 };
    expect(check({ properties: { a } }, { a: "é".repeat(2 << 20) })).toBe("ok");
  });
});

describe("large schemas", () => {
  test.each<[string, Schema, unknown, unknown]>([
    ["20,000 properties", { properties: properties(20_000) }, { p19999: "x" }, { p19999: 1 }],
    ["20,000 required properties", { required: Object.keys(properties(20_000)) }, properties(20_000), {}],
    [
      "20,000 values of an enum",
      { properties: { a: { enum: list(20_000, (index) => `v${index}`) } } },
      { a: "v19999" },
      { a: "v" },
    ],
    ...["anyOf", "oneOf"].map((keyword): [string, Schema, unknown, unknown] => [
      `20,000 schemas in ${keyword}`,
      { properties: { a: { [keyword]: list(20_000, (index) => ({ const: index })) } } },
      { a: 19_999 },
      { a: -1 },
    ]),
    [
      "20,000 schemas in allOf",
      { allOf: list(20_000, (index) => ({ required: [`p${index}`] })) },
      properties(20_000),
      {},
    ],
    [
      "20,000 items with a schema each",
      { properties: { a: { prefixItems: list(20_000, () => ({ type: "null" })) } } },
      { a: list(20_000, () => null) },
      { a: [1] },
    ],
    [
      "2,000 references to a large schema",
      { properties: properties(2000, { $ref: "#/$defs/a" }), $defs: { a: { properties: properties(500) } } },
      { p1: { p1: "x" } },
      { p1: { p1: 1 } },
    ],
    ["20,000 references to references", chain(20_000, (next) => next), { a: "xxxxx" }, { a: 1 }],
    [
      "20,000 references behind each other",
      chain(20_000, (next) => ({ properties: { a: next } })),
      { a: { a: {} } },
      undefined,
    ],
    ["500 schemas for one value", chain(499, (next) => ({ allOf: [next] })), { a: "xxxxx" }, { a: 1 }],
    [
      "500 alternatives inside each other",
      chain(499, (next) => ({ anyOf: [next] })),
      { a: "xxxxx" },
      { a: 1 },
    ],
  ])("a schema with %s can be used", (_, schema, fitting, breaking) => {
    expect(check(schema, fitting)).toBe("ok");
    if (breaking !== undefined) expect(check(schema, breaking)).toMatch(/ (?:must|is) /);
  });

  test("up to 500 schemas may apply each other to one value, and a longer chain is an error of the schema", () => {
    for (const levels of [500, 20_000]) {
      expect(
        check(
          chain(levels, (next) => ({ allOf: [next] })),
          { a: "x" },
        ),
      ).toBe(
        `/$defs/d0/allOf/0/$ref starts a chain of ${levels + 1} schemas for the same value; the limit is 500`,
      );
    }
  });

  test("values that nest too deep for a recursive schema are rejected", () => {
    const tree = { properties: { n: { $ref: "#" } }, additionalProperties: false };
    expect(check(tree, nest("n", 800))).toBe("ok");
    const deep = JSON.parse(`${'{"n":'.repeat(50_000)}{}${"}".repeat(50_000)}`) as Record<string, unknown>;
    const checked = createSchemaValidator().checkOwned(tree, deep);
    expect(checked).toMatchObject({ ok: false, stopped: "the values and schemas are nested too deeply" });
  });

  test("a schema that declares itself asynchronous is checked synchronously", () => {
    expect(check({ $async: true, required: ["a"] }, {})).toBe("/a is required");
  });
});
