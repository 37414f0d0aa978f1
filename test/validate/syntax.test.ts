// What an author sees of a file that cannot be parsed, or of a definition whose places cannot be told.
import { describe, expect, test } from "vitest";
import { formatPretty } from "../../src/cli/report/report-formats.ts";
import { validateTarget } from "../../src/validate/validate-target.ts";
import { makeTree } from "../support/packs.ts";
import { greetTool, makePack, type PackTree } from "./validate-tree.ts";

const style = { color: false, width: undefined };

async function show(tree: PackTree): Promise<string> {
  const detailed = await validateTarget(makePack(tree), {});
  return formatPretty(detailed, style);
}

const withPrompt = (ending: string, text: string) =>
  show({ extension: { prompts: ["hello"] }, files: { [`trailblaze/prompts/hello.${ending}`]: text } });

describe("a data file that cannot be parsed is shown where it breaks, with what to do", () => {
  test.each([
    ["yaml", "name: hello\ncontent:\n\t- a\n", "hello.yaml:3:1", "replace the tabs", "> 3 | "],
    ["yaml", "name: hello\n<<: { content: a }\n", "hello.yaml:2:1", "Write out the keys", "> 2 | <<"],
    [
      "yaml",
      "name: hello\ncontent: use it: now\n",
      "hello.yaml:2:10",
      'that contains ": " in quotes',
      "> 2 | content: use",
    ],
    ["yaml", "name: @hello\n", "hello.yaml:1:7", "in quotes", "> 1 | name: @hello"],
    ["yaml", "name: [a, b\n", "hello.yaml:2:1", "Close the bracket", "> 2 |"],
    ["json", '{\n  "name": "hello",\n}', "hello.json:2:18", "Remove the comma", '> 2 |   "name": "hello",'],
    [
      "json",
      '{\n  // greeting\n  "name": "hello"\n}',
      "hello.json:2:3",
      "Remove the comment",
      "> 2 |   // greeting",
    ],
    ["json", '{ "name": "a", "name": "b" }', "hello.json:1:16", "is there twice", "> 1 | { "],
  ])("%s: %j", async (ending, text, place, words, frame) => {
    const shown = await withPrompt(ending, text);
    expect(shown).toContain(`error InvalidDefinitionContents  prompt hello › trailblaze/prompts/${place}\n`);
    expect(shown).toContain(words);
    expect(shown).toContain(frame);
  });

  test.each(["", "# nothing yet\n"])("empty YAML is called empty: %j", async (text) => {
    expect(await withPrompt("yaml", text)).toContain("The prompt's definition is not valid: it is empty.");
  });

  test("empty JSON is called empty", async () => {
    expect(await withPrompt("json", "")).toContain("The definition cannot be used: it is empty.");
  });

  test("an empty combined file is called empty", async () => {
    const tree = { extension: { prompts: ["hello"] }, files: { "trailblaze/prompts.yaml": "" } };
    expect(await show(tree)).toContain("The definition cannot be used: it is empty.");
  });
});

describe("a fault in a definition that is code", () => {
  test.each([
    [
      "mjs",
      "import { a } from '@acme/absent/result'; export default a;",
      `Declare "@acme/absent" among the "dependencies"`,
    ],
    ["cjs", "module.exports = require('absent');", `Declare "absent" among the "dependencies"`],
  ])("%s: a package that is missing is named, and where it must be declared", async (ending, code, hint) => {
    const shown = await withPrompt(ending, code);
    expect(shown).toContain("hint: " + hint);
    expect(shown).toMatch(/it threw: Cannot find (?:package|module) '\S+'\.\n/);
  });

  test("a file of its own that is missing is no package", async () => {
    const shown = await withPrompt("mjs", "import a from './absent.mjs'; export default a;");
    expect(shown).toContain("Cannot find module");
    expect(shown).not.toContain("npm install");
  });

  const content = JSON.stringify({ ...greetTool("./lib/a.js"), name: undefined });
  test.each([
    ["mjs", `const a = 1;\n\nexport default ${content};\n`, ":3:1"],
    ["cjs", `"use strict";\n  module.exports = ${content};\n`, ":2:3"],
    ["mjs", `const tool = ${content};\nexport { tool as default };\n`, ":2:1"],
  ])(".%s stands at its export: %j", async (ending, text, position) => {
    const files = { [`trailblaze/tools/greet.${ending}`]: text };
    const shown = await show({ extension: { tools: ["greet"] }, files });
    expect(shown).toContain(
      `error InvalidToolDefinition  tool greet › trailblaze/tools/greet.${ending}${position}\n`,
    );
    expect(shown).toMatch(/^ {2}> \d \|/m);
  });

  test("found by a check stands there too, though escapes in code are no plain text", async () => {
    const text = `// Greets.\nexport default ${JSON.stringify(greetTool("./lib/a.js", { title: "a\u200bb" })).replace("\u200b", "\\u200b")};\n`;
    const shown = await show({
      extension: { tools: ["greet"] },
      files: { "trailblaze/tools/greet.mjs": text },
    });
    expect(shown).toContain("error HiddenText  tool greet › trailblaze/tools/greet.mjs:2:1\n");
  });

  test("without an export to be seen has no line", async () => {
    const files = { "trailblaze/tools/greet.cjs": `Object.assign(module, { exports: ${content} });` };
    const shown = await show({ extension: { tools: ["greet"] }, files });
    expect(shown).toContain("error InvalidToolDefinition  tool greet › trailblaze/tools/greet.cjs\n");
  });
});

describe("a package.json that cannot be parsed", () => {
  const validateText = async (text: string) => {
    const detailed = await validateTarget(makeTree({ "package.json": text }), {});
    return { shown: formatPretty(detailed, style), report: detailed.report };
  };

  test("is shown where it breaks, with the name of the pack where that is legible", async () => {
    const { shown, report } = await validateText('{\n  "name": "@acme/tea",\n  "trailblaze": {},\n}\n');
    expect(shown).toContain("package.json:3:19\n");
    expect(shown).toContain("Remove the comma");
    expect(shown).toContain('> 3 |   "trailblaze": {},');
    expect(shown).toContain("@acme/tea is not valid: 1 error");
    expect(report.pack).toBe("@acme/tea");
  });

  test.each(['{ "name": "Not A Name", }', "", "[".repeat(5000), '{"name":'])(
    "%.20j has no name to tell",
    async (text) => {
      const { shown, report } = await validateText(text);
      expect(shown).toContain("The package is not valid: 1 error");
      expect(report.pack).toBe(null);
    },
  );
});
