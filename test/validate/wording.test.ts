// What authors are told in the words of their own files: no validator's sentences, one name for each thing.
import { describe, expect, test } from "vitest";
import type { Problem } from "../../src/problems/index.ts";
import { greetTool, prompt, toolset, validateTree } from "./validate-tree.ts";

const say = ({ message, hint = "", path = [] }: Problem) => `${path.join(".")}: ${message} ${hint}`;

async function judge(key: string, definition: object): Promise<string[]> {
  const tree = { extension: { [key]: ["one"] }, files: { [`trailblaze/${key}/one.json`]: definition } };
  const problems = await validateTree(tree);
  return problems.filter(({ code }) => /^Invalid/.test(code)).map(say);
}

describe("a definition", () => {
  test.each([
    [
      "tools",
      greetTool("./a.js", { parameters: ["city"] }),
      /^parameters: .*must be a map, but is a list\..*`parameters: \{ city/,
    ],
    [
      "tools",
      greetTool("./a.js", { parameters: { mood: "string" } }),
      /^parameters.mood: .*must be a map, but is a text\. Write `mood: \{ type: string \}`\./,
    ],
    [
      "tools",
      greetTool("./a.js", { parameters: { type: "object", properties: { a: {} }, required: ["a"] } }),
      /^parameters: .*`parameters` holds a whole JSON Schema\. Write it under `inputSchema`/,
    ],
    [
      "tools",
      greetTool("./a.js", { handler: 5 }),
      /^handler: .*but is a number\. Write a module and its export/,
    ],
    ["tools", greetTool("./a.js", { title: [] }), /^title: .*must be a text, but is a list\./],
    ["tools", greetTool("./a.js", { name: "tea/get steep" }), /^name: .*For example "tea_get_steep"\./],
    [
      "toolsets",
      toolset("one", { tools: "greet" }),
      /^tools: .*must be a list, but is a text\. Write `tools: \[greet\]`\./,
    ],
    [
      "prompts",
      prompt("one", { content: [{ role: "system", content: "a" }] }),
      /^content.0.role: .*must be `user` or `assistant`, but is "system"\. MCP knows no such role/,
    ],
    ["prompts", prompt("one", { content: [{ content: "a" }] }), /^content.0: .*lacks `role`/],
    [
      "prompts",
      prompt("one", { content: [{ role: "user", content: [] }] }),
      /^content.0.content: .*a text or one content block/,
    ],
    ["prompts", prompt("one", { content: ["a"] }), /^content.0: .*must be a map, but is a text/],
    [
      "prompts",
      prompt("one", { content: { a: 1 } }),
      /^content: .*must be a text or a list of messages, but is a map/,
    ],
    ["servers", { tools: [], transport: "sse" }, /^transport: .*must be one of `stdio`, `http`\./],
  ])("in %s: %j", async (key, definition, expected) => {
    const [first = "", ...others] = await judge(key, definition);
    expect(first).toMatch(expected);
    expect(others).toEqual([]);
    expect(first).not.toMatch(/\?\.|\ban? (?:array|object|string)\b/);
  });

  test("with several messages that are fine is fine", async () => {
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
    [{ type: "txt", text: "a" }, /^content\.0\.content\.type: .*must be `text`, .*, but is "txt"/],
    [{ type: "constructor" }, /^content\.0\.content\.type: .*but is "constructor"/],
    [{ type: "text" }, /^content\.0\.content: .*lacks `text`/],
    [{ type: "text", text: 5 }, /^content\.0\.content\.text: .*must be a text, but is a number/],
    [{ type: "image", data: "aGk=" }, /^content\.0\.content: .*lacks `mimeType`/],
    [{ type: "resource_link", name: "a" }, /^content\.0\.content: .*lacks `uri`/],
    [{ type: "resource" }, /^content\.0\.content: .*lacks `resource`/],
    [{ type: "resource", resource: "a" }, /^content\.0\.content\.resource: .*must be a map/],
    [{ type: "resource", resource: { uri: "a" } }, /^content\.0\.content\.resource: .*lacks `text`/],
  ])("with a block that MCP does not know: %j", async (content, expected) => {
    const [first = "", ...others] = await judge(
      "prompts",
      prompt("one", { content: [{ role: "user", content }] }),
    );
    expect(first).toMatch(expected);
    expect(others).toEqual([]);
  });
});

describe("a declaration", () => {
  test.each([
    [{ nam: "greet" }, 'it lacks `name` (did you mean it where it says "nam"?)'],
    [{}, "it lacks `name`"],
    [{ name: 5 }, "`name` must be a text, but is a number"],
    [{ name: "a", description: [] }, "`description` must be a text, but is a list"],
    [{ name: "a", parameters: 5 }, "`parameters` has none of the forms it may have, but is a number"],
    [5, "it is a number"],
    [["a", 5], "the description is a number, not a text"],
  ])("%j", async (declaration, reason) => {
    const problems = await validateTree({ extension: { tools: [declaration] }, files: {} }, [
      "InvalidDeclaration",
    ]);
    expect(problems.map(({ message }) => message)).toEqual([`This declaration is not usable: ${reason}.`]);
  });
});

test("a declared pack that is not installed asks for npm install, another one by its name", async () => {
  const hintOf = async (fields: object) => {
    const files = { "trailblaze/toolsets/one.json": toolset("one", { tools: ["globex/text/slugify"] }) };
    const [problem] = await validateTree({ extension: { toolsets: ["one"] }, files, fields: { ...fields } }, [
      "PackNotInstalled",
    ]);
    return problem?.hint;
  };
  expect(await hintOf({ dependencies: { "@globex/text": "1" } })).toBe(
    "package.json declares it: npm install",
  );
  expect(await hintOf({})).toBe("npm install @globex/text");
});

test("one other file defines, several define the same", async () => {
  const files = {
    "trailblaze/prompts/one.json": prompt("one"),
    "trailblaze/prompts/one.yaml": "name: one\ncontent: Hi\n",
  };
  const [problem] = await validateTree({ extension: { prompts: ["one"] }, files }, [
    "DuplicateDefinitionFiles",
  ]);
  expect(problem?.message).toMatch(/one\.yaml" defines the same\.$/);
});
