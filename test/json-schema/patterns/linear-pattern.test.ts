import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compilePattern, findPattern } from "../../../src/json-schema/patterns/linear-pattern.ts";

function matches(pattern: string, text: string) {
  const compiled = compilePattern(pattern);
  return typeof compiled === "string" ? compiled : findPattern(compiled, text);
}

describe("agreement with RegExp", () => {
  test.each<[string, string, boolean]>([
    ["^a.c$", "a\nc", false],
    ["(?s)^a.c$", "a\nc", true],
    ["(?i)HÉ", "hé", true],
    ["^[\\w.+-]+@[\\w-]+\\.[a-z]{2,}$", "a.b+c@d-e.org", true],
    ["^(?<year>\\d{4})-\\d\\d$", "2026-01", true],
    ["^\\p{L}+$", "Ünïcode", true],
  ])("the linear matcher finds %j in %j exactly if RegExp does", (pattern, text, found) => {
    expect(matches(pattern, text)).toBe(found);
    if (!pattern.startsWith("(?s") && !/^\(\?[im]/.test(pattern))
      expect(new RegExp(pattern, "u").test(text)).toBe(found);
  });

  const atom = fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "\\w", "\\b", "^", "$", "\\B", "\\s", "😀");
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      atom,
      fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => one + other),
      fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(${one}|${other})`),
      fc
        .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?"))
        .map(([one, quantifier]) => `(?:${one})${quantifier}`),
    ),
  }));
  test("the linear matcher agrees with RegExp on any pattern and string", () => {
    fc.assert(
      fc.property(
        pattern,
        fc.string({ unit: fc.constantFrom("a", "b", " ", "\n", "😀", "\ud83d", "\ude00"), maxLength: 8 }),
        (one, text) => {
          // V8 finds \B between the halves of a pair, where no match with the flag `u` may begin.
          fc.pre(!(one.includes("\\B") && /[\ud800-\udfff]/.test(text)));
          expect(matches(one, text)).toBe(new RegExp(one, "u").test(text));
        },
      ),
      { numRuns: 3000 },
    );
  });
});

describe("linear cost", () => {
  test.each(["(a+)+$", "^(a|a)*$", "(a|aa)+$", "(.*a){12}$", "^a*a*a*a*a*$", "([a-z]+)*\\d"])(
    "the cost of %s grows linearly with the string",
    (pattern) => {
      const text = `${"a".repeat(5000)}!`;
      expect(matches(pattern, text)).toBe(false);
    },
  );

  test.each([
    ["(((((a{9}){9}){9}){9}){9}){9}", "too large"],
    [`${"(?:".repeat(20_000)}a${")".repeat(20_000)}`, "nested too deeply"],
    ["a{100000}", "too large"],
    ["(?:a{4999}){0}".repeat(50), "too large"],
    ["(?=a)b", "lookaround"],
    ["(a)\\1", "backreference"],
    ["(", "not a valid regular expression"],
  ])("the linear matcher rejects %s", (pattern, words) => {
    expect(compilePattern(pattern)).toContain(words);
  });
});
