import { describe, expect, test } from "vitest";
import schema from "../../schema/extension.schema.json" with { type: "json" };
import { parseExtension } from "../../src/extension-schema/parse-extension.ts";

const empty = {
  root: "trailblaze",
  servers: [],
  tools: [],
  toolsets: [],
  prompts: [],
  resources: [],
  skills: [],
};
const keys = ["servers", "tools", "toolsets", "prompts", "resources", "skills"] as const;

/** Codes and paths of what is wrong with a field. */
const findings = (value: unknown) =>
  parseExtension(value).problems.map(({ code, path = [] }) => `${code} ${path.join(".")}`);

describe("a valid field", () => {
  test("a field may be empty: every key is optional, and `root` defaults to trailblaze", () => {
    expect(parseExtension({})).toEqual({ extension: empty, problems: [], usable: true });
    const custom = { $schema: "s", "x-": 1, tools: [{ name: "a", "x-cost": 5 }] };
    expect(findings(custom)).toEqual([]);
  });

  test.each(keys)("`%s` may list items in each of the three forms", (key) => {
    const { extension, problems } = parseExtension({
      root: "mcp/definitions",
      [key]: ["a", ["b", "B"], { name: "c" }, { name: "d", description: "D" }, { name: "e", "x-own": [1] }],
    });
    expect(problems).toEqual([]);
    expect(extension.root).toBe("mcp/definitions");
    const kind = key.slice(0, -1);
    expect(extension[key]).toEqual([
      { kind, name: "a", description: null, path: [key, 0], extra: {} },
      { kind, name: "b", description: "B", path: [key, 1], extra: {} },
      { kind, name: "c", description: null, path: [key, 2], extra: {} },
      { kind, name: "d", description: "D", path: [key, 3], extra: {} },
      { kind, name: "e", description: null, path: [key, 4], extra: {} },
    ]);
  });
});

describe("a field with values of the wrong type", () => {
  test.each([[null], [["createIssue"]], [undefined]])("the field %j provides nothing", (value) => {
    expect(findings(value)).toEqual(["MalformedExtension "]);
    expect(parseExtension(value)).toMatchObject({ extension: empty, usable: false });
  });

  test.each(keys)("`%s` of another type loses this list and no other", (key) => {
    for (const value of [null, {}, "createIssue", 5, { createIssue: "x" }]) {
      const field = { ...Object.fromEntries(keys.map((one) => [one, ["a"]])), [key]: value };
      expect(findings(field)).toEqual([`MalformedExtension ${key}`]);
      const { extension, usable } = parseExtension(field);
      expect(usable).toBe(true);
      expect(keys.filter((one) => extension[one].length === 0)).toEqual([key]);
    }
  });

  test.each([[""], [5]])("`root: %j` is reported, and the items are kept", (root) => {
    expect(findings({ root, tools: ["a"] })).toEqual(["MalformedExtension root"]);
    expect(parseExtension({ root, tools: ["a"] }).extension).toMatchObject({
      root: "trailblaze",
      tools: [{ name: "a" }],
    });
  });
});

describe("invalid declarations", () => {
  test.each<[(typeof keys)[number], unknown, string]>([
    ["prompts", null, "it is null"],
    ["tools", ["a"], "expected an array of two strings, found 1 entries"],
    ["tools", [5, "Create"], "`name` must be a string, but it is a number"],
    ["toolsets", ["a", null], "`description` must be a string, but it is null"],
    ["tools", { name: "a", description: null }, "`description` must be a string, but it is null"],
    ["servers", { name: "a", tools: "b" }, "`tools` must be an array of strings, but it is a string"],
    [
      "tools",
      { name: "a", parameters: "b" },
      "`parameters` must be an object, or an array of strings and objects, but it is a string",
    ],
    [
      "prompts",
      { name: "a", arguments: [["a"]] },
      "`arguments` must be an object, or an array of strings and objects, but it is an array",
    ],
  ])("in `%s`, %j is excluded and its neighbors are kept: %s", (key, value, reason) => {
    const { problems, extension, usable } = parseExtension({ [key]: ["first", value, "last"] });
    const place = { severity: "error", kind: key.slice(0, -1), path: [key, 1] };
    expect(problems).toMatchObject([{ code: "InvalidDeclaration", ...place, args: { reason, key } }]);
    expect(extension[key].map(({ name, path }) => [name, path])).toEqual([
      ["first", [key, 0]],
      ["last", [key, 2]],
    ]);
    expect(usable).toBe(true);
  });
});

describe("unknown keys", () => {
  test.each([
    ["tool", "tools"],
    ["promts", "prompts"],
  ])("the unknown key %s is reported with a suggestion: %s", (key, suggestion) => {
    const { problems } = parseExtension({ [key]: [] });
    expect(problems).toMatchObject([{ code: "UnknownExtensionKey", path: [key], args: { key, suggestion } }]);
  });

  test.each([
    ["servers", "parameters"],
    ["prompts", "title"],
    ["tools", "$schema"],
  ])(
    "a declaration in `%s` with the key %s, which belongs to another kind or none, is reported",
    (key, unknown) => {
      expect(findings({ [key]: [{ name: "a", [unknown]: ["b"] }] })).toEqual([
        `UnknownExtensionKey ${key}.0.${unknown}`,
      ]);
    },
  );

  test("an unknown key disables nothing", () => {
    const { problems, ...parsed } = parseExtension({ tool: ["lost"], tools: [{ name: "a", colour: "red" }] });
    expect(parsed).toMatchObject({ usable: true, extension: { tools: [{ name: "a" }] } });
    expect(problems.map(({ severity }) => severity)).toEqual(["warning", "warning"]);
  });

  test.each(["__proto__", "constructor", "X-own", " tools", "tools\u0000"])(
    "the unknown key %j is harmless",
    (key) => {
      const text = JSON.stringify({ tools: [{ name: "a", description: "b" }] }).replaceAll(
        "{",
        `{${JSON.stringify(key)}: {"name": "evil"}, `,
      );
      expect(findings(JSON.parse(text))).toEqual([
        `UnknownExtensionKey ${key}`,
        `UnknownExtensionKey tools.0.${key}`,
      ]);
      expect(parseExtension(JSON.parse(text)).extension.tools).toMatchObject([
        { name: "a", description: "b" },
      ]);
    },
  );
});

