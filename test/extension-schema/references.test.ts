import { describe, expect, test } from "vitest";
import type { DefinitionShape } from "../../src/extension-schema/index.ts";
import {
  findQualifiedNames,
  findReferences,
  isModulePath,
  replaceBackslashes,
  withoutRange,
} from "../../src/extension-schema/references.ts";

const referencesOf = (shape: DefinitionShape | undefined, definition: Record<string, unknown> | null) =>
  findReferences({ shape, definition }).map(
    ({ reference, kind, path }) => `${kind} ${reference} at ${path.join(".")}`,
  );

describe("references in definitions", () => {
  const lists = { tools: ["a", 5, "b"], toolsets: ["c"], prompts: ["d"], resources: ["e"] };

  test.each<[DefinitionShape, string[]]>([
    [
      "composedServer",
      [
        "tool a at tools.0",
        "tool b at tools.2",
        "toolset c at toolsets.0",
        "prompt d at prompts.0",
        "resource e at resources.0",
      ],
    ],
    ["serverDocument", ["toolset a at tools.0", "toolset b at tools.2"]],
    ["toolsetList", ["tool a at tools.0", "tool b at tools.2", "toolset c at toolsets.0"]],
    ["prompt", []],
  ])("a definition of the shape %s refers to %j", (shape, references) => {
    expect(referencesOf(shape, lists)).toEqual(references);
  });

  test("a bundle refers to the tools that are handlers of its entries", () => {
    const handlers = ["acme/jira/getIssue", "./lib/a.js#run", "../b.js", { $function: "f" }, undefined];
    const entries = [...handlers.map((handler) => ({ handler })), "web_click", null];
    expect(referencesOf("toolsBundle", { entries })).toEqual([
      "tool acme/jira/getIssue at entries.0.handler",
    ]);
    expect(referencesOf("tool", { entries })).toEqual([]);
  });

  test("values of other types, and a definition that could not be read, refer to nothing", () => {
    expect(referencesOf("toolsetList", { tools: "a", toolsets: { 0: "b" } })).toEqual([]);
    expect(referencesOf("toolsBundle", { entries: "a" })).toEqual([]);
    expect(referencesOf(undefined, lists)).toEqual([]);
    expect(referencesOf("toolsetList", null)).toEqual([]);
  });
});

test("the qualified names in definitions and among other references are parsed", () => {
  const definition = { tools: ["acme/jira@^1/getIssue", "getIssue"] };
  const found = findQualifiedNames([{ shape: "toolsetList", definition }], ["notes/add", "tap"]);
  expect(found).toMatchObject([
    { packageName: "@acme/jira", range: "^1", item: "getIssue" },
    { packageName: "notes", item: "add" },
  ]);
});

test.each([
  ["acme/jira/triage", "acme/jira/triage"],
  ["@acme/jira/triage", "acme/jira/triage"],
  ["acme/jira@^1.2/triage", "acme/jira/triage"],
  ["@acme/jira@>=1 <2/triage", "acme/jira/triage"],
  ["jira@1/triage", "jira/triage"],
])("the normal form of %s is %s", (reference, normal) => {
  expect(withoutRange(reference)).toBe(normal);
});

test.each([
  ["./a.js#b", true],
  ["../a.js", true],
  ["a/b", false],
  ["a/./b", false],
  ["a/../b", false],
  [".hidden/a", false],
  ["", false],
])("whether %j is the path of a module: %j", (handler, expected) => {
  expect(isModulePath(handler)).toBe(expected);
});

test.each([
  [".\\lib\\a.js", "./lib/a.js"],
  ["..\\a.js", "../a.js"],
  ["lib\\a.js", "./lib/a.js"],
  ["./lib\\a.js", "./lib/a.js"],
  ["./lib/a.js", undefined],
  ["C:\\lib\\a.js", undefined],
  ["\\\\server\\a.js", undefined],
  ["a:b\\c.js", "./a:b/c.js"],
  ["lib\\C:\\a.js", "./lib/C:/a.js"],
])("in place of %s, the path to write is %s", (path, written) => {
  expect(replaceBackslashes(path)).toBe(written);
});
