import { describe, expect, test } from "vitest";
import { entry, validateEntries, validateTool } from "./validate-tool.ts";
import { greetTool, prompt, toolset, validateTree } from "./validate-tree.ts";

const invalid = ["InvalidAdvertisedName"] as const;
const duplicate = ["DuplicateAdvertisedName"] as const;

describe("advertised names that clients accept", () => {
  test.each(["A-b_C-1", "x".repeat(64)])("validate accepts the advertised name %s", async (name) => {
    expect(await validateTool({ name }, invalid)).toEqual([]);
  });

  test.each(["jira.create", "é", "x".repeat(65), "a\n"])(
    "validate rejects the advertised name %j",
    async (name) => {
      expect(await validateTool({ name }, invalid)).toMatchObject([
        { severity: "error", path: ["name"], item: "greet" },
      ]);
    },
  );

  test("validate rejects advertised names of bundle entries and prompts, too", async () => {
    expect(await validateEntries([entry(), entry({ name: "a.b" })], invalid)).toMatchObject([
      { kind: "toolset", item: "greetings", path: ["entries", 1, "name"] },
    ]);
    const files = { "trailblaze/prompts/hello.json": prompt("hello there") };
    expect(await validateTree({ extension: { prompts: ["hello"] }, files }, invalid)).toMatchObject([
      { kind: "prompt", item: "hello" },
    ]);
  });
});

const bundle = (name: string, ...names: string[]) => ({
  kind: "Mcp.Tools",
  metadata: { name },
  entries: names.map((one) => entry({ name: one })),
});

describe("duplicate advertised names", () => {
  test("validate reports an advertised name that several tools share", async () => {
    const files = {
      "trailblaze/tools.json": {
        one: greetTool("./a.js"),
        two: greetTool("./a.js"),
        three: greetTool("./a.js"),
      },
    };
    const problems = await validateTree({ extension: { tools: ["one", "two", "three"] }, files }, duplicate);
    const args = { name: "hello_greet", other: "one" };
    expect(problems).toMatchObject([
      { severity: "error", item: "two", path: ["name"], args },
      { item: "three" },
    ]);
  });

  test("validate reports an advertised name that two entries of a bundle share", async () => {
    expect(await validateEntries([entry(), entry()], duplicate)).toMatchObject([
      { path: ["entries", 1, "name"] },
    ]);
  });

  const bundles = {
    "trailblaze/toolsets/one.json": bundle("one", "a", "b"),
    "trailblaze/toolsets/two.json": bundle("two", "b", "c"),
  };

  test.each([
    ["a document", { kind: "Mcp.StdioServer", metadata: { name: "desk" }, tools: ["one", "two"] }],
    ["a composed server, by way of another toolset", { toolsets: ["one", "all"] }],
  ])("validate reports an advertised name that two bundles share in %s", async (_what, server) => {
    const files = {
      ...bundles,
      "trailblaze/toolsets/all.json": toolset("all", { toolsets: ["all", "two"] }),
      "trailblaze/servers/desk.json": server,
    };
    const problems = await validateTree(
      { extension: { servers: ["desk"], toolsets: ["one", "two", "all"] }, files },
      duplicate,
    );
    const args = { name: "b", other: "one" };
    expect(problems).toMatchObject([{ kind: "toolset", item: "two", path: ["entries", 0, "name"], args }]);
  });

  test("a tool may share an advertised name with a prompt or with an entry of a bundle", async () => {
    const files = {
      "trailblaze/tools/greet.json": greetTool("./a.js"),
      "trailblaze/prompts/hello.json": prompt("hello_greet"),
      "trailblaze/toolsets/one.json": bundle("one", "hello_greet"),
    };
    const extension = { tools: ["greet"], prompts: ["hello"], toolsets: ["one"] };
    expect(await validateTree({ extension, files }, duplicate)).toEqual([]);
  });
});
