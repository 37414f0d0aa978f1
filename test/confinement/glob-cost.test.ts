import fastGlob from "fast-glob";
import { describe, expect, test } from "vitest";
import { countAlternatives, measureGlob } from "../../src/files/glob-cost.ts";

describe("the number of patterns that braces expand to", () => {
  test.each([
    ["packages/*", 1],
    ["{apps,libs}/*", 2],
    ["{a,b}/{c,d,e}", 6],
    ["{a,{b,{c,d}}}", 4],
    ["{1..20}", 20],
    ["{a..e}-{1..3}", 15],
    ['{a"}",b}', 2],
    ["{a\\},b}", 2],
    ["{[},a],b}", 2],
    ["{(},a),b}", 2],
    ["../{a,b}/*", 2],
    ["{./a,./b}/*", 2],
    ["{a,b", 1],
    ["${a,b}", 1],
  ])("the estimate for %s is at least what fast-glob expands, and not much more", (pattern, expected) => {
    const made = fastGlob.generateTasks(`${pattern}/x`).flatMap(({ patterns }) => patterns);
    expect(made.length).toBe(expected);
    expect(countAlternatives(pattern)).toBeGreaterThanOrEqual(made.length);
    expect(countAlternatives(pattern)).toBeLessThanOrEqual(2.5 * made.length ** 1.5);
  });
});

/** Ways in which `*` can share a text, counted one by one, as a matcher that fails tries them. */
function countTries(parts: readonly string[], text: string): number {
  const [first = "", ...others] = parts;
  if (others.length === 0) return 1;
  let tries = 0;
  for (let at = first.length; at <= text.length; at++) tries += countTries(others, text.slice(at));
  return text.startsWith(first) ? tries : 1;
}

describe("the number of matching steps", () => {
  test.each([1, 2, 3, 4])("the estimate for %i stars is at least the number of steps", (stars) => {
    const pattern = "*a".repeat(stars);
    const text = "a".repeat(14);
    // A step is one pass over the text; counting one by one, each is as many tries as the text is long.
    const tries = countTries(
      [...Array.from({ length: stars }, (_, index) => (index === 0 ? "" : "a")), "b"],
      text,
    );
    expect(measureGlob(pattern)(text.length, 1) * (text.length + 1)).toBeGreaterThanOrEqual(tries);
  });

  test.each(["packages/*", "packages/*/src/*", "{apps,libs}/*", "a?b[c-d]/*"])(
    "%s costs one step for each alternative",
    (pattern) => {
      expect(measureGlob(pattern)(255, 20)).toBe(countAlternatives(pattern));
    },
  );

  test("each alternative is measured separately", () => {
    expect(measureGlob("{a-*,b-*,c-*}")(255, 3)).toBe(3);
    expect(measureGlob("{*a*,b}")(20, 3)).toBe(22);
  });
});
