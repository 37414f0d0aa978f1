import { describe, expect, test } from "vitest";
import {
  findMisnamedKeyAt,
  findMisspelledKeys,
  isDefinitionKey,
} from "../../src/extension-schema/definition-keys.ts";
import type { DefinitionShape } from "../../src/extension-schema/index.ts";
import type { Kind } from "../../src/kinds.ts";

type Fields = Record<string, unknown>;

const misspelledIn = (shape: DefinitionShape, definition: Fields) =>
  [...findMisspelledKeys(shape, definition)].map(
    ({ path, suggestion }) => `${path.join(".")}: ${suggestion}`,
  );

test.each<[Kind, string, boolean]>([
  ["tool", "handler", true],
  ["tool", "$schema", true],
  ["tool", "x-own", true],
  ["tool", "entries", false],
  ["tool", "my-x-own", false],
  ["tool", "$other", false],
  ["server", "toolsets", true],
  ["server", "command", true],
  ["server", "metadata", true],
  ["server", "entries", false],
  ["toolset", "entries", true],
  ["toolset", "toolsets", true],
  ["prompt", "content", true],
  ["prompt", "uri", false],
  ["resource", "uri", true],
])("whether a %s may have the key %s: %j", (kind, key, expected) => {
  expect(isDefinitionKey(kind, key)).toBe(expected);
});

describe("misspelled keys", () => {
  const tool = { name: "a", inputSchema: {}, handler: "./a.js" };
  const bundle = { kind: "Mcp.Tools", metadata: { name: "a" } };

  test.each<[DefinitionShape, Fields, string[]]>([
    ["tool", tool, []],
    ["tool", { ...tool, titel: "A", descripton: "B" }, ["titel: title", "descripton: description"]],
    ["tool", { ...tool, "x-titel": 1, $titel: 1, category: 1 }, []],
    ["tool", { ...tool, "my-x-titles": 1, titles: 1 }, ["titles: title"]],
    ["tool", { ...tool, title: "A", titel: "B" }, []],
    [
      "tool",
      { ...tool, annotations: { readonlyHint: 1, other: 1 } },
      ["annotations.readonlyHint: readOnlyHint"],
    ],
    ["tool", { ...tool, annotations: ["readonlyHint"] }, []],
    ["tool", { ...tool, options: { a: { defalt: 1 }, b: 5 } }, ["options.a.defalt: default"]],
    ["tool", { ...tool, options: [{ defalt: 1 }] }, []],
    ["tool", { ...tool, arguments: [{ nam: 1 }], entries: [{ titel: 1 }] }, []],
    [
      "resource",
      { name: "a", uri: "b", text: "c", annotations: { prioriti: 1, readonlyHint: 1 } },
      ["annotations.prioriti: priority"],
    ],
    [
      "prompt",
      { name: "a", content: "b", arguments: [{ name: "c", requierd: 1 }, 5] },
      ["arguments.0.requierd: required"],
    ],
    ["prompt", { name: "a", content: "b", arguments: { c: { requierd: 1 } } }, []],
    [
      "toolsBundle",
      { ...bundle, entries: [null, { name: "a", handler: "b", titel: 1, annotations: { titel: 1 } }] },
      ["entries.1.titel: title", "entries.1.annotations.titel: title"],
    ],
    ["toolsBundle", { ...bundle, entries: { a: { titel: 1 } } }, []],
  ])("of the shape %s in %j are %j", (shape, definition, misspelled) => {
    expect(misspelledIn(shape, definition)).toEqual(misspelled);
  });

  test.each<[DefinitionShape, Fields, string[]]>([
    ["tool", { nam: "a", inputSchema: {}, handler: "./a.js" }, []],
    ["tool", { name: "a", params: {}, hander: "./a.js", titel: 1 }, ["titel: title"]],
    ["tool", { name: "a", parameters: {}, handler: "b", inputSchem: {} }, ["inputSchem: inputSchema"]],
    ["toolsetList", { name: "a", tool: [] }, []],
    ["toolsetList", { name: "a", tools: [], toolset: [] }, ["toolset: toolsets"]],
    ["serverDocument", { kind: "a", metdata: {}, tool: [] }, []],
    ["composedServer", { tools: [], instruction: "a" }, ["instruction: instructions"]],
    ["subprocessServer", { command: "a", envs: {} }, ["envs: env"]],
    ["toolsBundle", { ...bundle, entry: [] }, []],
    ["toolsBundle", { ...bundle, entries: [{ nam: 1, hander: 2 }] }, []],
    ["prompt", { nam: "a", contents: "b" }, []],
    ["prompt", { name: "a", content: "b", arguments: [{ nam: "c" }] }, []],
    ["resource", { name: "a", url: "b", contents: "c" }, []],
    ["resource", { name: "a", uri: "b", texts: "c" }, []],
  ])("of the shape %s are not reported if they stand for a required key: %j", (shape, definition, others) => {
    expect(misspelledIn(shape, definition)).toEqual(others);
  });

  test("at most 500 unknown keys of an object are compared", () => {
    const odd = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`odd${index}`, 1]));
    expect(misspelledIn("tool", { ...tool, ...odd, titel: 1 })).toEqual([]);
    expect(misspelledIn("tool", { ...tool, titel: 1, ...odd })).toEqual(["titel: title"]);
  });
});

describe("a key that stands for a missing one", () => {
  test.each<[DefinitionShape, Fields, (string | number)[], string[], string | undefined]>([
    ["tool", { hander: 1 }, [], ["handler"], "hander"],
    ["tool", { "x-handler": 1, $handler: 1, titel: 1 }, [], ["handler"], undefined],
    ["tool", { annotations: { titel: 1 } }, ["annotations"], ["title"], "titel"],
    ["tool", { annotations: { readOnlyHint: 1 } }, ["annotations"], ["readOnlyHints"], undefined],
    ["resource", { annotations: { readOnlyHint: 1 } }, ["annotations"], ["readOnlyHints"], "readOnlyHint"],
    ["tool", { options: { a: { defalt: 1 } } }, ["options", "a"], ["default"], "defalt"],
    ["tool", { options: { defalt: 1 } }, ["options"], ["default"], undefined],
    ["prompt", { arguments: [{ nam: 1 }] }, ["arguments", 0], ["name"], "nam"],
    ["toolsBundle", { entries: [{ run: 1 }] }, ["entries", 0], ["handler"], "run"],
    [
      "toolsBundle",
      { entries: [{ annotations: { titel: 1 } }] },
      ["entries", 0, "annotations"],
      ["title"],
      "titel",
    ],
    ["toolsBundle", { entries: [{ inputs: { nam: 1 } }] }, ["entries", 0, "inputs"], ["name"], undefined],
    ["tool", { parameters: { a: { requierd: 1 } } }, ["parameters", "a"], ["required"], undefined],
    ["tool", { options: 5 }, ["options", "a"], ["default"], undefined],
  ])("of the shape %s in %j at %j, for %j, is %s", (shape, definition, path, missing, written) => {
    expect(findMisnamedKeyAt(shape, definition, path, missing)?.written).toBe(written);
  });
});
