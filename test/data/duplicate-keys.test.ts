import { expect, test } from "vitest";
import { hasDuplicateKeys } from "../../src/data/duplicate-keys.ts";

test.each([
  ["{}", false],
  ['{"a":1,"a":2}', true],
  ['{"a" : 1 ,\r\n\t"a"\r\n\t : 2}', true],
  // The same name, written in two ways.
  ['{"a":1,"\\u0061":2}', true],
  ['{"a\\\\":1,"b":"\\\\"}', false],
  // Below the top.
  ['{"a":{"b":1,"b":2}}', true],
  ['{"a":[{"b":1},{"b":2}]}', false],
  // Values are no keys.
  ['{"a":[1,"a"],"b":{"c":1,"a":2}}', false],
  ['{"a":"\\":","b":": \\"a\\":"}', false],
  ['{"__proto__":1,"__proto__":2}', true],
] as const)("whether the text %s repeats a key: %j", (text, isDuplicate) => {
  expect(hasDuplicateKeys(text, JSON.parse(text))).toBe(isDuplicate);
});
