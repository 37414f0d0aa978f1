import { describe, expect, test } from "vitest";
import { formatDocComment, formatLiteral } from "../../src/author/generate-types.ts";
import { formatJson } from "../../src/cli/output.ts";
import { findHiddenCharacters } from "../../src/problems/hidden-characters.ts";
import { createProblem, formatProblem, printable } from "../../src/problems/index.ts";

/** Code points between letters: some thousands a text, of the blocks that have hidden characters. */
const texts = [0, 0x1000, 0x2000, 0x3000, 0xd000, 0xe000, 0xf000, 0x1b000, 0x1d000, 0x1f000, 0xe0000].map(
  (start) =>
    Array.from({ length: 0x1000 }, (_, index) => `a${String.fromCodePoint(start + index)}b`).join(" "),
);
const isHidden = (character: string) => {
  const { control, hidden } = findHiddenCharacters(character);
  return control.length + hidden.length > 0;
};
/** What validation reports, and all that Unicode does not count among what prints. */
const wanted = texts.flatMap((text) =>
  [...text].filter(
    (character) => character !== "\n" && (isHidden(character) || /[\p{C}\p{Zl}\p{Zp}]/u.test(character)),
  ),
);

describe("every character that validation reports as hidden is escaped", () => {
  const problem = (message: string) => formatProblem({ code: "InternalError", severity: "error", message });
  test.each([
    ["on a terminal", printable],
    ["in a problem", problem],
    ["in JSON", formatJson],
    ["in a literal of generated source", formatLiteral],
  ])("hidden characters are escaped %s", (_where, format) => {
    expect(wanted.length).toBeGreaterThan(10_000);
    const shown = new Set(texts.map(format).join(""));
    expect(wanted.filter((character) => shown.has(character))).toEqual([]);
  });

  test("hidden characters are escaped in comments of generated source", () => {
    for (const character of ["\u034f", "\u3164", "\ufe00", "\u{e0100}", "\u{e0041}", "\u202e"]) {
      expect(formatDocComment([`a${character}b`], "")).not.toContain(character);
    }
  });

  test("hidden characters are escaped in messages and hints", () => {
    const reason = "a\u202eb\u3164c\u001b[31md";
    const { message, hint } = createProblem("InvalidConfig", { reason, hint: reason });
    expect(`${message}${hint}`).not.toMatch(/[\u202e\u3164\u001b]/);
    expect(message).toContain("a\\u{202e}b\\u{3164}c\\u{001b}[31md");
  });
});

test("JSON with escaped characters has the same value when read", () => {
  const text = texts.join("");
  expect(JSON.parse(formatJson({ text }))).toEqual({ text });
});

describe.each([
  ["a heart", "❤️"],
  ["a family", "👨‍👩‍👧‍👦"],
  ["a flag of tags", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"],
  ["a keycap", "1️⃣"],
])("the emoji %s", (_what, emoji) => {
  test("an emoji is shown unchanged", () => {
    expect(printable(`a ${emoji} b`)).toBe(`a ${emoji} b`);
    expect(formatJson(emoji)).toBe(`"${emoji}"`);
  });

  test("an emoji is not reported by validation", () => {
    expect(findHiddenCharacters(emoji)).toEqual({ control: [], hidden: [] });
  });
});

test.each([
  ["a second selector", "❤️\ufe0f", "❤️\\u{fe0f}"],
  ["a joiner that joins nothing", "👩\u200d text", "👩\\u{200d} text"],
  ["tags of no flag", "🏴\u{e0061}\u{e007f}", "🏴\\u{e0061}\\u{e007f}"],
])("%s is escaped wherever strings are shown", (_what, text, shown) => {
  expect(printable(text)).toBe(shown);
});
