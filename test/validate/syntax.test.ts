// What an author sees of a file that cannot be parsed, or of a definition whose places cannot be told.
import { describe, expect, test } from "vitest";
import { formatReport } from "../../src/cli/problem-text.ts";
import { validateTarget } from "../../src/validate/validate-target.ts";
import { makeTree } from "../support/packs.ts";
import { greetTool, makePack, type PackTree } from "./validate-tree.ts";

const style = { color: false, width: undefined };
const empty = expect.stringContaining("empty");

async function judge(tree: PackTree) {
  const detailed = await validateTarget(makePack(tree), {});
  return { shown: formatReport(detailed.report, style), problems: detailed.report.problems };
}
const show = async (tree: PackTree) => (await judge(tree)).shown;

const withPrompt = (ending: string, text: string) =>
  judge({ extension: { prompts: ["hello"] }, files: { [`trailblaze/prompts/hello.${ending}`]: text } });

type Row = [ending: string, text: string, place: string, args: object];

describe("data files that cannot be parsed", () => {
  test.each<Row>([
    [
      "yaml",
      "name: hello\ninputs: { name: Hello ${{ a ? b : c }}, d: 1 }\n",
      "hello.yaml:2:24",
      { reason: expect.stringContaining("YAML") },
    ],
    [
      "json",
      '{\n  "name": "hello",\n}',
      "hello.json:2:18",
      { reason: expect.stringContaining("trailing comma") },
    ],
  ])("a syntax error in .%s is shown at its place: %j", async (ending, text, place, args) => {
    const { shown, problems } = await withPrompt(ending, text);
    expect(shown).toContain(`error InvalidDefinitionContents  prompt hello › trailblaze/prompts/${place}\n`);
    expect(problems).toMatchObject([{ code: "InvalidDefinitionContents", args }]);
  });

  test("an empty combined file is called empty", async () => {
    const tree = { extension: { prompts: ["hello"] }, files: { "trailblaze/prompts.yaml": "" } };
    const { problems } = await judge(tree);
    expect(problems).toMatchObject([{ code: "InvalidDefinitionContents", args: { reason: empty } }]);
  });
});

describe("problems of definitions that are code", () => {
  test.each([
    ["mjs", "import { a } from '@acme/absent/result'; export default a;", "@acme/absent"],
    ["cjs", "module.exports = require('absent');", "absent"],
  ])(
    "the problem of a .%s file that imports a missing package names the package",
    async (ending, code, missingPackage) => {
      const { problems } = await withPrompt(ending, code);
      const reason = expect.stringMatching(/Cannot find (?:package|module) '\S+'$/);
      expect(problems).toMatchObject([
        { code: "InvalidDefinitionContents", args: { reason, missingPackage } },
      ]);
    },
  );

  const content = JSON.stringify({ ...greetTool("./lib/a.js"), name: undefined });
  test.each([
    ["mjs", `const a = 1;\n\nexport default ${content};\n`, ":3:1"],
    ["cjs", `"use strict";\n  module.exports = ${content};\n`, ":2:3"],
    ["mjs", `const tool = ${content};\nexport { tool as default };\n`, ":2:1"],
  ])("a problem of a .%s file is shown at its export: %j", async (ending, text, position) => {
    const files = { [`trailblaze/tools/greet.${ending}`]: text };
    const shown = await show({ extension: { tools: ["greet"] }, files });
    expect(shown).toContain(
      `error InvalidToolDefinition  tool greet › trailblaze/tools/greet.${ending}${position}\n`,
    );
  });
});

describe("package.json files that cannot be parsed", () => {
  const validateText = async (text: string) => {
    const detailed = await validateTarget(makeTree({ "package.json": text }), {});
    return { shown: formatReport(detailed.report, style), report: detailed.report };
  };

  test("a syntax error in package.json is shown at its place", async () => {
    const { shown, report } = await validateText('{\n  "name": "@acme/tea",\n  "trailblaze": {},\n}\n');
    expect(shown).toContain("package.json:3:19\n");
    expect(report.problems[0]?.args).toMatchObject({ reason: expect.stringContaining("trailing comma") });
    expect(shown).toContain("The package is invalid: 1 error");
    expect(report.pack).toBe(null);
  });
});
