import { describe, expect, test } from "vitest";
import { createSchemaValidator } from "../../src/execution/schema-validator.ts";

const issue = {
  type: "object",
  properties: {
    summary: { type: "string" },
    labels: { type: "array", items: { type: "string" } },
    size: { type: "integer", default: 3 },
    nested: { type: "object", properties: { deep: { default: "d" } }, required: ["needed"] },
  },
  required: ["summary"],
  additionalProperties: false,
};

const check = (schema: Record<string, unknown> | undefined, value: unknown) =>
  createSchemaValidator().check(schema, value);

const messageOf = async (schema: Record<string, unknown>, value: unknown) => {
  const checked = await check(schema, value);
  return checked.ok ? "ok" : (checked.schemaFault ?? checked.message);
};

describe("arguments", () => {
  test("that fit are copied, with defaults filled in, and the caller's object stays as it was", async () => {
    const given = { summary: "x", nested: { needed: 1 } };
    const checked = await check(issue, given);
    expect(checked).toEqual({ ok: true, value: { summary: "x", size: 3, nested: { needed: 1, deep: "d" } } });
    expect(given).toEqual({ summary: "x", nested: { needed: 1 } });
    const again = await check({ type: "object" }, given);
    expect(again.ok && again.value !== given && again.value).toEqual(given);
  });

  test("that do not fit are told with their paths, all of them", async () => {
    const checked = await check(issue, { labels: [1], extra: 1, nested: {}, "a/b": 2 });
    expect(checked).toEqual({
      ok: false,
      message:
        "/summary is required; /extra is not allowed; /a~1b is not allowed; /labels/0 must be string; /nested/needed is required",
      missing: ["summary"],
    });
  });

  test.each([
    [{ enum: ["a", "b"] }, '/v must be one of "a" or "b"'],
    [{ const: 1 }, "/v must be 1"],
    [{ type: "string", pattern: "^x$" }, '/v must match the pattern "^x$"'],
    [{ type: "number", minimum: 5 }, "/v must be >= 5"],
  ])("%j is said as %s", async (schema, message) => {
    const value = "pattern" in schema ? "y" : 2;
    expect(await messageOf({ properties: { v: schema } }, { v: value })).toBe(message);
  });

  test("with many violations are told in part", async () => {
    const names = Array.from({ length: 25 }, (_, index) => `p${index}`);
    const message = await messageOf({ required: names }, {});
    expect(message).toContain("/p9 is required; and 15 more");
    expect(message).not.toContain("/p10 ");
  });

  test("without a schema may be any object, and only an object", async () => {
    expect(await check(undefined, { a: 1 })).toEqual({ ok: true, value: { a: 1 } });
    expect(await check({}, { a: 1 })).toEqual({ ok: true, value: { a: 1 } });
    for (const value of [[], "x", null, 1]) {
      expect(await check({}, value)).toMatchObject({ ok: false, message: "must be object" });
    }
    expect(await check({}, { run: () => 1 })).toMatchObject({ ok: false, message: "must be JSON" });
  });

  test("have only the properties that are their own", async () => {
    expect(await messageOf({ required: ["constructor", "toString"] }, {})).toBe(
      "/constructor is required; /toString is required",
    );
    const schema = JSON.parse('{ "properties": { "__proto__": { "default": { "polluted": true } } } }');
    const checked = await check(schema, {});
    expect(checked.ok && "polluted" in checked.value).toBe(false);
  });

  test("reach the message without control characters", async () => {
    const message = await messageOf({ additionalProperties: false }, { "\u001b[31mred": 1 });
    expect(message).toBe("/\\u{001b}[31mred is not allowed");
  });
});

describe("schemas", () => {
  const tuple = { items: [{ type: "string" }], additionalItems: false };
  test.each([
    ["http://json-schema.org/draft-07/schema#", "/l must NOT have more than 1 items"],
    ["http://json-schema.org/draft-06/schema", "/l must NOT have more than 1 items"],
    ["http://json-schema.org/draft-04/schema#", "/l must NOT have more than 1 items"],
    [undefined, "/properties/l/items must be a schema: a map, or true or false, but is a list"],
  ])("of draft %s are read as such", async ($schema, message) => {
    const schema = { ...($schema === undefined ? {} : { $schema }), properties: { l: tuple } };
    expect(await messageOf(schema, { l: ["a", "b"] })).toBe(message);
    const modern = { ...schema, properties: { l: { prefixItems: [{ type: "string" }], items: false } } };
    expect(await messageOf(modern, { l: ["a", "b"] })).toBe(
      $schema === undefined
        ? "/l must NOT have more than 1 items"
        : "/l/0 is not allowed; /l/1 is not allowed",
    );
  });

  test("may refer to their own parts, by their own address too, and to none beyond", async () => {
    const own = {
      $id: "https://example.com/own",
      properties: { a: { $ref: "#/$defs/text" }, b: { $ref: "https://example.com/own#/$defs/text" } },
      $defs: { text: { type: "string" } },
    };
    const validator = createSchemaValidator();
    for (const schema of [own, structuredClone(own)]) {
      expect(await validator.check(schema, { a: 1, b: 2 })).toMatchObject({
        message: "/a must be string; /b must be string",
      });
    }
    expect(await messageOf({ $ref: "https://example.com/other" }, {})).toContain("leads out of the schema");
  });

  test.each([
    [{ type: "objekt" }, "/type must be one of"],
    [{ $schema: "https://example.com/mine" }, "/$schema must name JSON Schema 2020-12 or draft-07"],
    [{ properties: { a: { pattern: "(" } } }, "/properties/a/pattern is not a regular expression"],
    [{ properties: { a: { pattern: "^(a+)+$" } } }, "can backtrack for ever"],
    [{ patternProperties: { "^(a|a)*$": {} } }, "can backtrack for ever"],
    [{ $ref: "#/x-own/s", "x-own": { s: { properties: { a: { pattern: "(a*)*b" } } } } }, "can backtrack"],
    [{ allOf: [{ $ref: "#" }] }, "leads back to itself"],
  ])("that cannot be used are said to be so: %j", async (schema, fault) => {
    const checked = await check(schema, { a: `${"a".repeat(50)}!` });
    expect(checked).toMatchObject({ ok: false, message: "the schema cannot be used" });
    expect(checked.ok ? "" : checked.schemaFault).toContain(fault);
  });

  test("with a repeated group that is harmless are used", async () => {
    const schema = { properties: { a: { pattern: "^([a-z]+-)*[a-z]+$" } } };
    expect(await messageOf(schema, { a: "ab-cd" })).toBe("ok");
    expect(await messageOf(schema, { a: "ab--cd" })).toContain("must match the pattern");
  });

  test("may name formats that nobody knows", async () => {
    expect(
      await messageOf(
        { properties: { a: { format: "moon-phase" }, b: { format: "email" } } },
        { a: 1, b: "x" },
      ),
    ).toBe("ok");
  });

  test("are compiled once", async () => {
    const validator = createSchemaValidator();
    let reads = 0;
    const schema = {
      get properties() {
        reads++;
        return { a: { type: "string" } };
      },
    };
    await validator.check(schema, { a: "x" });
    const before = reads;
    expect(await validator.check(schema, { a: 1 })).toMatchObject({ message: "/a must be string" });
    expect(reads).toBe(before);
  });
});
