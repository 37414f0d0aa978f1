import { describe, expect, test } from "vitest";
import { findRepeatedKeys } from "../../src/data/json-positions.ts";
import type { Path } from "../../src/problems/index.ts";

const inside =
  (top: string) =>
  ([first, ...below]: Path) =>
    first === top && below.length > 0;

describe("repeated keys", () => {
  test.each([
    ['{"a": {"a": 1}, "b": [{"a": 1}, {"a": 1}]}', []],
    [
      '{"a": [0, {"b": 1, "c": {"d": 1}, "b": 2}], "a": 3}',
      [
        { path: ["a", 1, "b"], offset: 34 },
        { path: ["a"], offset: 44 },
      ],
    ],
    [
      '{"a": 1, "\\u0061": 2, "a": 3}',
      [
        { path: ["a"], offset: 9 },
        { path: ["a"], offset: 22 },
      ],
    ],
    ['{"__proto__": 1, "__proto__": 1}', [{ path: ["__proto__"], offset: 17 }]],
  ])("the keys that %s repeats are found in order", (text, found) => {
    expect(findRepeatedKeys(text)).toEqual(found);
  });

  test("only relevant keys are found, and count", () => {
    const text = '{"b": {"a": 1, "a": 1}, "a": {"c": 1, "c": 1}, "a": {}, "d": {"a": {"x": 1, "x": 1}}}';
    expect(findRepeatedKeys(text, inside("a"))).toEqual([{ path: ["a", "c"], offset: 38 }]);
  });

  test("the first hundred are enough", () => {
    const text = `{${Array(102).fill('"a":1').join()}}`;
    expect(findRepeatedKeys(text)).toHaveLength(100);
    expect(findRepeatedKeys(`{"b":${text}}`, inside("b"))).toHaveLength(100);
    expect(findRepeatedKeys(`{"b":${text},"c":{"d":1,"d":2}}`, inside("c"))).toHaveLength(1);
  });
});
