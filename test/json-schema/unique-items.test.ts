import { expect, test } from "vitest";
import { CheckBudget } from "../../src/json-schema/check-budget.ts";
import { findDuplicate, writeCanonical } from "../../src/json-schema/unique-items.ts";

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
  expect(findDuplicate(items, new CheckBudget())).toEqual(indexes);
});

test("the canonical form of an object does not depend on the order of its keys", () => {
  expect(writeCanonical({ b: [1, { d: null, c: "x" }], a: true })).toBe(
    '{"a":true,"b":[1,{"c":"x","d":null}]}',
  );
});

test("comparing costs steps for each item and its length, until a duplicate is found", () => {
  const stepsOf = (items: unknown[]) => {
    let spent = 0;
    const budget = new CheckBudget();
    budget.spend = (steps) => {
      spent += steps;
    };
    findDuplicate(items, budget);
    return spent;
  };
  expect(stepsOf([1])).toBe(0);
  expect(stepsOf([1, 2])).toBe(20);
  expect(stepsOf(["x".repeat(800), 1])).toBe(120);
  expect(stepsOf([1, 1, 2, 3])).toBe(20);
});
