import { describe, expect, test } from "vitest";
import { innerKeys } from "../../src/extension-schema/definition-keys.ts";
import { definitionShapes } from "../../src/extension-schema/definition-schema.ts";
import { checkDefinition } from "../../src/extension-schema/index.ts";
import type { Problem } from "../../src/problems/index.ts";
import { entry, validateEntries, validateTool } from "./validate-tool.ts";
import { greetTool, prompt, toolset, validateTree } from "./validate-tree.ts";

const codes = ["UnknownDefinitionKey"] as const;
/** Where the key is, and the key that is suggested: an argument of its own, or in the hint of what lacks it. */
const summary = ({ path = [], args }: Problem) => {
  const suggestion = "suggestion" in args ? args.suggestion : undefined;
  const hint = "hint" in args ? args.hint : undefined;
  return `${path.join(".")}: ${suggestion ?? /`(.+?)`/.exec(hint ?? "")?.[1]}`;
};

test("the keys of inner maps are those of the shapes", () => {
  const { tool, toolsBundle, prompt: promptShape } = definitionShapes;
  const sorted = (keys: readonly string[]) => [...keys].sort();
  expect(sorted(innerKeys.annotations)).toEqual(sorted(Object.keys(tool.shape.annotations.unwrap().shape)));
  expect(sorted(innerKeys.entry)).toEqual(sorted(Object.keys(toolsBundle.shape.entries.element.shape)));
  const argument = promptShape.shape.arguments.unwrap().element.shape;
  expect(innerKeys.argument).toEqual(expect.arrayContaining(Object.keys(argument)));
  const option = tool.shape.options.unwrap().valueType.shape;
  expect(innerKeys.option).toEqual(expect.arrayContaining(Object.keys(option)));
});

describe("a misspelled key of a tool", () => {
  test.each([
    ["another case", { outputschema: {} }, "outputschema: outputSchema"],
    ["snake case", { output_schema: {} }, "output_schema: outputSchema"],
    ["the singular", { option: {} }, "option: options"],
    ["the plural", { titles: "x" }, "titles: title"],
    ["without its underscore", { meta: {} }, "meta: _meta"],
    ["a letter too few", { annotatons: {} }, "annotatons: annotations"],
    ["two letters in the wrong order", { titel: "x" }, "titel: title"],
    ["British spelling", { initialise: "./a.js" }, "initialise: initialize"],
    ["a hint", { annotations: { readonlyHint: true } }, "annotations.readonlyHint: readOnlyHint"],
    ["half a hint", { annotations: { destructive: true } }, "annotations.destructive: destructiveHint"],
    ["an option's", { options: { max: { desription: "x" } } }, "options.max.desription: description"],
  ])("is reported at it: %s", async (_what, fields, expected) => {
    const problems = await validateTool(fields, codes);
    expect(problems.map(summary)).toEqual([expected]);
    expect(problems[0]).toMatchObject({
      severity: "warning",
      kind: "tool",
      item: "greet",
      column: expect.any(Number),
    });
  });

  test.each([
    ["free keys", { "x-titel": "x", "x-option": {} }],
    ["what is like a key that is there", { descriptions: "x", parametr: {} }],
    ["what is like no key", { category: "a", tags: [], icon: "i", author: "me", $schema: "s", hints: {} }],
    ["what short words are like", { code: 1, type: 2, data: 3, note: 4 }],
    ["names of options and parameters", { options: { titel: {}, desription: {} } }],
    ["keys inside schemas", { parameters: { titel: { type: "string", desription: "x" } } }],
    ["a very long key", { ["outputSchema".repeat(50)]: {} }],
    ["names that every object has", { constructor: 1, toString: 2 }],
  ])("is not taken for one: %s", async (_what, fields) => {
    expect(await validateTool(fields, codes)).toEqual([]);
  });
});

