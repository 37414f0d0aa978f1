import { describe, expect, test } from "vitest";
import { entry, validateEntries, validateTool } from "./validate-tool.ts";
import { prompt, summarize, validateTree } from "./validate-tree.ts";

const codes = ["ControlCharacters", "HiddenText"] as const;

async function judge(text: string): Promise<string[]> {
  const problems = await validateTool({ description: text }, codes);
  return problems.map(({ code, args }) => `${code} ${"codePoints" in args ? args.codePoints.join(" ") : ""}`);
}

test.each([
  ["line breaks and tabs", "one\n\ttwo\r\nthree"],
  ["letters of any script", "Grüße, привет, 你好, שלום, مرحبا, नमस्ते"],
  ["joined emoji", "👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 👩🏽‍🚀 ❤️‍🔥"],
  ["joiners where a script needs them", "می\u200cخواهم क्\u200dष"],
])("validate accepts %s", async (_what, text) => {
  expect(await judge(text)).toEqual([]);
});

test.each([
  ["\u001b[8mhidden\u001b[0m", "ControlCharacters U+001B"],
  ["a\u200bb\u200bc", "HiddenText U+200B"],
  ["\ufeffa\u2060b\u00adc", "HiddenText U+FEFF U+2060 U+00AD"],
  ["\u202eevil\u202c", "HiddenText U+202E U+202C"],
  ["Greet.\u{e0041}\u{e006c}\u{e0001}", "HiddenText U+E0041 U+E006C U+E0001"],
  ["😀\u200dhidden", "HiddenText U+200D"],
  ["\u3164\u115f\uffa0", "HiddenText U+3164 U+115F U+FFA0"],
  ["\ufff9a\ufffb", "HiddenText U+FFF9 U+FFFB"],
  ["a\ud800b", "HiddenText U+D800"],
])("validate reports the control characters or hidden characters of %j", async (text, verdict) => {
  expect(await judge(text)).toEqual([verdict]);
});

const hidden = "a\u200bb";

describe("strings that are checked for hidden characters", () => {
  test.each([
    [{ _meta: { "acme/owner": hidden } }, "_meta.acme/owner"],
    [{ parameters: { [hidden]: { type: "string" } } }, `parameters.${hidden}`],
    [{ parameters: { person: { type: "string", enum: ["x", hidden] } } }, "parameters.person.enum.1"],
    [{ options: { size: { description: hidden } } }, "options.size.description"],
  ])("HiddenText is reported at the path of %j", async (fields, path) => {
    const problems = await validateTool(fields, codes);
    expect(problems.map(summarize)).toEqual([`HiddenText trailblaze/tools/greet.json ${path}`]);
    expect(problems[0]).toMatchObject({ severity: "error", kind: "tool", item: "greet" });
    expect(problems[0]?.line).toBeGreaterThan(1);
  });

  test("HiddenText is reported in entries of bundles and their expressions", async () => {
    const problems = await validateEntries(
      [entry({ description: hidden, result: { content: [hidden] } })],
      codes,
    );
    expect(problems.map(({ path }) => path?.join("."))).toEqual([
      "entries.0.description",
      "entries.0.result.content.0",
    ]);
  });

  test("hidden and control characters are reported in the field and in the package's description", async () => {
    const tree = {
      extension: { prompts: [["hello", hidden]], "x-note": "\u001b" },
      files: { "trailblaze/prompts/hello.json": prompt("hello") },
      fields: { description: hidden },
    };
    const problems = await validateTree(tree, codes);
    expect(problems.map(summarize)).toEqual([
      "HiddenText package.json",
      "HiddenText package.json prompts.0.1",
      "ControlCharacters package.json x-note",
    ]);
    expect(problems[1]).toMatchObject({ kind: "prompt", item: "hello" });
    for (const { line } of problems) expect(line).toBeGreaterThan(1);
  });
});
