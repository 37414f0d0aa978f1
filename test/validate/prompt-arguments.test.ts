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

describe("placeholders of declared arguments", () => {
  test.each([
    [
      "placeholders in a string",
      { arguments: args("topic", "tone"), content: "{{topic}}, {{ tone }}, {{topic}}" },
    ],
    [
      "a placeholder in a block of a message",
      { arguments: args("topic"), content: [message("On {{topic}}.")] },
    ],
    [
      "placeholders of any name",
      {
        arguments: args("a b", "Über", "x-y", "t^*+?", "a.b"),
        content: "{{a b}} {{Über}} {{x-y}} {{t^*+?}} {{a.b}}",
      },
    ],
  ])("validate accepts %s", async (_what, fields) => {
    expect(await judge(fields)).toEqual([]);
  });

  test.each(["${{ secrets.TOKEN }}", "{{#each}}", "{{a}"])(
    "validate does not read this as a placeholder: %s",
    async (content) => {
      expect(await judge({ content })).toEqual([]);
    },
  );
});

test("a placeholder without an argument is reported with a suggestion", async () => {
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

test("a duplicate argument is reported at its second declaration", async () => {
  const found = await judge({ arguments: args("topic", "tone", "topic", "Topic"), content: "{{topic}}" });
  expect(found).toMatchObject([
    { path: ["arguments", 2, "name"], args: { reason: expect.stringContaining('"topic"') }, line: 12 },
  ]);
});
