import fc from "fast-check";
import { expect, test } from "vitest";
import { findNearestNames } from "../../src/qualified-names/nearest-names.ts";

test.each([
  ["createIsue", ["createIssue", "getIssue", "deleteIssue"], ["createIssue"]],
  ["CREATEISSUE", ["createIssue"], ["createIssue"]],
  ["lst", ["list", "inspect", "validate"], ["list"]],
  ["unrelated", ["createIssue"], []],
  ["x", [], []],
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

test("suggestions depend on the candidates, not on their order", () => {
  const names = fc.array(fc.stringMatching(/^[ab]{1,4}$/), { maxLength: 8 });
  fc.assert(
    fc.property(fc.stringMatching(/^[ab]{1,4}$/), names, (name, candidates) => {
      expect(findNearestNames(name, [...candidates].reverse())).toEqual(findNearestNames(name, candidates));
    }),
  );
});

test("a name of nine letters gets suggestions that differ by three, in letters or in length", () => {
  const candidates = ["abcdefxyz", "abcdewxyz", "abcdefghijkl", "abcdefghijklm"];
  expect(findNearestNames("abcdefghi", candidates)).toEqual(["abcdefghijkl", "abcdefxyz"]);
});

test("a thousand candidates are compared, no more", () => {
  const others = Array.from({ length: 999 }, (_, index) => `unrelated-${index}`);
  expect(findNearestNames("lst", [...others, "list", "last"])).toEqual(["list"]);
});

test("names that are too different from all candidates are answered fast", () => {
  findNearestNames("x".repeat(1e6), ["tools", "servers", "y".repeat(1e4)]);
});
