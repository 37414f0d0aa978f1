import { expect, test } from "vitest";
import { findNearestNames } from "../../src/qualified-names/nearest-names.ts";

test.each([
  ["createIsue", ["createIssue", "getIssue", "deleteIssue"], ["createIssue"]],
  ["lst", ["list", "inspect", "validate"], ["list"]],
  ["unrelated", ["createIssue"], []],
])("for %s, the first suggestion among %j is %j", (name, candidates, nearest) => {
  expect(findNearestNames(name, candidates).slice(0, Math.max(1, nearest.length))).toEqual(nearest);
});

test("suggestions are ordered by similarity, unique, and at most three", () => {
  expect(findNearestNames("tool", ["tools", "tool", "tooled", "toolset", "tool", "tol"])).toEqual([
    "tool",
    "tol",
    "tools",
  ]);
});

test("names that are too different from all candidates are answered fast", () => {
  findNearestNames("x".repeat(1e6), ["tools", "servers", "y".repeat(1e4)]);
});
