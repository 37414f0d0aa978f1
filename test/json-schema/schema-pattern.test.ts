import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CheckBudget } from "../../src/json-schema/check-budget.ts";
import { createSchemaPattern } from "../../src/json-schema/schema-pattern.ts";

/** Behind this the text is too long for the engine of the language, where a pattern has more than one repetition. */
const padding = " ".repeat(400);

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
        const found = () => createSchemaPattern(one, new CheckBudget()).test(whole);
        let expected: boolean;
        try {
          expected = new RegExp(one, "u").test(whole);
        } catch {
          expect(found).toThrow();
          continue;
        }
        try {
          expect(found()).toBe(expected);
        } catch (error) {
          expect((error as Error).message).toMatch(/too long to be matched/);
        }
      }
    }
  });

  const atom = fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "\\w", "\\b", "^", "$", "😀", "\\s");
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 3, depthSize: "small" },
      atom,
      fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => one + other),
      fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(${one}|${other})`),
      fc
        .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{0,2}"))
        .map(([one, many]) => `(?:${one})${many}`),
    ),
  }));
  test("any pattern finds in any string what RegExp finds", () => {
    const unit = fc.constantFrom("a", "b", " ", "\n", "😀", "\ud83d", "\ude00");
    fc.assert(
      fc.property(pattern, fc.string({ unit, maxLength: 8 }), (one, text) => {
        const created = createSchemaPattern(`\\s*\\s*\\s*(?:${one})`, new CheckBudget());
        for (const whole of [text, `${padding.slice(0, 60)}${text}`]) {
          expect(created.test(whole)).toBe(new RegExp(one, "u").test(whole));
        }
      }),
      { numRuns: 300 },
    );
  });
});

test("a pattern that is nested too deeply to be analyzed matches short strings", () => {
  const pattern = `${"(?:".repeat(5000)}a${")".repeat(5000)}`;
  expect(createSchemaPattern(pattern, new CheckBudget()).test("ba")).toBe(true);
});

test("steps are counted across all strings of a check until the counter is reset", () => {
  const budget = new CheckBudget();
  const hard = createSchemaPattern("(?!x)a*a*b", budget);
  const text = "a".repeat(1000);
  const untilRefused = () => {
    for (let count = 0; count < 1000; count++) {
      try {
        hard.test(text);
      } catch {
        return count;
      }
    }
    return 1000;
  };
  const first = untilRefused();
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(1000);
  expect(untilRefused()).toBe(0);
  budget.start();
  expect(untilRefused()).toBe(first);
});
