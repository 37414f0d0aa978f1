import { describe, expect, test } from "vitest";
import { entry, validateEntries, validateTool } from "./validate-tool.ts";
import { greetTool, prompt, toolset, validateTree } from "./validate-tree.ts";

const codes = ["LongText"] as const;
const long = "a".repeat(4097);
const just = "😀".repeat(4096);
const paths = (problems: readonly { path?: readonly unknown[] }[]) =>
  problems.map(({ path }) => path?.join("."));

test("LongText counts characters, not UTF-16 units", async () => {
  expect(await validateTool({ description: just }, codes)).toEqual([]);
  expect(await validateTool({ description: `${just}!` }, codes)).toMatchObject([
    {
      severity: "warning",
      args: { characters: 4097, limit: 4096 },
      kind: "tool",
      item: "greet",
      file: "trailblaze/tools/greet.json",
      path: ["description"],
    },
  ]);
});

describe("descriptions that are measured", () => {
  test.each([
    [{ parameters: { a: { type: "string", description: long } } }, "parameters.a.description"],
    [{ inputSchema: { type: "object", description: long } }, "inputSchema.description"],
    [
      { inputSchema: { type: "object", properties: { a: { anyOf: [{ items: { description: long } }] } } } },
      "inputSchema.properties.a.anyOf.0.items.description",
    ],
    [
      { inputSchema: { type: "object", $defs: { a: { description: long } } } },
      "inputSchema.$defs.a.description",
    ],
    [{ outputSchema: { type: "object", description: long } }, "outputSchema.description"],
  ])("LongText is reported for a description in a tool: %j", async (fields, path) => {
    expect(paths(await validateTool(fields, codes))).toEqual([path]);
  });

  test("LongText is reported for an entry of a bundle and its arguments", async () => {
    const argumentsSchema = { type: "object", properties: { a: { description: long } } };
    const problems = await validateEntries([entry(), entry({ description: long, argumentsSchema })], codes);
    expect(paths(problems)).toEqual([
      "entries.1.description",
      "entries.1.argumentsSchema.properties.a.description",
    ]);
  });

  test("LongText is reported for the package, declarations, toolsets, and prompts and their arguments", async () => {
    const problems = await validateTree(
      {
        extension: {
          tools: [["greet", long]],
          toolsets: [{ name: "all", description: long }],
          prompts: ["hello"],
        },
        files: {
          "trailblaze/tools/greet.json": greetTool("./lib/greet.js"),
          "trailblaze/toolsets/all.json": toolset("all", { description: long, tools: [] }),
          "trailblaze/prompts/hello.json": prompt("hello", {
            content: "{{a}}",
            arguments: [{ name: "a", description: long }],
          }),
        },
        fields: { description: long },
      },
      codes,
    );
    expect(problems.map(({ file, kind, path }) => [file, kind, path?.join(".")])).toEqual([
      ["package.json", undefined, undefined],
      ["package.json", "tool", "tools.0"],
      ["package.json", "toolset", "toolsets.0"],
      ["trailblaze/toolsets/all.json", "toolset", "description"],
      ["trailblaze/prompts/hello.json", "prompt", "arguments.0.description"],
    ]);
    for (const { line } of problems) expect(line).toBeGreaterThan(1);
  });
});

test("LongText is not reported for values, or for a parameter named description", async () => {
  const properties = {
    description: { type: "string", default: long },
    a: { enum: [{ description: long }], examples: [{ description: long }] },
  };
  expect(await validateTool({ inputSchema: { type: "object", properties } }, codes)).toEqual([]);
});
