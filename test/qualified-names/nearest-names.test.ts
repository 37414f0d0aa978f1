import fc from "fast-check";
import { expect, test } from "vitest";
import { findNearestNames, isPackageName, qualifyPackageName } from "../../src/qualified-names/index.ts";
import { SuggestionBudget } from "../../src/qualified-names/nearest-names.ts";

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

test("suggestions end once their comparisons are spent", () => {
  const budget = new SuggestionBudget(4);
  const find = () => findNearestNames("lst", ["list", "last"], budget);
  expect([find(), find(), find()]).toEqual([["last", "list"], ["last", "list"], []]);
  expect(findNearestNames("lst", ["list"], new SuggestionBudget())).toEqual(["list"]);
});

test("names that are too different from all candidates are answered fast", () => {
  findNearestNames("x".repeat(1e6), ["tools", "servers"]);
});

test.each([
  ["jira", true],
  ["@acme/jira", true],
  ["JSONStream", true],
  ["lodash.merge", true],
  ["a_b~c", true],
  ["", false],
  [".", false],
  ["..", false],
  [".hidden", false],
  ["_private", false],
  ["@acme", false],
  ["@acme/", false],
  ["@/jira", false],
  ["acme/jira", false],
  ["@acme/../x", false],
  ["@../x", false],
  ["@acme/..", false],
  ["@acme/a/b", false],
  ["a b", false],
  ["a\u0000", false],
  ["a\n", false],
  ["a\\b", false],
  ["%2e", false],
  ["x".repeat(214), true],
  ["x".repeat(215), false],
])("%j as the name of a package is qualified as %j", (name, isOne) => {
  expect(isPackageName(name)).toBe(isOne);
});

test("the name of a scoped package is qualified without its @", () => {
  expect(qualifyPackageName("@acme/jira")).toBe("acme/jira");
  expect(qualifyPackageName("jira")).toBe("jira");
});
