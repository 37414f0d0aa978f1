import { describe, expect, test } from "vitest";
import { prompt, validateTree } from "./validate-tree.ts";

async function judge(fields: Record<string, unknown>) {
  const problems = await validateTree({
    extension: { prompts: ["hello"] },
    files: { "trailblaze/prompts/hello.json": prompt("hello", fields), "lib.js": "export default 1;" },
  });
  return problems.map(({ code, severity, path, args, line, item }) => {
    expect({ code, severity, item }).toEqual({
      code: "InvalidPromptDefinition",
      severity: "error",
      item: "hello",
    });
    return { path, args, line };
  });
}

const args = (...names: string[]) => names.map((name) => ({ name }));
const message = (text: string) => ({ role: "user", content: { type: "text", text } });

describe("places for declared arguments are fine", () => {
  test.each([
    ["in a text", { arguments: args("topic", "tone"), content: "{{topic}}, {{ tone }}, {{topic}}" }],
    ["in a message", { arguments: args("topic"), content: [{ role: "user", content: "On {{topic}}." }] }],
    ["in a block of a message", { arguments: args("topic"), content: [message("On {{topic}}.")] }],
    ["of any name", { arguments: args("a b", "Über", "x-y"), content: "{{a b}} {{Über}} {{x-y}}" }],
    ["nowhere", { arguments: args("topic"), content: "On nothing." }],
    ["with a handler", { arguments: args("topic"), handler: "./lib.js" }],
  ])("%s", async (_what, fields) => {
    expect(await judge(fields)).toEqual([]);
  });

  test.each([
    "${{ secrets.TOKEN }}",
    "${{secret}}",
    "{{#each}}",
    "{{ a.b }}",
    "{{}}",
    "{ {a} }",
    "{{{}}}",
    "{{a}",
  ])("what is none is left alone: %s", async (content) => {
    expect(await judge({ content })).toEqual([]);
  });
});

describe("a place without an argument", () => {
  test("is told with what may be meant", async () => {
    expect(await judge({ arguments: args("summary", "tone"), content: "On {{sumary}}." })).toEqual([
      {
        path: ["content"],
        args: {
          reason: expect.stringMatching(/"sumary".*`arguments`/),
          hint: expect.stringContaining("{{summary}}"),
        },
        line: 12,
      },
    ]);
  });

  test("is told where there are no arguments at all", async () => {
    expect(await judge({ content: "On {{topic}}." })).toMatchObject([
      {
        path: ["content"],
        args: { reason: expect.stringContaining('"topic"'), hint: expect.not.stringContaining("{{") },
      },
    ]);
  });

  test("is told once, in the message that has it first", async () => {
    const content = [message("Hi"), { role: "user", content: "{{a}}" }, message("{{b}} {{a}} {{b}}")];
    expect((await judge({ content })).map(({ path }) => path)).toEqual([
      ["content", 1, "content"],
      ["content", 2, "content", "text"],
    ]);
  });

  test("is told a hundred times at most", async () => {
    const content = Array.from({ length: 500 }, (_, index) => `{{a${index}}}`).join(" ");
    expect(await judge({ content })).toHaveLength(100);
  });

  test("stays untold where the arguments themselves cannot be read", async () => {
    const found = await judge({ arguments: ["topic"], content: "{{topic}} {{other}}" });
    expect(found.map(({ path }) => path)).toEqual([["arguments", 0]]);
  });
});

test("an argument that is declared twice is told at the second", async () => {
  const found = await judge({ arguments: args("topic", "tone", "topic", "Topic"), content: "{{topic}}" });
  expect(found).toMatchObject([
    {
      path: ["arguments", 2, "name"],
      args: { reason: expect.stringContaining('"topic"') },
      line: 12,
    },
  ]);
});

test("a place that lacks a brace at its end is found for declared arguments only", async () => {
  const definition = prompt("hello", {
    content: "{{tea} for {{who}}, not {{other} or ${{tea}",
    arguments: [{ name: "tea" }, { name: "who" }],
  });
  const tree = { extension: { prompts: ["hello"] }, files: { "trailblaze/prompts/hello.json": definition } };
  const problems = await validateTree(tree, ["InvalidPromptDefinition"]);
  expect(problems).toMatchObject([{ path: ["content"], args: { hint: expect.stringContaining("{{tea}}") } }]);
});

test("a place that lacks a brace is found whatever characters its name has", async () => {
  const found = await judge({ arguments: args("issue.key", "Größe"), content: "{{ issue.key } {{Größe}" });
  expect(found.map(({ args }) => args)).toMatchObject([
    { hint: expect.stringContaining("{{issue.key}}") },
    { hint: expect.stringContaining("{{Größe}}") },
  ]);
});
