import { describe, expect, test } from "vitest";
import { validateTree } from "../validate/validate-tree.ts";

/** What is said of a pack with the tools `greet` and `wave`, whose definitions these files hold. */
async function judge(files: Record<string, string>) {
  const problems = await validateTree({ extension: { tools: ["greet", "wave"] }, files });
  return problems.map(({ code, item, file, args }) => [code, item, file, args]);
}

const tool = '{ name: "hello_wave", description: "Wave.", parameters: {}, handler() {} }';
const aboutFunction = expect.objectContaining({ reason: expect.stringContaining("function") });

describe("definitions that are code and export a function", () => {
  test("a function as the definition of one item is one problem of that item", async () => {
    const found = await judge({
      "trailblaze/tools/greet.mjs": "export default function greet() {}",
      "trailblaze/tools/wave.mjs": `export default ${tool};`,
    });
    expect(found).toEqual([["InvalidToolDefinition", "greet", "trailblaze/tools/greet.mjs", aboutFunction]]);
  });

  test("a function in place of several definitions is one problem of the file", async () => {
    const found = await judge({ "trailblaze/tools.mjs": `export default () => ({ wave: ${tool} });` });
    expect(found).toEqual([["InvalidDefinitionContents", undefined, "trailblaze/tools.mjs", aboutFunction]]);
  });
});
