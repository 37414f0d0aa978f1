import { describe, expect, test } from "vitest";
import {
  formatInstall,
  printable,
  printableLines,
  quote,
  quoteForShell,
  shorten,
} from "../../src/problems/text.ts";

test.each([
  ["a\t\r\n b\n\nc", "a  b c"],
  ["a\u0007b", "a\\u{0007}b"],
  ["\ud800", "\\u{d800}"],
])("%j is printed on one line as %j", (text, line) => {
  expect(printable(text)).toBe(line);
});

test("lines stay lines, and a carriage return that ends one is dropped", () => {
  expect(printableLines("a\tb\r\n\u001b\n\nc\rd")).toBe("a b\n\\u{001b}\n\nc d");
});

describe("a long text", () => {
  test.each([
    ["abc", "abc"],
    ["abcd", "abc… (1 more character)"],
    ["👍👍👍👍", "👍👍👍… (1 more character)"],
    [`ab${"\ud800".repeat(3)}`, "ab\ud800… (2 more characters)"],
  ])("%s is cut after three characters: %s", (text, cut) => {
    expect(shorten(text, 3)).toBe(cut);
  });

  test("it is cut after 4,096 characters if no other limit is given, and may have a note", () => {
    expect(shorten("x".repeat(4096))).toBe("x".repeat(4096));
    expect(shorten("x".repeat(6000))).toBe(`${"x".repeat(4096)}… (1,904 more characters)`);
    expect(shorten("abc", 1, " in a.txt")).toBe("a… (2 more characters in a.txt)");
  });

  test.each([
    ["abcd", '"abc…"'],
    ["a\nb", '"a b"'],
  ])("%j is quoted as %s if three characters are allowed", (text, quoted) => {
    expect(quote(text, 3)).toBe(quoted);
  });
});

test.each([
  ["acme/jira@^1", '"acme/jira@^1"'],
  ["@acme/jira_x:1.2=a,b+c-d%", "@acme/jira_x:1.2=a,b+c-d%"],
  ["a b", '"a b"'],
  ["~/a", '"~/a"'],
  ["C:\\my tools\\", "'C:\\my tools\\'"],
  ["$(touch x)", "'$(touch x)'"],
  ['say "hi"', "'say \"hi\"'"],
  ["it's", '"it\'s"'],
  ["it's $1", "'it'\\''s $1'"],
  ["", '""'],
])("the word %s is shown on a command line as %s", (word, shown) => {
  expect(quoteForShell(word)).toBe(shown);
});

describe("commands of package managers", () => {
  test.each([
    [undefined, "npm install", "npm install @acme/jira@1.2.0", 'npm install "x@^1"'],
    ["pnpm", "pnpm install", "pnpm add @acme/jira@1.2.0", 'pnpm add "x@^1"'],
    ["deno", "deno install", "deno add npm:@acme/jira@1.2.0", 'deno add "npm:x@^1"'],
  ] as const)("%s installs and adds packages with its own commands", (manager, all, one, range) => {
    expect(formatInstall(manager)).toBe(all);
    expect(formatInstall(manager, "@acme/jira@1.2.0")).toBe(one);
    expect(formatInstall(manager, "x@^1")).toBe(range);
  });
});
