import { describe, expect, test } from "vitest";
import type { Problem } from "../../src/problems/index.ts";
import { entry, validateEntries, validateTool } from "./validate-tool.ts";
import { validateTree } from "./validate-tree.ts";

const codes = ["UnknownDefinitionKey"] as const;
/** Where the key is, and the key that is suggested. */
const summary = ({ path = [], args }: Problem) =>
  `${path.join(".")}: ${"suggestion" in args ? args.suggestion : undefined}`;

describe("misspelled keys of a tool", () => {
  test.each([
    [
      "a key of the annotations",
      { annotations: { readonlyHint: true } },
      "annotations.readonlyHint: readOnlyHint",
    ],
    ["a key of an option", { options: { max: { desription: "x" } } }, "options.max.desription: description"],
  ])(
    "UnknownDefinitionKey is reported at a misspelled key of a tool: %s",
    async (_what, fields, expected) => {
      const problems = await validateTool(fields, codes);
      expect(problems.map(summary)).toEqual([expected]);
      expect(problems[0]).toMatchObject({
        severity: "warning",
        kind: "tool",
        item: "greet",
        column: expect.any(Number),
      });
    },
  );

  test.each([
    ["keys that start with x-", { "x-titel": "x", "x-option": {} }],
    [
      "keys that are similar to no known key",
      { category: "a", tags: [], icon: "i", author: "me", $schema: "s", hints: {} },
    ],
    ["keys inside schemas", { parameters: { titel: { type: "string", desription: "x" } } }],
  ])("UnknownDefinitionKey is not reported for %s", async (_what, fields) => {
    expect(await validateTool(fields, codes)).toEqual([]);
  });
});

test("UnknownDefinitionKey is reported for misspelled keys of a bundle's entry and of its annotations", async () => {
  const odd = entry({
    argumentSchema: {},
    argumentsSchema: undefined,
    annotations: { idempotentHnt: true },
  });
  const problems = await validateEntries([entry({ name: "hello_other" }), odd], codes);
  expect(problems.map(summary)).toEqual([
    "entries.1.argumentSchema: argumentsSchema",
    "entries.1.annotations.idempotentHnt: idempotentHint",
  ]);
});

test("a misspelled required key is missing, and its name is suggested beside that", async () => {
  const definition = { name: "a_b", description: "D.", handler: "./a.js", input_schema: {} };
  const tree = { extension: { tools: ["one"] }, files: { "trailblaze/tools/one.json": definition } };
  const problems = await validateTree(tree, ["InvalidToolDefinition", ...codes]);
  expect(problems.map(summary).sort()).toEqual([": undefined", "input_schema: inputSchema"]);
});