test("of declarations of one name, the first counts, and each other is reported", () => {
  const { problems, extension } = parseExtension({ tools: [{ name: "a" }, "b", ["A", "described"], "a"] });
  const duplicate = { code: "DuplicateDeclaration", severity: "error", kind: "tool" };
  expect(problems).toMatchObject([
    { ...duplicate, item: "A", path: ["tools", 2], args: { name: "A", other: "a", key: "tools" } },
    { ...duplicate, item: "a", path: ["tools", 3] },
  ]);
  expect(extension.tools.map(({ name }) => name)).toEqual(["a", "b"]);
});

test.each([
  ["declarations", { tools: Array.from({ length: 5000 }, () => 5) }],
  ["keys", Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, 1]))],
  ["needs", { needs: { env: Array.from({ length: 5000 }, () => "*") } }],
])("a field has at most a thousand problems: %s", (_what, field) => {
  const { problems, usable } = parseExtension(field);
  expect(usable).toBe(true);
  expect(problems).toHaveLength(1000);
});

describe("names of items", () => {
  /** The pattern of the exported schema. */
  const pattern = new RegExp(schema.$defs.name.pattern, "u");
  const bad = ["", "A".repeat(65), "../x", "a\n", "a\u001b[31m", "a\u202e", "\ud800", "__proto__", "NUL.txt"];

  test.each(bad)("the item name %j is invalid, also for the exported schema", (name) => {
    expect(pattern.test(name)).toBe(false);
    for (const declaration of [name, [name, "text"], { name }]) {
      const { problems, extension } = parseExtension({ tools: ["first", declaration, "last"] });
      const place = { severity: "error", kind: "tool", path: ["tools", 1] };
      expect(problems).toMatchObject([{ code: "InvalidItemName", ...place }]);
      expect(`${problems[0]?.message}${problems[0]?.hint}`).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      expect(extension.tools.map((tool) => tool.name)).toEqual(["first", "last"]);
    }
  });
});

describe("what a pack needs", () => {
  test("its problems come after those of declarations", () => {
    expect(findings({ needs: 1, tools: [1] })).toEqual(["InvalidDeclaration tools.0", "InvalidNeeds needs"]);
  });

  /** The parsed `needs`, and the paths and hints of what is wrong with them. */
  function judge(needs: unknown) {
    const { extension, problems, usable } = parseExtension({ needs, tools: ["a"] });
    for (const { code, severity } of problems) expect([code, severity]).toEqual(["InvalidNeeds", "error"]);
    expect([usable, extension.tools.length]).toEqual([true, 1]);
    const hints = problems.map(({ args }) => (args as { hint?: string }).hint);
    return { needs: extension.needs, paths: problems.map(({ path = [] }) => path.join(".")), hints };
  }

  test.each([
    [undefined],
    [{}],
    [{ env: [], read: [] }],
    [{ env: ["A", "_a", "JIRA_TOKEN2"], network: ["api.atlassian.com", "*", ""], write: ["${TMP}/out"] }],
    [{ tools: ["web_click", "acme/jira@^1.2/createIssue", "the tools of the browser"] }],
  ])("%j is valid: an empty array differs from an absent key", (needs) => {
    expect(judge(needs)).toEqual({ needs, paths: [], hints: [] });
  });

  test.each([[null], ["env"], [[]]])("`needs: %j` is invalid, and allows no variables", (value) => {
    expect(judge(value)).toMatchObject({ needs: { env: [] }, paths: ["needs"] });
  });

  test.each([
    ["envs", 'Did you mean "env"?'],
    ["tool", 'Did you mean "tools"?'],
    ["database", 'Use one of env, network, read, write or tools, or start a custom key with "x-".'],
    ["__proto__", expect.any(String)],
    ["constructor", expect.any(String)],
  ])("the unknown key %s is reported and changes nothing: %s", (key, hint) => {
    const { needs, paths, hints } = judge(JSON.parse(`{"${key}": ["A"], "env": ["B"], "x-reason": 1}`));
    expect({ needs, paths, hints }).toEqual({
      needs: { env: ["B"] },
      paths: [`needs.${key}`],
      hints: [hint],
    });
    expect(Object.getPrototypeOf(needs)).toBe(Object.prototype);
  });

  test.each([
    ["env", { env: [] }],
    ["network", {}],
  ])("`needs.%s` that is not an array leaves %j", (key, needs) => {
    for (const value of [null, "A", { 0: "A", length: 1 }])
      expect(judge({ [key]: value })).toMatchObject({ needs, paths: [`needs.${key}`] });
  });

  test.each(["A=1", "A B", "1A", "", "A-B", "Ä", "A\n", "A\u200b", "*", "$HOME"])(
    "%j in `env` is no name of a variable, and allows nothing",
    (name) => {
      expect(judge({ env: [name] })).toMatchObject({ needs: { env: [] }, paths: ["needs.env.0"] });
    },
  );
});
