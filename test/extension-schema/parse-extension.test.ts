import { describe, expect, test } from "vitest";
import { parseExtension } from "../../src/extension-schema/index.ts";

const empty = { root: "trailblaze", servers: [], tools: [], toolsets: [], prompts: [] };
const keys = ["servers", "tools", "toolsets", "prompts"] as const;
const kindOf = { servers: "server", tools: "tool", toolsets: "toolset", prompts: "prompt" } as const;

/** Codes and paths of what is wrong with a field. */
const findings = (value: unknown, context?: "validation" | "operation") =>
  parseExtension(value, context).problems.map(({ code, path }) => [code, path]);

describe("a good field", () => {
  test("may be empty: every key is optional, and root is trailblaze", () => {
    expect(parseExtension({})).toEqual({ extension: empty, problems: [], usable: true });
  });

  test("is read as in the contract, the three forms mixed in one list", () => {
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

  test.each(keys)("may list %s in every form", (key) => {
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
    ["prompts", { arguments: ["a"] }],
    ["prompts", { arguments: [{ name: "a", description: "A", required: true }] }],
  ] as const)("keeps the further keys of a map in %s: %j", (key, extra) => {
    const { extension, problems } = parseExtension({ [key]: [{ name: "item", ...extra }] });
    expect(problems).toEqual([]);
    expect(extension[key][0]?.extra).toEqual(extra);
  });

  test("may have keys of its own that begin with x-", () => {
    expect(parseExtension({ "x-": 1, "x-team": { any: ["thing"] } }, "validation").problems).toEqual([]);
    expect(parseExtension({ tools: [{ name: "a", "x-cost": 5 }] }, "validation").problems).toEqual([]);
  });

  test("may use one name for items of different kinds", () => {
    const { extension, problems } = parseExtension({
      tools: ["triage"],
      toolsets: ["triage"],
      prompts: ["Triage"],
    });
    expect(problems).toEqual([]);
    expect(keys.map((key) => extension[key].length)).toEqual([0, 1, 1, 1]);
  });
});

describe("a field of the wrong type", () => {
  test.each([[null], [[]], [["createIssue"]], ["createIssue"], [5], [true], [undefined]])(
    "%j brings nothing",
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
  )("%s: %j loses this list and no other", (key, value) => {
    const field = { servers: ["s"], tools: ["t"], toolsets: ["u"], prompts: ["p"], [key as string]: value };
    expect(findings(field)).toEqual([["MalformedExtension", [key]]]);
    const { extension, usable } = parseExtension(field);
    expect(usable).toBe(true);
    expect(keys.map((one) => extension[one].length)).toEqual(keys.map((one) => (one === key ? 0 : 1)));
  });

  test.each([[""], [null], [5], [[]], [{}], [false]])("root: %j is refused, the items stay", (root) => {
    expect(findings({ root, tools: ["a"] })).toEqual([["MalformedExtension", ["root"]]]);
    const { extension } = parseExtension({ root, tools: ["a"] });
    expect(extension.root).toBe("trailblaze");
    expect(extension.tools).toHaveLength(1);
  });
});

describe("a declaration of no form", () => {
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
    "in %s: %j is left out, its neighbours stay",
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
    ["prompts", { arguments: [["a"]] }],
  ] as const)("in %s: a further key of the wrong type, %j", (key, extra) => {
    expect(findings({ [key]: [{ name: "item", ...extra }] })).toEqual([["InvalidDeclaration", [key, 0]]]);
  });
});

