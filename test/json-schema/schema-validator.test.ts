import { describe, expect, test } from "vitest";
import { check } from "../../src/json-schema/schema-validator.ts";

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

const messageOf = async (schema: Record<string, unknown> | undefined, value: unknown) =>
  check(schema, value)?.message ?? "ok";

describe("arguments of a tool", () => {
  test("valid arguments get defaults", () => {
    const args = { summary: "x", nested: { needed: 1 } };
    expect(check(issue, args)).toBeUndefined();
    expect(args).toEqual({ summary: "x", size: 3, nested: { needed: 1, deep: "d" } });
  });

  test("all invalid arguments are reported with their paths", async () => {
    expect(await messageOf(issue, { labels: [1], extra: 1, nested: {}, "a/b": 2 })).toBe(
      "/summary is required; /extra is not allowed; /a~1b is not allowed; /labels/0 must be string; /nested/needed is required",
    );
  });

  test.each([
    [{ enum: ["a", "b"] }, '/v must be one of "a" or "b"'],
    [{ const: 1 }, "/v must be 1"],
    [{ type: "string", pattern: "^x$" }, '/v must match the pattern "^x$"'],
    [{ type: "number", minimum: 5 }, "/v must be >= 5"],
  ])("the violation of %j reads: %s", async (schema, message) => {
    const value = "pattern" in schema ? "y" : 2;
    expect(await messageOf({ properties: { v: schema } }, { v: value })).toBe(message);
  });

  test("without a schema, arguments may be any object, and must be an object", async () => {
    for (const schema of [undefined, {}]) expect(await messageOf(schema, { a: 1 })).toBe("ok");
    for (const value of [[], "x", null, 1]) expect(await messageOf({}, value)).toBe("must be object");
  });

  test("only own properties of the arguments are passed on", async () => {
    expect(await messageOf({ required: ["constructor", "toString"] }, {})).toBe(
      "/constructor is required; /toString is required",
    );
    const schema = JSON.parse('{ "properties": { "__proto__": { "default": { "polluted": true } } } }');
    const args = {};
    expect(check(schema, args)).toBeUndefined();
    expect("polluted" in args).toBe(false);
  });
});

describe("schemas of tools", () => {
  const tuple = { items: [{ type: "string" }], additionalItems: false };
  test.each([
    ["http://json-schema.org/draft-07/schema#", "/l must NOT have more than 1 items"],
    [undefined, "/properties/l/items must be a schema: an object or a boolean, but it is an array"],
  ])("schemas of draft %s are read as that draft", async ($schema, message) => {
    const schema = { ...($schema === undefined ? {} : { $schema }), properties: { l: tuple } };
    expect(await messageOf(schema, { l: ["a", "b"] })).toBe(message);
    const modern = { ...schema, properties: { l: { prefixItems: [{ type: "string" }], items: false } } };
    expect(await messageOf(modern, { l: ["a", "b"] })).toBe(
      $schema === undefined
        ? "/l must NOT have more than 1 items"
        : "/l/0 is not allowed; /l/1 is not allowed",
    );
  });

  test("a schema may refer to its own parts, also by its own address, but not to other documents", async () => {
    const own = {
      $id: "https://example.com/own",
      properties: { a: { $ref: "#/$defs/text" }, b: { $ref: "https://example.com/own#/$defs/text" } },
      $defs: { text: { type: "string" } },
    };
    for (const schema of [own, structuredClone(own)]) {
      expect(check(schema, { a: 1, b: 2 })).toMatchObject({
        message: "/a must be string; /b must be string",
      });
    }
    expect(await messageOf({ $ref: "https://example.com/other" }, {})).toContain(
      "/$ref points outside the schema",
    );
  });

  test.each([
    ["$defs", "list"],
    // Not the name of a keyword: the resource is found by a reference.
    ["parts", "#/parts/list"],
  ])("a dynamic reference to one of several schemas with its anchor is not followed: in %s", (key, $ref) => {
    const list = { $id: "list", $dynamicAnchor: "node", items: { $dynamicRef: "#node" } };
    const tree = { $id: "https://example.com/tree", $dynamicAnchor: "node" };
    const properties = { a: { $ref } };
    expect(check({ ...tree, properties, [key]: { list } }, { a: [] })?.message).toContain(
      '/items/$dynamicRef may refer to several schemas ("#node"), which is not supported',
    );
    expect(
      check({ $dynamicAnchor: "node", properties: { a: { $dynamicRef: "#node" } } }, {}),
    ).toBeUndefined();
  });

  test.each([
    ["#", {}],
    ["https://example.com/tree", { $id: "https://example.com/tree" }],
    ["#/$defs/tree", { $defs: { tree: { $ref: "#" } } }],
  ])("a schema may refer to itself by %s beside %j", async ($ref, rest) => {
    const tree = {
      type: "object",
      properties: { text: { type: "string" }, inner: { $ref } },
      additionalProperties: false,
    };
    // The same twice, as the tools of two packs may have it.
    for (const schema of [
      { ...rest, ...tree },
      { ...rest, ...tree },
    ]) {
      expect(check(schema, { inner: { inner: { text: "x" } } })).toBeUndefined();
      expect(check(schema, { inner: { inner: { text: 1, other: 1 } } })).toMatchObject({
        message: "/inner/inner/other is not allowed; /inner/inner/text must be string",
      });
    }
  });

  test("what could take long is not checked with a schema of a remote server", () => {
    const inner = { properties: { l: { $ref: "#/$defs/e" }, v: { type: "string" } } };
    const schema = { $ref: "#/$defs/e", $defs: { e: { anyOf: [inner, { ...inner }] } } };
    let value: Record<string, unknown> = { v: 1 };
    expect(check(schema, { l: value }, true)).toBeDefined();
    for (let level = 0; level < 50; level++) value = { l: value };
    expect(check(schema, value, true)).toBeUndefined();
    const names = Array.from({ length: 600 }, (_, index) => `p${index}`);
    const many = { properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])) };
    expect(check(many, { p0: 1 }, true)).toEqual({ message: "it is large", isOfSchema: true });
  });

  test("schemas do not share their parts", async () => {
    const first = { $defs: { a: { $id: "part", type: "string" } }, properties: { v: { $ref: "part" } } };
    const second = { $defs: { b: { $id: "part", type: "number" } }, properties: { v: { $ref: "part" } } };
    const third = { $id: "part", properties: { v: { $ref: "#" } }, type: "object" };
    expect(check(first, { v: 1 })).toMatchObject({ message: "/v must be string" });
    expect(check(second, { v: "x" })).toMatchObject({ message: "/v must be number" });
    expect(check(third, { v: "x" })).toMatchObject({ message: "/v must be object" });
  });

  test.each([
    [{ $schema: "https://example.com/mine" }, "/$schema must be the URI of JSON Schema 2020-12 or draft-07"],
    [{ $schema: { toString: 1 } }, "/$schema must be the URI of JSON Schema 2020-12 or draft-07"],
    [{ properties: { a: { pattern: "(" } } }, "/properties/a/pattern is not a regular expression"],
    [{ allOf: [{ $ref: "#" }] }, "/allOf/0/$ref refers back to itself"],
  ])("the message about an unusable schema says why: %j", async (schema, fault) => {
    const rejection = check(schema, { a: `${"a".repeat(50)}!` });
    expect(rejection).toEqual({ message: expect.stringContaining(fault), isOfSchema: true });
  });

  test("strings and names of any length are matched with a pattern that can backtrack exponentially", async () => {
    const schema = { patternProperties: { "^(b|b)*a$": { pattern: "^(a+)+$" } } };
    expect(await messageOf(schema, { a: "a".repeat(5000) })).toBe("ok");
    expect(await messageOf(schema, { a: `${"a".repeat(5000)}!` })).toContain("must match the pattern");
    expect(await messageOf(schema, { [`${"b".repeat(50)}!`]: "!" })).toBe("ok");
  });
});

