import { describe, expect, test } from "vitest";
import { entry, validateEntries, validateTool } from "./validate-tool.ts";

const codes = ["InvalidInputSchema"] as const;
const draft07 = "http://json-schema.org/draft-07/schema#";
const draft2020 = "https://json-schema.org/draft/2020-12/schema";

/** What is wrong with an `inputSchema` of type object with these keywords: path and reason of each fault. */
async function judge(keywords: Record<string, unknown>): Promise<string[]> {
  const problems = await validateTool({ inputSchema: { type: "object", ...keywords } }, codes);
  return problems.map(({ path = [], args }) => {
    expect(path[0]).toBe("inputSchema");
    expect(args).toMatchObject({ key: "inputSchema" });
    return `${path.slice(1).join(".")}: ${"reason" in args ? args.reason : ""}`;
  });
}

/** The only fault is at the path, which its reason names too, before the words. */
async function expectFault(keywords: Record<string, unknown>, path: string, words: RegExp | string = "") {
  const [fault = "", ...others] = await judge(keywords);
  expect(others).toEqual([]);
  expect(fault.startsWith(`${path}: `), fault).toBe(true);
  const [, reason] = fault.slice(path.length).split(`\`${path}\``);
  if (typeof words === "string") expect(reason).toContain(words);
  else expect(reason).toMatch(words);
}

test.each<[string, Record<string, unknown>]>([
  ["2020-12 in its $schema", { $schema: draft2020, $defs: { a: { prefixItems: [true] } } }],
  [
    "draft-07 and a list of items",
    { $schema: draft07, properties: { a: { items: [{}, {}], additionalItems: false } } },
  ],
  ["unknown keywords and formats", { "x-note": 5, properties: { a: { format: "phone", widget: {} } } }],
  [
    "values that look like schemas",
    { properties: { a: { enum: [{ type: "text" }], const: { $ref: "x" }, examples: [{ pattern: "[" }] } } },
  ],
  [
    "references by pointer",
    {
      $defs: { "a/b~c d": {}, list: { anyOf: [{}] } },
      properties: { a: { $ref: "#/$defs/a~1b~0c%20d" }, b: { $ref: "#/$defs/list/anyOf/0" } },
    },
  ],
  [
    "references by $id",
    {
      $id: "https://acme.example/tool",
      $defs: { a: { $id: "issue", $defs: { k: {} } } },
      properties: { a: { $ref: "issue#/$defs/k" }, b: { $ref: "https://acme.example/tool#/$defs/a" } },
    },
  ],
  [
    "a reference into an unknown keyword",
    { "x-shared": { a: { type: "string" } }, properties: { a: { $ref: "#/x-shared/a" } } },
  ],
])("validate accepts a schema with %s", async (_what, keywords) => {
  expect(await judge(keywords)).toEqual([]);
});

test.each<[Record<string, unknown>, string, RegExp?]>([
  [
    { properties: { a: { type: "text" } } },
    "properties.a.type",
    /array.*boolean.*integer.*null.*number.*object.*string.*"text"/,
  ],
  [{ $schema: draft07, properties: { a: { items: 5 } } }, "properties.a.items", /5/],
  [
    { $schema: "http://json-schema.org/draft-04/schema#" },
    "$schema",
    /JSON Schema 2020-12.*draft-07.*"http:\/\/json-schema\.org\/draft-04\/schema#"/,
  ],
])("InvalidInputSchema is reported for %j", expectFault);

describe("the type of a schema", () => {
  test.each([
    [{}, /`type: "object"`/, []],
    [{ type: "string" }, /`type`.*"object".*"string"/, ["type"]],
    [{ type: ["object"] }, /`type`.*"object".*array/, ["type"]],
  ])(
    "InvalidInputSchema is reported for a schema whose type is not object: %j",
    async (schema, reason, path) => {
      const args = { key: "inputSchema", reason: expect.stringMatching(reason) };
      const expected = [{ path: ["inputSchema", ...path], args }];
      expect(await validateTool({ inputSchema: schema }, codes)).toMatchObject(expected);
    },
  );

  test("InvalidInputSchema is reported for output schemas and bundle entries whose type is not object", async () => {
    expect(await validateTool({ outputSchema: { type: "array" } }, codes)).toMatchObject([
      { path: ["outputSchema", "type"] },
    ]);
    const problems = await validateEntries(
      [entry({ argumentsSchema: {}, outputSchema: { type: "string" } })],
      codes,
    );
    expect(problems).toMatchObject([
      { path: ["entries", 0, "argumentsSchema"], args: { key: "argumentsSchema" } },
      { path: ["entries", 0, "outputSchema", "type"] },
    ]);
  });
});

test.each([
  ["to a URL", "https://acme.example/issue.json"],
  ["to a missing schema", "#/$defs/a"],
])("InvalidInputSchema is reported for a reference %s: %s", async (_what, $ref) => {
  const keywords = { description: "a", properties: { a: { $ref } } };
  await expectFault(keywords, "properties.a.$ref", `("${$ref}")`);
});

test("validate never runs the patterns of a schema", async () => {
  const hostile = `^(${"a?".repeat(30)}|b)*${"a".repeat(30)}$`;
  expect(
    await judge({
      patternProperties: { [hostile]: {} },
      properties: { ["a".repeat(40)]: { pattern: hostile } },
    }),
  ).toEqual([]);
});

test("a problem in the short form of parameters is reported at its place", async () => {
  const parameters = { person: { type: "strang", required: true }, "odd.name": { minLength: "1" } };
  expect(await validateTool({ parameters }, codes)).toMatchObject([
    {
      path: ["parameters", "person", "type"],
      line: 7,
      args: { key: "parameters", reason: expect.stringContaining("`person.type`") },
    },
    { path: ["parameters", "odd.name", "minLength"] },
  ]);
});

describe("defaults in schemas", () => {
  const refs = { $defs: { language: { enum: ["en", "de"] } } };
  test.each<[Record<string, unknown>, path: string]>([
    [{ properties: { a: { type: "integer", default: "1" } } }, "properties.a.default"],
    [{ ...refs, properties: { a: { $ref: "#/$defs/language", default: "es" } } }, "properties.a.default"],
    // A pattern that needs backtracking is not tried; the other defaults are.
    [
      { properties: { a: { pattern: "^(?=a)(a+)+$", default: "b" }, b: { maximum: 9, default: 10 } } },
      "properties.b.default",
    ],
  ])("a default that its schema rejects is a warning at its place: %j", async (keywords, path) => {
    const problems = await validateTool({ inputSchema: { type: "object", ...keywords } }, codes);
    const place = ["inputSchema", ...path.split(".")];
    expect(problems).toMatchObject([{ severity: "warning", path: place, args: { isDefault: true } }]);
  });

  test.each<Record<string, unknown>>([
    { ...refs, properties: { a: { $ref: "#/$defs/language", default: "de" } } },
    { properties: { a: { properties: { b: { default: 1 } }, required: ["b"], default: {} } } },
    { properties: { default: { type: "string" } } },
  ])("validate accepts a default that its schema allows: %j", async (keywords) => {
    expect(await judge(keywords)).toEqual([]);
  });
});
