import { describe, expect, test } from "vitest";
import { hasDuplicateKeys } from "../../src/data/duplicate-keys.ts";
import { findRepeatedKeys } from "../../src/data/json-positions.ts";

const texts: readonly (readonly [text: string, repeated: readonly string[], isDuplicate: boolean])[] = [
  ["{}", [], false],
  ["[]", [], false],
  ['"a"', [], false],
  ['{"a":1,"b":2}', [], false],
  ['{"a":1,"a":2}', ["a"], true],
  ['{"a" : 1 ,\r\n\t"a"\r\n\t : 2}', ["a"], true],
  ['{"a":1,"b":2,"a":3,"b":4,"a":5}', ["a", "b"], true],
  // The same name, written in two ways.
  ['{"a":1,"\\u0061":2}', ["a"], true],
  ['{"\\"":1,"\\"":2}', ['"'], true],
  ['{"a\\\\":1,"b":"\\\\"}', [], false],
  // Below the top.
  ['{"a":{"b":1,"b":2}}', [], true],
  ['[{"b":1,"b":2}]', [], true],
  ['{"a":[{"b":1},{"b":2}]}', [], false],
  ['{"a":{"b":1},"b":{"a":1}}', [], false],
  ['{"a":[1,2],"a":{"c":3}}', ["a"], true],
  // Values are no keys.
  ['{"a":[1,"a"],"b":{"c":1,"a":2}}', [], false],
  ['{"a" \t\r\n: 1}', [], false],
  ['{"a":"a","b":"a"}', [], false],
  ['{"a":"\\":","b":": \\"a\\":"}', [], false],
  ['{"a":["b","b"],"c":"b"}', [], false],
  ['{"a":{},"b":[],"c":null,"d":"{\\"a\\":1}"}', [], false],
  ['{"__proto__":1,"__proto__":2}', ["__proto__"], true],
];

describe.each(texts)("%s", (text, repeated, isDuplicate) => {
  test(`repeats ${repeated.join(" and ") || "nothing"} at its top`, () => {
    const found = findRepeatedKeys(text, ({ length }) => length === 1);
    expect([...new Set(found.map(({ path }) => path[0]))]).toEqual(repeated);
  });

  test(isDuplicate ? "repeats a key" : "repeats no key", () => {
    expect(hasDuplicateKeys(text, JSON.parse(text))).toBe(isDuplicate);
  });
});
