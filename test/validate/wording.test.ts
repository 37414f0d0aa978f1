// What authors are told in the words of their own files: no validator's sentences, one name for each thing.
import { describe, expect, test } from "vitest";
import type { Problem } from "../../src/problems/index.ts";
import { argumentTexts } from "../support/argument-texts.ts";
import { greetTool, prompt, toolset, validateTree } from "./validate-tree.ts";

const say = ({ args, path = [] }: Problem) => `${path.join(".")}: ${argumentTexts(args)}`;

async function judge(key: string, definition: object): Promise<string[]> {
  const tree = { extension: { [key]: ["one"] }, files: { [`trailblaze/${key}/one.json`]: definition } };
  const problems = await validateTree(tree);
  return problems.filter(({ code }) => /^Invalid/.test(code)).map(say);
}

describe("problems of definitions", () => {
  test.each([
    ["tools", greetTool("./a.js", { parameters: ["city"] }), /^parameters: .*array.*`parameters: \{ city/],
    [
      "tools",
      greetTool("./a.js", { parameters: { mood: "string" } }),
      /^parameters.mood: .*`mood: \{ type: string \}`/,
    ],
    [
      "tools",
      greetTool("./a.js", { parameters: { type: "object", properties: { a: {} }, required: ["a"] } }),
      /^parameters: .*`parameters`.*JSON Schema.*`inputSchema`/,
    ],
    ["tools", greetTool("./a.js", { handler: 5 }), /^handler: .*number/],
    ["tools", greetTool("./a.js", { title: [] }), /^title: .*array/],
    ["tools", greetTool("./a.js", { name: "tea/get steep" }), /^name: tea\/get steep/],
    ["toolsets", toolset("one", { tools: "greet" }), /^tools: .*`tools: \[greet\]`/],
    [
      "prompts",
      prompt("one", { content: [{ role: "system", content: "a" }] }),
      /^content.0.role: .*`user`.*`assistant`.*"system"/,
    ],
    ["prompts", prompt("one", { content: [{ content: "a" }] }), /^content.0: .*`role`/],
    ["prompts", prompt("one", { content: [{ role: "user", content: [] }] }), /^content.0.content: .*block/],
    ["prompts", prompt("one", { content: ["a"] }), /^content.0: .*`content\.0`/],
    ["prompts", prompt("one", { content: { a: 1 } }), /^content: .*messages/],
    ["servers", { tools: [], transport: "sse" }, /^transport: .*`stdio`.*`http`/],
  ])(
    "the problem of a definition in `%s` uses the words of the file: %j",
    async (key, definition, expected) => {
      const [first = "", ...others] = await judge(key, definition);
      expect(first).toMatch(expected);
      expect(others).toEqual([]);
      expect(first).not.toMatch(/\?\.|\ba (?:list|map|text)\b/);
    },
  );

  test("validate accepts messages with blocks of every type", async () => {
    const content = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: { type: "text", text: "Hello" } },
      { role: "user", content: { type: "image", data: "aGk=", mimeType: "image/png", annotations: {} } },
      { role: "user", content: { type: "audio", data: "aGk=", mimeType: "audio/wav" } },
      { role: "user", content: { type: "resource_link", uri: "file:///a", name: "a" } },
      { role: "user", content: { type: "resource", resource: { uri: "file:///a", text: "" } } },
      { role: "user", content: { type: "resource", resource: { uri: "file:///a", blob: "aGk=" } } },
    ];
    expect(await judge("prompts", prompt("one", { content }))).toEqual([]);
  });

  test.each([
    [{ type: "txt", text: "a" }, /^content\.0\.content\.type: .*`text`.*"txt"/],
    [{ type: "constructor" }, /^content\.0\.content\.type: .*"constructor"/],
    [{ type: "text" }, /^content\.0\.content: .*`text`/],
    [{ type: "text", text: 5 }, /^content\.0\.content\.text: .*number/],
    [{ type: "image", data: "aGk=" }, /^content\.0\.content: .*`mimeType`/],
    [{ type: "resource_link", name: "a" }, /^content\.0\.content: .*`uri`/],
    [{ type: "resource" }, /^content\.0\.content: .*`resource`/],
    [
      { type: "resource", resource: "a" },
      /^content\.0\.content\.resource: .*`content\.0\.content\.resource`/,
    ],
    [{ type: "resource", resource: { uri: "a" } }, /^content\.0\.content\.resource: .*`text`/],
  ])("the problem of an invalid block in a message names the key: %j", async (content, expected) => {
    const [first = "", ...others] = await judge(
      "prompts",
      prompt("one", { content: [{ role: "user", content }] }),
    );
    expect(first).toMatch(expected);
    expect(others).toEqual([]);
  });
});

describe("problems of declarations", () => {
  test.each([
    [{ nam: "greet" }, /`name`.*"nam"/],
    [{}, /`name`/],
    [{ name: 5 }, /`name`.*number/],
    [{ name: "a", description: [] }, /`description`.*array/],
    [{ name: "a", parameters: 5 }, /`parameters`.*number/],
    [5, /number/],
    [["a", 5], /description.*number/],
  ])("the problem of the declaration %j says what is wrong", async (declaration, reason) => {
    const problems = await validateTree({ extension: { tools: [declaration] }, files: {} }, [
      "InvalidDeclaration",
    ]);
    expect(problems).toMatchObject([{ args: { key: "tools", reason: expect.stringMatching(reason) } }]);
  });
});

test("PackNotInstalled says whether package.json declares the pack", async () => {
  const argsOf = async (fields: object) => {
    const files = { "trailblaze/toolsets/one.json": toolset("one", { tools: ["globex/text/slugify"] }) };
    const [problem] = await validateTree({ extension: { toolsets: ["one"] }, files, fields: { ...fields } }, [
      "PackNotInstalled",
    ]);
    return problem?.args;
  };
  const name = "@globex/text";
  expect(await argsOf({ dependencies: { [name]: "1" } })).toMatchObject({ name, isDeclared: true });
  expect(await argsOf({})).toMatchObject({ name, isDeclared: false });
});

test("DuplicateDefinitionFiles lists the other files of an item", async () => {
  const files = {
    "trailblaze/prompts/one.json": prompt("one"),
    "trailblaze/prompts/one.yaml": "name: one\ncontent: Hi\n",
  };
  const [problem] = await validateTree({ extension: { prompts: ["one"] }, files }, [
    "DuplicateDefinitionFiles",
  ]);
  expect(problem?.args).toMatchObject({ others: [expect.stringMatching(/one\.yaml$/)] });
});
