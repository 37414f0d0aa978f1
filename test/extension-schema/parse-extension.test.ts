import { describe, expect, test } from "vitest";
import { parseExtension } from "../../src/extension-schema/index.ts";

const empty = { root: "trailblaze", servers: [], tools: [], toolsets: [], prompts: [], resources: [] };
const keys = ["servers", "tools", "toolsets", "prompts", "resources"] as const;
const kindOf = {
  servers: "server",
  tools: "tool",
  toolsets: "toolset",
  prompts: "prompt",
  resources: "resource",
} as const;

/** Codes and paths of what is wrong with a field. */
const findings = (value: unknown, context?: "validation" | "operation") =>
  parseExtension(value, context).problems.map(({ code, path }) => [code, path]);

describe("a valid field", () => {
  test("a field may be empty: every key is optional, and `root` defaults to trailblaze", () => {
    expect(parseExtension({})).toEqual({ extension: empty, problems: [], usable: true });
  });

  test("a list may mix the three forms of declarations", () => {
    const { extension, problems, usable } = parseExtension({
      root: "mcp/definitions",
      servers: ["project-management"],
      tools: [
        ["createIssue", "Create an issue"],
        { name: "getIssue", description: "Get an issue", parameters: ["issueKey"] },
        "searchIssues",
      ],
      toolsets: ["triage"],
      prompts: ["issueText"],
    });
    expect(problems).toEqual([]);
    expect(usable).toBe(true);
    expect(extension.root).toBe("mcp/definitions");
    expect(extension.tools).toEqual([
      { kind: "tool", name: "createIssue", description: "Create an issue", path: ["tools", 0], extra: {} },
      {
        kind: "tool",
        name: "getIssue",
        description: "Get an issue",
        path: ["tools", 1],
        extra: { parameters: ["issueKey"] },
      },
      { kind: "tool", name: "searchIssues", description: null, path: ["tools", 2], extra: {} },
    ]);
    expect(extension.servers.map(({ kind, name }) => [kind, name])).toEqual([
      ["server", "project-management"],
    ]);
    expect(extension.toolsets.map(({ kind, name }) => [kind, name])).toEqual([["toolset", "triage"]]);
    expect(extension.prompts.map(({ kind, name }) => [kind, name])).toEqual([["prompt", "issueText"]]);
  });

  test.each(keys)("`%s` may list items in every form", (key) => {
    const { extension, problems } = parseExtension({
      [key]: ["a", ["b", "B"], { name: "c" }, { name: "d", description: "D" }, { name: "e", "x-own": [1] }],
    });
    expect(problems).toEqual([]);
    expect(extension[key].map(({ kind, name, description }) => [kind, name, description])).toEqual([
      [kindOf[key], "a", null],
      [kindOf[key], "b", "B"],
      [kindOf[key], "c", null],
      [kindOf[key], "d", "D"],
      [kindOf[key], "e", null],
    ]);
  });

  test.each([
    ["servers", { tools: ["a"], toolsets: ["b"], prompts: ["c"] }],
    ["tools", { parameters: ["a", "b"] }],
    ["tools", { parameters: [{ name: "a", description: "A", required: true }] }],
    ["tools", { parameters: { a: { type: "string" } } }],
    ["toolsets", { tools: ["a", "acme/jira/b"] }],
    ["servers", { resources: ["d"] }],
    ["prompts", { arguments: ["a"] }],
    ["resources", { uri: "docs://guide", mimeType: "text/plain" }],
    ["resources", { uriTemplate: "docs://{page}" }],
    ["prompts", { arguments: [{ name: "a", description: "A", required: true }] }],
  ] as const)("additional keys of a declaration in `%s` are kept: %j", (key, extra) => {
    const { extension, problems } = parseExtension({ [key]: [{ name: "item", ...extra }] });
    expect(problems).toEqual([]);
    expect(extension[key][0]?.extra).toEqual(extra);
  });

  test("keys of a field that start with x- are allowed", () => {
    expect(parseExtension({ "x-": 1, "x-team": { any: ["thing"] } }, "validation").problems).toEqual([]);
    expect(parseExtension({ tools: [{ name: "a", "x-cost": 5 }] }, "validation").problems).toEqual([]);
  });

  test("items of different kinds may share a name", () => {
    const { extension, problems } = parseExtension({
      tools: ["triage"],
      toolsets: ["triage"],
      prompts: ["Triage"],
      resources: ["triage"],
    });
    expect(problems).toEqual([]);
    expect(keys.map((key) => extension[key].length)).toEqual([0, 1, 1, 1, 1]);
  });
});

