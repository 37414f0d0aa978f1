import { expect, test } from "vitest";
import { writeCanonical } from "../../src/json-schema/keywords.ts";
import { findDuplicate } from "../../src/json-schema/schema-check.ts";

test.each<[unknown[], [number, number] | undefined]>([
  [[], undefined],
  [[1], undefined],
  [[1, 2, "1", "2", true, "true", null, "null"], undefined],
  [
    ["a", "b", "a", "b"],
    [0, 2],
  ],
  [
    [1, 1.0],
    [0, 1],
  ],
  [
    [{ a: 1, b: [2] }, "x", { b: [2], a: 1 }],
    [0, 2],
  ],
  [[{ a: 1 }, { a: "1" }, { b: 1 }, { a: 1, b: 1 }], undefined],
  [[[1, 2], [2, 1], [12], [[1, 2]]], undefined],
  [[[], {}, "", "[]", "{}"], undefined],
  [['"a"', "a"], undefined],
  [
    [[{ a: [] }], [{ a: [] }]],
    [0, 1],
  ],
])("of the items %j, those at %j are equal", (items, indexes) => {
  expect(findDuplicate(items)).toEqual(indexes);
});

test("the canonical form of an object does not depend on the order of its keys", () => {
  expect(writeCanonical({ b: [1, { d: null, c: "x" }], a: true })).toBe(
    '{"a":true,"b":[1,{"c":"x","d":null}]}',
  );
});
