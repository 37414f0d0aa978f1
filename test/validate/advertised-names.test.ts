import { describe, expect, test } from "vitest";
import { entry, validateEntries, validateTool } from "./validate-tool.ts";
import { greetTool, prompt, validateTree } from "./validate-tree.ts";

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
});
