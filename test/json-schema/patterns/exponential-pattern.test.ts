import { describe, expect, test } from "vitest";
import { isExponential } from "../../../src/json-schema/patterns/exponential-pattern.ts";

describe("patterns that backtrack exponentially", () => {
  test.each([
    // A repetition inside a repetition.
    "^([A-Z]+)+$",
    "^(\\w+\\s?)*$",
    // Alternatives that take the same text.
    "^(a|a)*$",
    "^(?:😀|\\u{1F600})+$",
    "^(?:(?:a*|b*)x)*$",
    // Counted, but so often that it makes no difference.
    "^(?:a?){30}a{30}$",
    "(?:.{0,99}.{0,99}.{0,99})*",
    // Somewhere inside.
    "(?=(a+)+b)a",
  ])("%s backtracks exponentially", (pattern) => {
    expect(isExponential(pattern)).toBe(true);
  });
});

describe("patterns that do not backtrack exponentially", () => {
  test.each([
    "^[A-Z]+-[0-9]+$",
    "^[a-z]+(-[a-z]+)*$",
    "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    "^((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+)[a-z]{2,}$",
    '^("[^"]*"|[^,"]*)(,("[^"]*"|[^,"]*))*$',
    "^(?:a|[b-z])*$",
    "^(?:\\p{Lu}\\p{Ll}*)+$",
    // Slow on long texts, but not exponential.
    "a*a*b",
    "",
    // No regular expressions at all.
    "(a+)+[",
    "(a+)+\\",
  ])("%s does not backtrack exponentially", (pattern) => {
    expect(isExponential(pattern)).toBe(false);
  });
});

describe("hostile patterns", () => {
  test.each([
    ["many alternatives", `(${"a|".repeat(5000)}b)*`],
    ["deep groups", `${"(".repeat(5000)}a${")".repeat(5000)}*`],
    ["counted repetitions in each other", `${"(?:".repeat(8)}a${"){1,9}".repeat(8)}`],
    ["a megabyte", `(${"[a-z]?".repeat(170_000)})+`],
    [
      "many classes",
      `(?:${Array.from({ length: 900 }, (_, index) => `\\u{${(0x4e00 + index).toString(16)}}`).join("|")})*`,
    ],
  ])("the analysis of a hostile pattern finishes: %s", (_what, pattern) => {
    isExponential(pattern);
  });
});