describe("a field with values of the wrong type", () => {
  test.each([[null], [[]], [["createIssue"]], ["createIssue"], [5], [true], [undefined]])(
    "the field %j provides nothing",
    (value) => {
      expect(findings(value)).toEqual([["MalformedExtension", []]]);
      const { extension, usable } = parseExtension(value);
      expect(extension).toEqual(empty);
      expect(usable).toBe(false);
    },
  );

  test.each(
    keys.flatMap((key) =>
      [null, {}, "createIssue", 5, true, { createIssue: "x" }].map((value) => [key, value]),
    ),
  )("`%s: %j` loses this list and no other", (key, value) => {
    const field = {
      servers: ["s"],
      tools: ["t"],
      toolsets: ["u"],
      prompts: ["p"],
      resources: ["r"],
      [key as string]: value,
    };
    expect(findings(field)).toEqual([["MalformedExtension", [key]]]);
    const { extension, usable } = parseExtension(field);
    expect(usable).toBe(true);
    expect(keys.map((one) => extension[one].length)).toEqual(keys.map((one) => (one === key ? 0 : 1)));
  });

  test.each([[""], [null], [5], [[]], [{}], [false]])(
    "`root: %j` is reported, and the items are kept",
    (root) => {
      expect(findings({ root, tools: ["a"] })).toEqual([["MalformedExtension", ["root"]]]);
      const { extension } = parseExtension({ root, tools: ["a"] });
      expect(extension.root).toBe("trailblaze");
      expect(extension.tools).toHaveLength(1);
    },
  );
});

