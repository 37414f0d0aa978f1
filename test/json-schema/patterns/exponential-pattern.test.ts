import { expect, test } from "vitest";
import { isExponential } from "../../../src/json-schema/patterns/exponential-pattern.ts";

test.each([
  // A repetition inside a repetition.
  "^([A-Z]+)+$",
  // Alternatives that take the same text.
  "^(a|a)*$",
  "^(?:Ж|[А-Я])+!$",
  "^(a|aa)+$",
  "(a|ab|b)*c",
  // Counted, but so often that it makes no difference.
  "(?:.{0,99}.{0,99}.{0,99})*",
  "^(.*,)*$",
  // With very many ways through it.
  `^(${[..."abcdefghijklmnop"].map((letter) => `(${letter}*)?`).join("")})+$`,
  // Somewhere inside.
  "(?=(a+)+b)a",
])("%s backtracks exponentially", (pattern) => {
  expect(isExponential(pattern)).toBe(true);
});

test.each([
  "^[A-Z]+-[0-9]+$",
  "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
  "^((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+)[a-z]{2,}$",
  '^("[^"]*"|[^,"]*)(,("[^"]*"|[^,"]*))*$',
  "^(?:a|ab)*c$",
  '^("(\\\\.|[^"\\\\])*",?)*$',
  "^(?:\\p{Lu}\\p{Ll}*)+$",
  // Slow on long texts, but not exponential.
  "a*a*b",
  "",
  // No regular expressions at all.
  "(a+)+[",
])("%s does not backtrack exponentially", (pattern) => {
  expect(isExponential(pattern)).toBe(false);
});

test("a hostile pattern is judged in limited time", () => {
  isExponential(`${"(?:a".repeat(60)}${"b*x)*".repeat(60)}`);
  isExponential(`${"(?:".repeat(8)}a${"){1,9}".repeat(8)}`);
  isExponential(`(?:${"(?:[a-z]?){9}".repeat(38)})*`);
  isExponential(`${"(".repeat(5000)}a${")".repeat(5000)}*`);
});
