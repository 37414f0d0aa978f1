import { describe, expect, test } from "vitest";
import {
  markIntegers,
  markText,
  parseExactly,
  readMarks,
  stringifyExactly,
  unmarkText,
} from "../../src/data/exact-integers.ts";

const big = "725653563933458433";

describe("texts keep their integers", () => {
  test.each([
    `{"a":-${big},"b":[1,${big},{"c":[18446744073709551615]}]}`,
    `[${big},725653563933458434,9007199254740993]`,
    `{"__proto__":${big},"":${big},"${big}":${big}}`,
    `["${big}"," ${big}","\\"${big}","\\\\",${big},"\\\\\\"",${big}]`,
    `["é\u2028 ${big}",${big}]`,
    `{"a":1${"0".repeat(400)}1}`,
    `[${"7".repeat(1_000_000)}]`,
  ])("text %#", (text) => {
    const value = parseExactly(text);
    expect(value).toEqual(JSON.parse(text));
    expect(stringifyExactly(value)).toBe(text);
    expect(unmarkText(JSON.stringify(markIntegers(value as object)))).toBe(text);
    expect(unmarkText(markText(text))).toBe(text);
    expect(stringifyExactly(readMarks(JSON.parse(markText(text))))).toBe(text);
  });

  test.each([
    "1e400",
    "0.1000000000000000055",
    "12345678901234567890.5",
    "12345678901234567890e1",
    "1e-1234567890123456",
  ])("other numbers are those of JSON.parse: %s", (number) => {
    const text = `{"a":${number},"b":"${big}"}`;
    expect(markText(text)).toBe(text);
    expect(stringifyExactly(parseExactly(text))).toBe(JSON.stringify(JSON.parse(text)));
  });

  test.each([`{${big}:1}`, `[${big} 5]`, `[0${big}]`, `[${big}a]`, `["${big}]`, `[${big}`, `${big},`])(
    "invalid JSON stays invalid: %s",
    (text) => {
      expect(() => parseExactly(text)).toThrow(SyntaxError);
    },
  );
});

test("a string that contains a mark stays a string", () => {
  const [mark = ""] = /"integer [^"]+"/.exec(markText(`[${big}]`)) ?? [];
  expect(mark).toContain(big);
  for (const text of [`x${mark}`, `${mark}x`, `\\${mark}`, mark, `"${mark.slice(0, -1)}`])
    expect(JSON.parse(stringifyExactly({ text }))).toEqual({ text });
});

test.each([
  ["integers", `[${`${big},`.repeat(50_000)}1]`],
  ["backslashes", `["${"\\\\".repeat(500_000)}",${big}]`],
])("a long text of %s is read in linear time: quadratic, it would be minutes", (_, text) => {
  expect(stringifyExactly(parseExactly(text)) === text).toBe(true);
});
