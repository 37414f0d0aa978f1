import { expect, test } from "vitest";
import { replaceBackslashes } from "../../src/extension-schema/references.ts";

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