describe("an unknown key", () => {
  test.each([
    ["tool", "tools"],
    ["Tools", "tools"],
    ["server", "servers"],
    ["roots", "root"],
    ["promts", "prompts"],
  ])("of the field, %s, is reported with a suggestion: %s", (key, suggestion) => {
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
  ] as const)("of a map in %s: %s belongs to another kind or to none", (key, unknown) => {
    expect(findings({ [key]: [{ name: "a", [unknown]: ["b"] }] })).toEqual([
      ["UnknownExtensionKey", [key, 0, unknown]],
    ]);
  });

  test("disables nothing outside of validation", () => {
    const field = { tool: ["lost"], tools: [{ name: "a", colour: "red" }] };
    const { extension, problems, usable } = parseExtension(field);
    expect(extension.tools).toHaveLength(1);
    expect(usable).toBe(true);
    expect(problems.map(({ severity }) => severity)).toEqual(["warning", "warning"]);
  });

  test("is an error in validation", () => {
    const { problems } = parseExtension({ tool: [], tools: [{ name: "a", colour: "red" }] }, "validation");
    expect(problems.map(({ severity }) => severity)).toEqual(["error", "error"]);
  });

  test.each(["__proto__", "constructor", "toString", "X-own", "x", " tools", "tools\u0000"])(
    "%j is one, and harmless",
    (key) => {
      const field = JSON.parse(`{${JSON.stringify(key)}: {"polluted": true}, "tools": ["a"]}`) as object;
      expect(findings(field)).toEqual([["UnknownExtensionKey", [key]]]);
      expect(parseExtension(field).extension.tools).toHaveLength(1);
      expect({}).not.toHaveProperty("polluted");
    },
  );

  test("__proto__ inside a declaration is one, and does not lend it a description", () => {
    const field = JSON.parse('{"tools": [{"name": "a", "__proto__": {"description": "evil", "name": "b"}}]}');
    expect(findings(field)).toEqual([["UnknownExtensionKey", ["tools", 0, "__proto__"]]]);
    expect(parseExtension(field).extension.tools[0]).toMatchObject({ name: "a", description: null });
  });
});

describe("two items of one kind", () => {
  test.each([
    [["a", "a"], "a"],
    [["createIssue", "createissue"], "createissue"],
    [["a", ["A", "described"]], "A"],
    [[{ name: "a" }, "b", { name: "A" }], "A"],
  ])("%j share a name: the first counts", (tools, second) => {
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

  test("are each reported", () => {
    expect(findings({ tools: ["a", "A", "a"] })).toEqual([
      ["DuplicateDeclaration", ["tools", 1]],
      ["DuplicateDeclaration", ["tools", 2]],
    ]);
  });
});

test("everything wrong is found in one run, in the order of the field's kinds", () => {
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

test("reading a field changes nothing of it", () => {
  const field = { tools: [{ name: "a", parameters: ["b"] }, "../x"], tool: 5 };
  const before = structuredClone(field);
  parseExtension(field, "validation");
  expect(field).toEqual(before);
});

describe("a field with very many faults", () => {
  const broken = (count: number) => Array.from({ length: count }, () => 5);
  const rest = {
    code: "MalformedExtension",
    path: [],
    args: { found: expect.stringContaining("1000") },
  };

  test("has up to a thousand of them listed, each in its place", () => {
    const { problems } = parseExtension({ tools: broken(1000) });
    expect(problems.map(({ code, path }) => [code, path])).toEqual(
      broken(1000).map((_, index) => ["InvalidDeclaration", ["tools", index]]),
    );
  });

  test.each([
    ["declarations", { tools: broken(5000) }],
    ["declarations of several kinds", { servers: broken(600), tools: broken(600), prompts: broken(600) }],
    ["names", { tools: Array.from({ length: 5000 }, (_, index) => `a b ${index}`) }],
    ["repetitions", { tools: Array.from({ length: 5000 }, () => "a") }],
    ["keys", Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, 1]))],
    [
      "keys of declarations",
      { tools: Array.from({ length: 5000 }, (_, index) => ({ name: `t${index}`, key: 1 })) },
    ],
  ])("says once that there are more: %s", (_what, field) => {
    const { problems, usable } = parseExtension(field);
    expect(usable).toBe(true);
    expect(problems).toHaveLength(1001);
    expect(problems.at(-1)).toMatchObject(rest);
    expect(problems.filter(({ code }) => code === "MalformedExtension")).toHaveLength(1);
  });

  test("loses none of its good declarations", () => {
    const { extension } = parseExtension({ tools: [...broken(5000), "createIssue"], prompts: ["issueText"] });
    expect(extension.tools.map(({ name }) => name)).toEqual(["createIssue"]);
    expect(extension.prompts.map(({ name }) => name)).toEqual(["issueText"]);
  });
});
