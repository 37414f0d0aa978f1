import { describe, expect, test } from "vitest";
import * as validator from "../../src/json-schema/schema-validator.ts";
import { chain, type Schema } from "./chained-schemas.ts";

const check = (schema: Schema, value: unknown) => validator.check(schema, value)?.message ?? "ok";

const list = <T>(length: number, make: (index: number) => T) =>
  Array.from({ length }, (_, index) => make(index));
const properties = (count: number, schema: unknown = { type: "string" }) =>
  Object.fromEntries(list(count, (index) => [`p${index}`, schema]));

function nest(key: string, levels: number): unknown {
  return levels === 0 ? {} : { [key]: nest(key, levels - 1) };
}

describe("large schemas", () => {
  test.each<[string, Schema, unknown, unknown]>([
    [
      "500 references to a large schema",
      { properties: properties(500, { $ref: "#/$defs/a" }), $defs: { a: { properties: properties(400) } } },
      { p1: { p1: "x" } },
      { p1: { p1: 1 } },
    ],
    ["a chain of references", chain(99, (next) => ({ anyOf: [next] })), { a: "xxxxx" }, { a: 1 }],
  ])("a schema with %s can be used", (_, schema, fitting, breaking) => {
    expect(check(schema, fitting)).toBe("ok");
    expect(check(schema, breaking)).toMatch(/ (?:must|is) /);
  });

  test("a schema with more than 1,000 alternatives is not used", () => {
    const anyOf = list(1001, () => false);
    expect(check({ properties: { a: { anyOf } } }, {})).toBe(
      "/properties/a/anyOf has more than 1,000 schemas",
    );
  });

  test("a list with many faults is an error of the schema", () => {
    const required = list(200_000, () => 1);
    expect(check({ required }, {})).toBe("/required/0 must be a string, but it is 1");
  });

  test("a chain of more than 200 schemas for one value is an error of the schema", () => {
    for (const order of [(schema: Schema) => schema, reverse]) {
      const schema = chain(101, (next) => ({ allOf: [next] }));
      expect(check(order(schema), { a: "x" })).toMatch(
        / is in a chain of more than 200 schemas for the same value$/,
      );
    }
  });

  test("values that nest too deep for a recursive schema are rejected", () => {
    const tree = { properties: { n: { $ref: "#" } }, additionalProperties: false };
    expect(check(tree, nest("n", 800))).toBe("ok");
    const deep = JSON.parse(`${'{"n":'.repeat(50_000)}{}${"}".repeat(50_000)}`) as Record<string, unknown>;
    expect(check(tree, deep)).toBe("the check was stopped: the values and schemas are nested too deeply");
  });
});

describe("schemas that ajv alone would use in another way", () => {
  const withDefault = { type: "object", properties: { kind: { const: "a" }, x: { default: 1 } } };

  test("a default of an alternative is not added, also by a reference", () => {
    const closed = { properties: { kind: {} }, additionalProperties: false };
    const schema = { anyOf: [{ $ref: "#/$defs/a" }, closed], $defs: { a: withDefault } };
    const [one, other] = [{ kind: "b" }, { kind: "a" }];
    expect(check(schema, one)).toBe("ok");
    expect(one).toEqual({ kind: "b" });
    const inAll = { allOf: [{ $ref: "#/$defs/a" }], $defs: { a: withDefault } };
    expect(check(inAll, other)).toBe("ok");
    expect(other).toEqual({ kind: "a", x: 1 });
  });

  test("keywords that only ajv knows have no effect, nor addresses in unknown ones", () => {
    const example = { $id: "x", $anchor: "not one" };
    const a = { id: "a", type: "string", nullable: true, $async: true, example };
    const b = { "x-example": { $id: "x" } };
    expect(check({ $async: true, id: "x", properties: { a, b } }, { a: null })).toBe("/a must be string");
  });

  test.each<[Schema, string]>([
    [{ if: { patternProperties: { "^a": { const: 1 } } }, else: {} }, "/a is not allowed"],
    [{ if: { properties: { a: { const: 2 } } } }, "ok"],
  ])("of %j, the properties are evaluated if the condition matches", (schema, result) => {
    expect(check({ ...schema, unevaluatedProperties: false }, { a: 2 })).toBe(result);
  });

  test("all violations are found in values of few levels, the first in deeper ones with alternatives", () => {
    const oneOf = list(20, (kind) => ({
      properties: { kind: { const: kind }, n: { $ref: "#" } },
      required: ["kind"],
    }));
    expect(check({ oneOf }, { kind: 21 })).toMatch(/; and \d+ more$/);
    expect(check({ oneOf }, { kind: 1, n: nest("n", 30) })).toMatch(/is required/);
  });
});

function reverse({ $defs = {}, ...schema }: Schema): Schema {
  return { $defs: Object.fromEntries(Object.entries($defs as object).reverse()), ...schema };
}