describe("invalid declarations", () => {
  const malformed: readonly unknown[] = [
    null,
    5,
    true,
    [],
    ["createIssue"],
    ["createIssue", "Create", "more"],
    ["createIssue", null],
    ["createIssue", 5],
    [5, "Create"],
    [["createIssue"], "Create"],
    {},
    { description: "no name" },
    { name: 5 },
    { name: null },
    { name: ["a"] },
    { name: "a", description: 5 },
    { name: "a", description: null },
  ];

  test.each(keys.flatMap((key) => malformed.map((value) => [key, value] as const)))(
    "in `%s`, %j is excluded and its neighbors are kept",
    (key, value) => {
      const field = { [key]: ["first", value, "last"] };
      expect(findings(field)).toEqual([["InvalidDeclaration", [key, 1]]]);
      const { problems, extension, usable } = parseExtension(field);
      expect(problems[0]).toMatchObject({ severity: "error", kind: kindOf[key] });
      expect(problems[0]?.message).not.toMatch(/undefined|\[object|\[native/);
      expect(extension[key].map(({ name, path }) => [name, path])).toEqual([
        ["first", [key, 0]],
        ["last", [key, 2]],
      ]);
      expect(usable).toBe(true);
    },
  );

  test.each([
    ["servers", { tools: "a" }],
    ["servers", { tools: [5] }],
    ["servers", { toolsets: {} }],
    ["servers", { prompts: [null] }],
    ["tools", { parameters: "a" }],
    ["tools", { parameters: [5] }],
    ["tools", { parameters: null }],
    ["toolsets", { tools: { a: 1 } }],
    ["toolsets", { tools: [["a"]] }],
    ["prompts", { arguments: "a" }],
    ["resources", { uri: 1 }],
    ["prompts", { arguments: [["a"]] }],
  ] as const)("in `%s`, an additional key of the wrong type is reported: %j", (key, extra) => {
    expect(findings({ [key]: [{ name: "item", ...extra }] })).toEqual([["InvalidDeclaration", [key, 0]]]);
  });
});

describe("the arguments of problems in a field", () => {
  const argsOf = (field: unknown) => parseExtension(field).problems.map(({ args }) => args);

  test.each([
    ["tools", ["a"], "expected an array of two strings, found 1 entries"],
    ["tools", [5, "Create"], "`name` must be a string, but it is a number"],
    ["tools", ["a", null], "`description` must be a string, but it is null"],
    ["prompts", null, "it is null"],
    ["tools", {}, "`name` is missing"],
    ["tools", { nam: "a" }, '`name` is missing (did you mean it instead of "nam"?)'],
    ["servers", { id: "a" }, '`name` is missing (did you mean it instead of "id"?)'],
    ["tools", { title: "a" }, "`name` is missing"],
    ["tools", { name: 5 }, "`name` must be a string, but it is a number"],
    ["tools", { name: "a", description: null }, "`description` must be a string, but it is null"],
    ["servers", { name: "a", tools: "b" }, "`tools` must be an array, but it is a string"],
    ["toolsets", { name: "a", tools: ["b", 5] }, "`tools.1` must be a string, but it is a number"],
    [
      "tools",
      { name: "a", parameters: "b" },
      "`parameters` must be an array or an object, but it is a string",
    ],
    [
      "tools",
      { name: "a", parameters: [5] },
      "`parameters.0` must be a string or an object, but it is a number",
    ],
  ])("in `%s`, the reason why %j is refused is: %s", (key, value, reason) => {
    expect(argsOf({ [key]: [value] })).toEqual([{ reason, key }]);
  });

  test.each([
    [{ root: "" }, "`root`", "the path of a folder", "empty"],
    [{ root: 5 }, "`root`", "the path of a folder", "a number"],
    [{ prompts: {} }, "`prompts`", "an array", "an object"],
    [null, "The `trailblaze` field", "an object", "null"],
    [{ tools: Array(1001).fill(5) }, "The `trailblaze` field", "valid", /^invalid in more than 1000 places/],
  ])("%j is malformed, with what is expected and what is found", (field, what, expected, found) => {
    const matching = typeof found === "string" ? found : expect.stringMatching(found);
    expect(argsOf(field).at(-1)).toEqual({ what, expected, found: matching });
  });

  test("a duplicate has both names, and an invalid name its reason", () => {
    expect(argsOf({ tools: ["A", "a", "../x"] })).toEqual([
      { name: "a", other: "A", key: "tools" },
      { name: "../x", reason: "it does not start with a letter or digit" },
    ]);
  });

  test("a schema for editors and custom keys are known", () => {
    expect(argsOf({ $schema: "s", "x-a": 1, tools: [{ name: "a", "x-b": 1 }] })).toEqual([]);
    expect(argsOf({ tools: [{ name: "a", $schema: "s" }] })).toEqual([
      { key: "$schema", known: ["name", "description", "parameters"] },
    ]);
  });
});

describe("unknown keys", () => {
  test.each([
    ["tool", "tools"],
    ["Tools", "tools"],
    ["server", "servers"],
    ["roots", "root"],
    ["promts", "prompts"],
  ])("the unknown key %s is reported with a suggestion: %s", (key, suggestion) => {
    const { problems } = parseExtension({ [key]: [] });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({
      code: "UnknownExtensionKey",
      path: [key],
      args: { key, suggestion },
    });
  });

  test.each([
    ["servers", "parameters"],
    ["servers", "arguments"],
    ["tools", "arguments"],
    ["tools", "tools"],
    ["toolsets", "parameters"],
    ["toolsets", "toolsets"],
    ["prompts", "parameters"],
    ["prompts", "title"],
  ] as const)(
    "a declaration in `%s` with the key %s, which belongs to another kind or none, is reported",
    (key, unknown) => {
      expect(findings({ [key]: [{ name: "a", [unknown]: ["b"] }] })).toEqual([
        ["UnknownExtensionKey", [key, 0, unknown]],
      ]);
    },
  );

  test("an unknown key disables nothing outside validation", () => {
    const field = { tool: ["lost"], tools: [{ name: "a", colour: "red" }] };
    const { extension, problems, usable } = parseExtension(field);
    expect(extension.tools).toHaveLength(1);
    expect(usable).toBe(true);
    expect(problems.map(({ severity }) => severity)).toEqual(["warning", "warning"]);
  });

  test("an unknown key is an error in validation", () => {
    const { problems } = parseExtension({ tool: [], tools: [{ name: "a", colour: "red" }] }, "validation");
    expect(problems.map(({ severity }) => severity)).toEqual(["error", "error"]);
  });

  test.each(["__proto__", "constructor", "toString", "X-own", "x", " tools", "tools\u0000"])(
    "the unknown key %j is harmless",
    (key) => {
      const field = JSON.parse(`{${JSON.stringify(key)}: {"polluted": true}, "tools": ["a"]}`) as object;
      expect(findings(field)).toEqual([["UnknownExtensionKey", [key]]]);
      expect(parseExtension(field).extension.tools).toHaveLength(1);
      expect({}).not.toHaveProperty("polluted");
    },
  );

  test("__proto__ inside a declaration is an unknown key and adds no description", () => {
    const field = JSON.parse('{"tools": [{"name": "a", "__proto__": {"description": "evil", "name": "b"}}]}');
    expect(findings(field)).toEqual([["UnknownExtensionKey", ["tools", 0, "__proto__"]]]);
    expect(parseExtension(field).extension.tools[0]).toMatchObject({ name: "a", description: null });
  });
});

describe("duplicate declarations", () => {
  test.each([
    [["a", "a"], "a"],
    [["createIssue", "createissue"], "createissue"],
    [["a", ["A", "described"]], "A"],
    [[{ name: "a" }, "b", { name: "A" }], "A"],
  ])("of declarations of one name in %j, the first counts", (tools, second) => {
    const { problems, extension } = parseExtension({ tools });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({
      code: "DuplicateDeclaration",
      severity: "error",
      kind: "tool",
      item: second,
      path: ["tools", tools.length - 1],
    });
    expect(extension.tools).toHaveLength(tools.length - 1);
  });

  test("each duplicate declaration is reported", () => {
    expect(findings({ tools: ["a", "A", "a"] })).toEqual([
      ["DuplicateDeclaration", ["tools", 1]],
      ["DuplicateDeclaration", ["tools", 2]],
    ]);
  });
});

test("all problems of a field are found in one run, ordered by kind", () => {
  const field = {
    root: 5,
    tool: [],
    servers: {},
    tools: ["a", 5, "../x", { name: "b", colour: 1 }, "A"],
    toolsets: "x",
    prompts: [["p"]],
  };
  expect(findings(field, "validation")).toEqual([
    ["UnknownExtensionKey", ["tool"]],
    ["MalformedExtension", ["root"]],
    ["MalformedExtension", ["servers"]],
    ["InvalidDeclaration", ["tools", 1]],
    ["InvalidItemName", ["tools", 2]],
    ["UnknownExtensionKey", ["tools", 3, "colour"]],
    ["DuplicateDeclaration", ["tools", 4]],
    ["MalformedExtension", ["toolsets"]],
    ["InvalidDeclaration", ["prompts", 0]],
  ]);
});

describe("a field with very many problems", () => {
  const broken = (count: number) => Array.from({ length: count }, () => 5);
  const rest = {
    code: "MalformedExtension",
    path: [],
    args: { found: expect.stringContaining("1000") },
  };

  test.each([
    ["declarations", { tools: broken(5000) }],
    ["names", { tools: Array.from({ length: 5000 }, (_, index) => `a b ${index}`) }],
    ["keys", Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, 1]))],
  ])("more than a thousand problems end with one that says so: %s", (_what, field) => {
    const { problems, usable } = parseExtension(field);
    expect(usable).toBe(true);
    expect(problems).toHaveLength(1001);
    expect(problems.at(-1)).toMatchObject(rest);
    expect(problems.filter(({ code }) => code === "MalformedExtension")).toHaveLength(1);
  });
});
