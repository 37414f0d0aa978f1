import { describe, expect, test } from "vitest";
import { prompt, summarize, validateTree } from "./validate-tree.ts";

const code = "export default {};";

async function findOrphans(files: Record<string, unknown>, extension: Record<string, unknown> = {}) {
  const tree = {
    extension: { prompts: ["hello"], ...extension },
    files: { "trailblaze/prompts/hello.json": prompt("hello"), ...files },
  };
  const problems = await validateTree(tree, ["OrphanDefinitionFile"], { dataOnly: true });
  return problems.map((problem) => {
    expect(problem.severity).toBe("warning");
    return summarize(problem).replace("OrphanDefinitionFile ", "");
  });
}

test.each([
  ["a name that no item can have", "_shared.mjs", code],
  ["type declarations", "bye.d.ts", "export {};"],
  ["a file of an unknown format", "README.md", "# Prompts"],
])("OrphanDefinitionFile is not reported for %s: %s", async (_what, name, text) => {
  expect(await findOrphans({ [`trailblaze/prompts/${name}`]: text })).toEqual([]);
});

test.each([
  ["an invalid declaration", { prompts: [["hello", 5]] }],
  ["an invalid list", { prompts: "hello" }],
])("OrphanDefinitionFile is not reported for the definition of %s", async (_what, extension) => {
  expect(await findOrphans({}, extension)).toEqual([]);
});

describe("files that are orphans", () => {
  test.each(["json", "ts"])(
    "OrphanDefinitionFile is reported for an undeclared file with the extension .%s",
    async (ending) => {
      const file = `trailblaze/prompts/bye.${ending}`;
      expect(await findOrphans({ [file]: "{}" })).toEqual([file]);
    },
  );

  test("OrphanDefinitionFile is not reported for the source of the JavaScript beside it", async () => {
    const files = { "trailblaze/prompts/bye.ts": code, "trailblaze/prompts/bye.js": code };
    expect(await findOrphans(files)).toEqual(["trailblaze/prompts/bye.js"]);
  });

  test("OrphanDefinitionFile is reported at the place of an undeclared entry in a combined file", async () => {
    const yaml = "hello: { name: hello, content: Hi }\nbye: { name: bye, content: Bye }\n_part: {}\n";
    expect(await findOrphans({ "trailblaze/prompts.yaml": yaml })).toEqual(["trailblaze/prompts.yaml bye"]);
    const [problem] = await validateTree({ extension: {}, files: { "trailblaze/prompts.yaml": yaml } }, [
      "OrphanDefinitionFile",
    ]);
    expect(problem).toMatchObject({ kind: "prompt", path: ["hello"], line: 1, column: 1 });
  });
});
