import { describe, expect, test } from "vitest";
import { createSchemaPattern } from "../../src/json-schema/schema-pattern.ts";

const padding = " ".repeat(400);

const create = (pattern: string, isCall = true) => createSchemaPattern(pattern, isCall);

describe("agreement with RegExp and its flag u", () => {
  test.each([
    ["b", "abc"],
    ["^b", "abc"],
    ["b$", "b\n"],
    ["^$", ""],
    ["(?i)a", "A"],
    ["(?<a>x)y", "xy"],
    ["\\ud83d", "😀"],
    ["\\ud83d\\ude00", "😀"],
    ["\\u{1F600}", "😀"],
    ["^.$", "😀"],
    ["^.$", "\ud83d"],
    ["^..$", "\ude00\ud83d"],
    [".", "\u2028"],
    ["[^]", "\n"],
    ["[]", "a"],
    ["[\\b]", "\b"],
    ["\\0", "\0"],
    ["\\cJ", "\n"],
    ["\\x41\\u0042", "AB"],
    ["\\p{Lu}", "É"],
    ["\\P{L}", "é"],
    ["[\\w-]+", "-"],
    ["\\/", "/"],
    ["\\bé", "aé"],
    ["(a)\\1", "aa"],
    ["(?<!a)b", "ab"],
    ["a(?=b)", "ab"],
    ["(?:a|ab)(?:c|bcd)(?:d*)$", "abcd"],
    ["(?:|a)+b", "aab"],
    ["x{0}y{2,}", "yy"],
  ])("the pattern %s finds in %j what RegExp finds", (pattern, text) => {
    for (const one of [pattern, `(?:${pattern})| * *!`]) {
      for (const whole of [text, `${text}${padding}`, `${padding}${text}`, padding]) {
        let expected: boolean;
        try {
          expected = new RegExp(one, "u").test(whole);
        } catch {
          expect(() => create(one)).toThrow();
          continue;
        }
        expect(create(one).test(whole)).toBe(expected);
      }
    }
  });
});

test("a pattern that is nested too deeply for our engine matches short strings", () => {
  const pattern = `${"(?:".repeat(5000)}a${")".repeat(5000)}`;
  expect(create(pattern).test("ba")).toBe(true);
});

test.each(["^(?!x)a*b$", "^(a)\\1*b$", "^(?<!x)a{0,9000}b$"])(
  "the pattern %s, which needs backtracking, matches strings of up to 1,000 characters, in calls alone",
  (pattern) => {
    expect(create(pattern).test(`${"a".repeat(999)}b`)).toBe(true);
    expect(create(pattern).test(`${"a".repeat(999)}c`)).toBe(false);
    expect(() => create(pattern).test(`${"a".repeat(1000)}b`)).toThrow("is too long to be matched");
    expect(() => create(pattern, false).test("aab")).toThrow("only calls match the pattern");
  },
);
