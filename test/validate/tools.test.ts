import { describe, expect, test } from "vitest";
import { entry, validateEntries, validateTool } from "./validate-tool.ts";
import { greetTool, prompt, validateTree } from "./validate-tree.ts";

describe("names of tools", () => {
  const codes = ["ToolNameConvention", "ReservedToolPrefix"] as const;
  const codesOf = async (name: string) => (await validateTool({ name }, codes)).map(({ code }) => code);

  test.each(["tap", "checkout_applyCoupon", "myapp_ios_scroll", "myapp_login_v10"])(
    "the tool name %s follows the convention",
    async (name) => {
      expect(await codesOf(name)).toEqual([]);
    },
  );

  test.each(["Tap", "jira_CreateIssue", "a_b_c_d_doIt", "_tap", "a__b", "9lives"])(
    "ToolNameConvention is reported for %s",
    async (name) => {
      expect(await codesOf(name)).toEqual(["ToolNameConvention"]);
    },
  );

  test.each(["org_a", "ios_a", "android_a", "mobile_a", "web_a"])(
    "ReservedToolPrefix is reported for %s",
    async (name) => {
      expect(await validateTool({ name }, codes)).toMatchObject([
        { code: "ReservedToolPrefix", severity: "warning", path: ["name"], line: 2 },
      ]);
    },
  );
});

describe("metadata of tools", () => {
  const codes = ["UnknownMetaKey", "InvalidMetaValue"] as const;
  const validateMeta = (_meta: Record<string, unknown>) => validateTool({ _meta }, codes);

  describe("unknown keys of `_meta`", () => {
    test.each([
      ["trailblaze/isForLLM", "trailblaze/isForLlm"],
      ["trailblaze/supportedPlatform", "trailblaze/supportedPlatforms"],
      ["trailblaze/colour", undefined],
    ])("UnknownMetaKey is reported for %s", async (key, suggestion) => {
      const [problem, ...others] = await validateMeta({ [key]: true });
      expect(problem).toMatchObject({ code: "UnknownMetaKey", severity: "warning", path: ["_meta", key] });
      const known = expect.arrayContaining(["trailblaze/isForLlm"]);
      expect(problem?.args).toEqual({ key, suggestion, known });
      expect(others).toEqual([]);
    });
  });

  describe("invalid values of `_meta`", () => {
    test.each([
      ["isForLlm", "no", /"no"/],
      ["supportedDrivers", ["ios-host", 5], /^\["ios-host", 5\]$/],
      ["supportedPlatforms", ["IOS", "PHONE"], /^\["IOS", "PHONE"\]$/],
      ["toolset", "", /^""$/],
    ])("InvalidMetaValue is reported for %s: %j", async (name, value, found) => {
      const key = `trailblaze/${name}`;
      expect(await validateMeta({ [key]: value })).toMatchObject([
        {
          code: "InvalidMetaValue",
          severity: "error",
          path: ["_meta", key],
          args: { key, found: expect.stringMatching(found) },
        },
      ]);
    });
  });
});

describe("patterns", () => {
  const codes = ["UnsafePattern"] as const;
  const unsafe = "^([A-Z]+)+$";

  test("UnsafePattern is reported for patterns at any place of a schema", async () => {
    const inputSchema = {
      type: "object",
      properties: { key: { type: "string", pattern: unsafe }, list: { items: { pattern: unsafe } } },
      patternProperties: { [unsafe]: {} },
    };
    expect(await validateTool({ inputSchema }, codes)).toMatchObject([
      { path: ["inputSchema", "patternProperties", unsafe] },
      { severity: "warning", path: ["inputSchema", "properties", "key", "pattern"], line: 10 },
      { path: ["inputSchema", "properties", "list", "items", "pattern"] },
    ]);
  });
});

describe("descriptions", () => {
  const codes = ["MissingDescription"] as const;

  const undescribed = {
    "tools/greet": greetTool("./a.js", { description: undefined }),
    "toolsets/all": { name: "all", tools: [] },
    "prompts/hello": { name: "hello", content: "Say hello." },
  };

  const validate = (place: string, definition: unknown, description?: string) => {
    const [key = "", item = ""] = place.split("/");
    const declaration = description === undefined ? item : [item, description];
    const files = { [`trailblaze/${place}.json`]: definition };
    return validateTree({ extension: { [key]: [declaration] }, files }, codes);
  };

  test.each(Object.entries(undescribed))(
    "MissingDescription is reported for %s unless package.json or its definition describes it",
    async (place, definition) => {
      expect(await validate(place, definition, "What it is for.")).toEqual([]);
      expect(await validate(place, { ...definition, description: "What it is for." })).toEqual([]);
      const [key = "", item] = place.split("/");
      const args = { what: expect.stringMatching(`${key.slice(0, -1)}.*"${item}"`) };
      expect(await validate(place, definition)).toMatchObject([{ severity: "warning", item, args }]);
    },
  );

  test("MissingDescription is not reported for a bundle, but for each entry without a description", async () => {
    const { description: _, ...bare } = entry();
    const problems = await validateEntries([entry(), bare], codes);
    const args = { what: expect.stringMatching(/"hello_greet".*"greetings"/) };
    expect(problems).toMatchObject([{ path: ["entries", 1], args }]);
  });
});

describe("names of items", () => {
  const codes = ["NameMismatch"] as const;

  const definitions = {
    "servers/composed": (name: string) => ({ name, tools: [] }),
    "servers/document": (name: string) => ({ kind: "Mcp.HttpEndpoint", metadata: { name }, tools: [] }),
    "toolsets/bundle": (name: string) => ({ kind: "Mcp.Tools", metadata: { name }, entries: [entry()] }),
    "prompts/hello": (name: string) => prompt(name),
  };

  test.each(Object.entries(definitions))(
    "NameMismatch is reported if the definition of %s has another name than the item",
    async (place, define) => {
      const [key = "", item = ""] = place.split("/");
      const validate = (definition: unknown) =>
        validateTree(
          { extension: { [key]: [item] }, files: { [`trailblaze/${place}.json`]: definition } },
          codes,
        );
      expect(await validate(define(item))).toEqual([]);
      const definition = define("other");
      const path = "metadata" in definition ? ["metadata", "name"] : ["name"];
      const args = { name: "other", item };
      expect(await validate(definition)).toMatchObject([{ severity: "warning", item, path, args }]);
    },
  );
});

test("many findings of one check hide no error of another item", async () => {
  const { name: _, ...written } = greetTool("./lib/any.cjs#any");
  const names = Array.from({ length: 1001 }, (_, index) => `greet${index}`);
  const tools = Object.fromEntries(names.map((name) => [name, { ...written, name }]));
  const last = { ...written, name: "last", handler: "./lib/missing.js" };
  const files = {
    "trailblaze/tools.json": { ...tools, last },
    "lib/any.cjs": "module.exports = require(process.argv[2]);\n",
  };
  const codes = ["HandlerNotFound", "HandlerUnchecked"];
  const problems = await validateTree({ extension: { tools: [...names, "last"] }, files }, codes);
  expect(problems).toHaveLength(1002);
  expect(problems).toContainEqual(expect.objectContaining({ code: "HandlerNotFound", item: "last" }));
});

test("one check reports at most 1,000 errors of one item", async () => {
  const properties = Object.fromEntries(Array.from({ length: 1500 }, (_, index) => [index, { type: 1 }]));
  const problems = await validateTool({ inputSchema: { type: "object", properties } }, [
    "InvalidInputSchema",
  ]);
  expect(problems).toHaveLength(1000);
});
