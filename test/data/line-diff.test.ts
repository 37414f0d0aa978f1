import { expect, test } from "vitest";
import { formatLineDiff } from "../../src/data/line-diff.ts";

test("texts that differ in each of many lines are compared at once", () => {
  const write = (end: string) => Array.from({ length: 5000 }, (_, line) => `${line} ${end}\n`).join("");
  const diff = formatLineDiff("a.txt", write("old"), write("new"));
  expect(diff.match(/^-\d+ old$/gm)).toHaveLength(5000);
  expect(diff.match(/^\+\d+ new$/gm)).toHaveLength(5000);
  expect(formatLineDiff("a.txt", "one\ntwo\n", "one\n")).toBe(
    "--- a.txt\n+++ a.txt\n@@ -1,2 +1,1 @@\n one\n-two\n",
  );
}, 5000);
