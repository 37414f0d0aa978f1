import { expect, test } from "vitest";
import { formatLineDiff } from "../../src/data/line-diff.ts";

const lines = (...all: (string | number)[]) => all.map((line) => `${line}\n`).join("");

test("equal texts have no difference", () => {
  expect(formatLineDiff("f", "a\n", "a\n")).toBe("");
  expect(formatLineDiff("f", undefined, undefined)).toBe("");
});

test("a changed line is shown between three lines of context", () => {
  const before = lines(1, 2, 3, 4, 5, 6, 7, 8, 9);
  const after = lines(1, 2, 3, 4, "five", 6, 7, 8, 9);
  const shown = lines("--- f", "+++ f", "@@ -2,7 +2,7 @@", " 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8");
  expect(formatLineDiff("f", before, after)).toBe(shown);
});

test("changes far from each other are ranges of their own", () => {
  const before = lines("a", 2, 3, 4, 5, 6, 7, 8, "b");
  const after = lines("A", 2, 3, 4, 5, 6, 7, 8, "B");
  const first = ["@@ -1,4 +1,4 @@", "-a", "+A", " 2", " 3", " 4"];
  const second = ["@@ -6,4 +6,4 @@", " 6", " 7", " 8", "-b", "+B"];
  expect(formatLineDiff("f", before, after)).toBe(lines("--- f", "+++ f", ...first, ...second));
});

test("lines may be added and removed at either end", () => {
  expect(formatLineDiff("f", lines(1, 2), lines(0, 1, 2))).toBe(
    lines("--- f", "+++ f", "@@ -1,2 +1,3 @@", "+0", " 1", " 2"),
  );
  expect(formatLineDiff("f", lines(1, 2), lines(1))).toBe(
    lines("--- f", "+++ f", "@@ -1,2 +1,1 @@", " 1", "-2"),
  );
});

test("a repeated line counts once", () => {
  expect(formatLineDiff("f", lines("a", "a"), lines("a", "a", "a"))).toBe(
    lines("--- f", "+++ f", "@@ -1,2 +1,3 @@", " a", " a", "+a"),
  );
});

test("a file that does not exist is /dev/null, and an empty range starts before the first line", () => {
  expect(formatLineDiff("f", undefined, lines("a"))).toBe(
    lines("--- /dev/null", "+++ f", "@@ -0,0 +1,1 @@", "+a"),
  );
  expect(formatLineDiff("f", lines("a"), undefined)).toBe(
    lines("--- f", "+++ /dev/null", "@@ -1,1 +0,0 @@", "-a"),
  );
});

test("a last line without an end is marked, as diff and patch do", () => {
  expect(formatLineDiff("f", "a", "a\n")).toBe(
    lines("--- f", "+++ f", "@@ -1,1 +1,1 @@", "-a", "\\ No newline at end of file", "+a"),
  );
});
