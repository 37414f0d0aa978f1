import { describe, expect, test } from "vitest";
import { validateTree } from "../validate/validate-tree.ts";

/** What is said of a pack with the tools `greet` and `wave`, whose definitions these files hold. */
async function judge(files: Record<string, string>) {
  const problems = await validateTree({ extension: { tools: ["greet", "wave"] }, files });
  return problems.map(({ code, item, file, args }) => [code, item, file, args]);
}

const tool = '{ name: "hello_wave", description: "Wave.", parameters: {}, handler() {} }';
const aboutFunction = expect.objectContaining({ reason: expect.stringContaining("function") });

describe("a definition that is code and exports a function", () => {
  test("of one item is one fault of this item", async () => {
    const found = await judge({
      "trailblaze/tools/greet.mjs": "export default function greet() {}",
      "trailblaze/tools/wave.mjs": `export default ${tool};`,
    });
    expect(found).toEqual([["InvalidToolDefinition", "greet", "trailblaze/tools/greet.mjs", aboutFunction]]);
  });

  test("among several is one fault of this item", async () => {
    const found = await judge({ "trailblaze/tools.mjs": `export default { greet() {}, wave: ${tool} };` });
    expect(found).toEqual([["InvalidToolDefinition", "greet", "trailblaze/tools.mjs", aboutFunction]]);
  });

  test("in place of several is one fault of the file", async () => {
    const found = await judge({ "trailblaze/tools.mjs": `export default () => ({ wave: ${tool} });` });
    expect(found).toEqual([["InvalidDefinitionContents", undefined, "trailblaze/tools.mjs", aboutFunction]]);
  });
});
