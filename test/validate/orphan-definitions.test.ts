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

describe("what is no orphan", () => {
  test("the definition of a declared item, in a file of its own or among others", async () => {
    const both = { hello: prompt("hello"), bye: prompt("bye") };
    expect(await findOrphans({})).toEqual([]);
    expect(await findOrphans({ "trailblaze/prompts.json": both }, { prompts: ["hello", "bye"] })).toEqual([]);
  });

  test.each([
    ["a name that no item can have", "_shared.mjs", code],
    ["a hidden file", ".helpers.js", code],
    ["a name with a space", "good morning.yaml", "name: x"],
    ["a file of types", "bye.d.ts", "export {};"],
    ["a file of types of an ES module", "bye.d.mts", "export {};"],
    ["a file of no known format", "README.md", "# Prompts"],
    ["a map of sources", "hello.js.map", "{}"],
    ["what says how code beside it is read", "package.json", '{ "type": "module" }'],
    ["what says how it is compiled", "tsconfig.json", "{}"],
  ])("%s: %s", async (_what, name, text) => {
    expect(await findOrphans({ [`trailblaze/prompts/${name}`]: text })).toEqual([]);
  });

  test("folders, and files elsewhere below the root", async () => {
    const files = {
      "trailblaze/prompts/parts/bye.json": "{}",
      "trailblaze/other/bye.json": "{}",
      "trailblaze/bye.json": "{}",
    };
    expect(await findOrphans(files)).toEqual([]);
  });

  test("anything, where the list of items is no list", async () => {
    expect(await findOrphans({}, { prompts: { hello: "Say hello" } })).toEqual([]);
  });
});

describe("what is an orphan", () => {
  test.each(["json", "yaml", "yml", "mjs", "js", "cjs", "ts", "mts"])(
    "a file with the ending .%s",
    async (ending) => {
      const file = `trailblaze/prompts/bye.${ending}`;
      expect(await findOrphans({ [file]: "{}" })).toEqual([file]);
    },
  );

  test("TypeScript only where it is not the source of the JavaScript beside it", async () => {
    const files = { "trailblaze/prompts/bye.ts": code, "trailblaze/prompts/bye.js": code };
    expect(await findOrphans(files)).toEqual(["trailblaze/prompts/bye.js"]);
  });

  test("a file whose name differs in case from the item's", async () => {
    expect(await findOrphans({ "trailblaze/prompts/Bye.json": prompt("bye") })).toEqual([
      "trailblaze/prompts/Bye.json",
    ]);
  });

  test("a file of a kind of which nothing is declared", async () => {
    const files = { "trailblaze/tools/greet.json": "{}", "trailblaze/servers/desk.yaml": "{}" };
    expect(await findOrphans(files)).toEqual(["trailblaze/servers/desk.yaml", "trailblaze/tools/greet.json"]);
  });

  test("an entry of a combined file, with its position, whether or not another entry is used", async () => {
    const yaml = "hello: { name: hello, content: Hi }\nbye: { name: bye, content: Bye }\n_part: {}\n";
    expect(await findOrphans({ "trailblaze/prompts.yaml": yaml })).toEqual(["trailblaze/prompts.yaml bye"]);
    const [problem] = await validateTree({ extension: {}, files: { "trailblaze/prompts.yaml": yaml } }, [
      "OrphanDefinitionFile",
    ]);
    expect(problem).toMatchObject({ kind: "prompt", path: ["hello"], line: 1, column: 1 });
  });
});
