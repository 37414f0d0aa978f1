import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { formatGithub } from "../../src/cli/commands/validate.ts";
import { formatReport } from "../../src/cli/problem-text.ts";
import { validateTarget } from "../../src/validate/validate-target.ts";
import { makePack, prompt, validateTree } from "./validate-tree.ts";

const codes = ["MissingDefinitionFile"];
const style = { color: false, width: undefined };
const definition = prompt("steepTime");
const missing = { name: "steepTime", own: "trailblaze/prompts/steepTime.{json,yaml,mjs}" };

async function findArguments(files: Record<string, unknown>, names: readonly string[] = ["steepTime"]) {
  const tree = {
    extension: { prompts: names },
    files: { "trailblaze/prompts/other.json": definition, ...files },
  };
  return (await validateTree(tree, codes)).map(({ args }) => args);
}

test("the hint names the combined file that exists, and a file for the item alone", async () => {
  const files = { "trailblaze/prompts.yaml": "other: { name: other, content: Hi }\n" };
  expect(await findArguments(files)).toEqual([{ ...missing, combined: "trailblaze/prompts.yaml" }]);
});

test.each([
  ["trailblaze/prompts/steepTime.toml", {}],
  ["trailblaze/prompts/steepTime.toml", { "trailblaze/prompts.yaml": "other: {}\n" }],
  ["trailblaze/prompts.toml", {}],
])("%s is a definition of an unknown format, with %j", async (file, others) => {
  const tree = { extension: { prompts: ["steepTime"] }, files: { [file]: "", ...others } };
  const found = await validateTree(tree, [...codes, "UnsupportedDefinitionFormat"]);
  expect(found).toMatchObject([{ item: "steepTime", file, args: { file, cause: "unknownFormat" } }]);
});

describe("the place of MissingDefinitionFile", () => {
  const files = { "trailblaze/prompts/one.json": prompt("one"), "trailblaze/prompts.yaml": "{}\n" };

  test("the place in the report and its formats is the declaration, and `file` the missing definition", async () => {
    const cwd = makePack({ extension: { prompts: ["one", "two"] }, files });
    const detailed = await validateTarget(".", { cwd });
    const lines = readFileSync(join(cwd, "package.json"), "utf8").split("\n");
    const line = lines.findIndex((text) => text.includes('"two"')) + 1;
    const column = (lines[line - 1] ?? "").indexOf('"two"') + 1;
    const missing = detailed.report.problems.find(({ code }) => code === "MissingDefinitionFile");
    expect(missing).toMatchObject({ file: "trailblaze/prompts.yaml", path: ["prompts", 1], line, column });
    const pretty = formatReport(detailed.report, style);
    expect(pretty).toContain(`MissingDefinitionFile  prompt two › package.json:${line}:${column}`);
    expect(formatGithub(detailed, cwd)).toContain(
      `::error file=package.json,line=${line},col=${column},title=MissingDefinitionFile::`,
    );
  });
});
