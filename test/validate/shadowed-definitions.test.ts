import { expect, test } from "vitest";
import { prompt, validateTree } from "./validate-tree.ts";

async function findShadowed(files: Record<string, unknown>) {
  return validateTree({ extension: { prompts: ["hello", "bye"] }, files }, ["ShadowedDefinition"]);
}

const own = {
  "trailblaze/prompts/hello.json": prompt("hello"),
  "trailblaze/prompts/bye.yaml": "name: bye\n",
};

test("ShadowedDefinition is not reported if each item is defined once", async () => {
  const { "trailblaze/prompts/bye.yaml": _bye, ...others } = own;
  expect(await findShadowed({ ...others, "trailblaze/prompts.json": { bye: prompt("bye") } })).toEqual([]);
});

test.each([
  ["prompts.json", { bye: prompt("bye") }],
  ["prompts.yaml", "other: {}\nbye:\n  name: bye\n"],
])(
  "ShadowedDefinition is reported for an item with its own file and an entry in %s",
  async (name, content) => {
    const combined = `trailblaze/${name}`;
    const problems = await findShadowed({ ...own, [combined]: content });
    expect(problems).toMatchObject([
      { severity: "warning", kind: "prompt", item: "bye", file: combined, path: ["bye"], line: 2 },
    ]);
    const args = { name: "bye", file: "trailblaze/prompts/bye.yaml", combined };
    expect(problems[0]?.args).toEqual(args);
  },
);