describe("limits of patterns and values", () => {
  const inTime = (schema: Record<string, unknown>, value: unknown) =>
    messageOf({ properties: { v: schema } }, { v: value });
  const long = "a".repeat(150_000);

  test("a pattern of values or of names is matched in bounded time", async () => {
    const pattern = "^[\\w.+-]+@[\\w-]+\\.[a-z]{2,}$";
    const fitting = `${long}@${long}.aa`;
    expect(await inTime({ pattern }, long)).toBe(`/v must match the pattern "${pattern}"`);
    expect(await inTime({ pattern }, fitting)).toBe("ok");
    const patternProperties = { [pattern]: { type: "null" } };
    expect(await inTime({ patternProperties }, { [fitting]: 1 })).toMatch(/must be null$/);
    expect(await inTime({ patternProperties }, { [long]: 1 })).toBe("ok");
  });

  test("a string that is too long for a backtracking pattern is rejected and does not match", async () => {
    const pattern = "^(?!x)a*a*a*a*b$";
    const words = "a string is too long to be matched";
    expect(await inTime({ pattern }, "aaab")).toBe("ok");
    expect(await inTime({ pattern }, "aaac")).toContain("must match the pattern");
    expect(await inTime({ pattern }, long)).toContain(words);
    expect(await inTime({ not: { pattern } }, long)).toContain(words);
  });

  test("unique items are checked in bounded time", async () => {
    const items = Array.from({ length: 20_000 }, (_, index) => ({ index, more: ["x"] }));
    expect(await inTime({ uniqueItems: true }, items)).toBe("ok");
    expect(await inTime({ uniqueItems: true }, [...items, { more: ["x"], index: 7 }])).toBe(
      "/v must NOT have duplicate items",
    );
  });

  test("of many violations, the first are reported in bounded time", async () => {
    const many = Array.from({ length: 200_000 }, () => 1);
    expect(await inTime({ items: { type: "string" } }, many)).toMatch(
      /^\/v\/0 must be string; \/v\/1 must be string; .*; and 990 more$/,
    );
    expect(await inTime({ contains: { type: "string" } }, many)).toMatch(/^\/v\/0 must be string; /);
    expect(await inTime({ contains: { type: "string" } }, [...many, "x"])).toBe("ok");
    expect(await inTime({ items: { type: "string" } }, many.slice(0, 12))).toContain(
      "/v/9 must be string; and 2 more",
    );
  });
});