describe("a misspelled key elsewhere", () => {
  test.each([
    ["a composed server", "servers", { tools: [], instruction: "x" }, "instruction: instructions"],
    [
      "a subprocess server",
      "servers",
      { command: "x", env_passthrough: [] },
      "env_passthrough: envPassthrough",
    ],
    ["a toolset", "toolsets", toolset("one", { tools: [], toolset: [] }), "toolset: toolsets"],
    ["a prompt", "prompts", prompt("one", { content: "a", argument: [] }), "argument: arguments"],
    [
      "a prompt's argument",
      "prompts",
      prompt("one", { content: "{{a}}", arguments: [{ name: "a", requierd: true }] }),
      "arguments.0.requierd: required",
    ],
  ])("of %s", async (_what, key, definition, expected) => {
    const tree = { extension: { [key]: ["one"] }, files: { [`trailblaze/${key}/one.json`]: definition } };
    expect((await validateTree(tree, codes)).map(summary)).toEqual([expected]);
  });

  test("of a bundle's entry, and in its annotations", async () => {
    const odd = entry({ argumentSchema: {}, argumentsSchema: undefined, annotations: { idempotent: true } });
    const problems = await validateEntries([entry({ name: "hello_other" }), odd], codes);
    expect(problems.map(summary)).toEqual([
      "entries.1.argumentSchema: argumentsSchema",
      "entries.1.annotations.idempotent: idempotentHint",
    ]);
  });

  test("of a definition that is code", async () => {
    const text = `export default ${JSON.stringify(greetTool("./lib/a.js", { outputschema: {} }))};`;
    const tree = { extension: { tools: ["greet"] }, files: { "trailblaze/tools/greet.mjs": text } };
    expect((await validateTree(tree, codes)).map(summary)).toEqual(["outputschema: outputSchema"]);
  });
});

describe("what stands for a key that must be there", () => {
  const allCodes = [
    "InvalidToolDefinition",
    "InvalidPromptDefinition",
    "InvalidToolsetDefinition",
    "InvalidServerDefinition",
    ...codes,
  ];
  const tool = (fields: object) => ({ name: "a_b", description: "D.", handler: "./a.js", ...fields });
  test.each([
    ["tools", tool({ input_schema: {} }), "input_schema: inputSchema"],
    ["tools", tool({ inputschema: {} }), "inputschema: inputSchema"],
    ["tools", tool({ schema: {} }), "schema: inputSchema"],
    ["tools", tool({ params: {} }), "params: parameters"],
    ["tools", tool({ parameters: {}, handler: undefined, execute: "./a.js" }), "execute: handler"],
    ["tools", tool({ parameters: {}, handler: undefined, fn: "./a.js" }), "fn: handler"],
    ["tools", tool({ parameters: {}, handler: undefined, hander: "./a.js" }), "hander: handler"],
    ["tools", tool({ parameters: {}, name: undefined, nam: "a" }), "nam: name"],
    ["prompts", { name: "one", messages: [] }, "messages: content"],
    ["prompts", { name: "one", content: "a", arguments: [{ nam: "x" }] }, "arguments.0.nam: name"],
    ["toolsets", { name: "one", tool: [] }, "tool: tools"],
    ["servers", { name: "one", tool: [] }, "tool: tools"],
    ["servers", { name: "one", cmd: "node" }, "cmd: command"],
    [
      "toolsets",
      { kind: "Mcp.Tools", metadata: { name: "one" }, entries: [{ name: "a", run: "./a.js" }] },
      "entries.0.run: handler",
    ],
  ])("in %s is where the one problem is: %j", async (key, definition, expected) => {
    const tree = { extension: { [key]: ["one"] }, files: { [`trailblaze/${key}/one.json`]: definition } };
    const problems = await validateTree(tree, allCodes);
    expect(problems.map(summary)).toEqual([expected]);
    expect(problems[0]).toMatchObject({ severity: "error", line: expect.any(Number) });
  });

  test("is nothing where nothing is like it: the problem stays with what lacks the key", async () => {
    const tree = {
      extension: { tools: ["one"] },
      files: { "trailblaze/tools/one.json": { name: "a_b", parameters: {}, extra: 1 } },
    };
    const problems = await validateTree(tree, allCodes);
    expect(problems).toMatchObject([{ code: "InvalidToolDefinition", path: [] }]);
    expect(problems.map(summary)).toEqual([": undefined"]);
  });
});

test("a bundle of very many broken entries is checked in seconds", { timeout: 60_000 }, () => {
  const entries = Array.from({ length: 10_000 }, () => ({ nam: 1, desc: 2, handle: 3 }));
  const bundle = { kind: "Mcp.Tools", metadata: { name: "a" }, entries };
  expect(checkDefinition("toolset", bundle, "validation").problems).toHaveLength(20_000);
});
