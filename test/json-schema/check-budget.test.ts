import { describe, expect, test } from "vitest";
import { CheckBudget, CheckLimit, describeStop } from "../../src/json-schema/check-budget.ts";

const million = 1_000_000;

/** Whether a check of a value may take this number of steps. */
function allows(steps: number, value?: unknown): boolean {
  const budget = new CheckBudget();
  budget.start(value);
  try {
    budget.spend(steps);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(CheckLimit);
    return false;
  }
}

describe("the steps of a check", () => {
  test.each<[unknown, number]>([
    [undefined, 20 * million],
    [5, 20 * million + 200],
    [null, 20 * million + 200],
    ["x".repeat(15), 20 * million + 200],
    ["x".repeat(160), 20 * million + 11 * 200],
    [[1, [2, 3]], 20 * million + 5 * 200],
    [{ a: 1, b: { c: null } }, 20 * million + 4 * 200],
    [{ ["x".repeat(32)]: undefined }, 20 * million + 4 * 200],
    [[undefined, 1], 20 * million + 3 * 200],
  ])("for the value %j are limited to %i", (value, steps) => {
    expect(allows(steps, value)).toBe(true);
    expect(allows(steps + 1, value)).toBe(false);
  });

  test("they may be spent at once or one after another", () => {
    const budget = new CheckBudget();
    budget.start([1]);
    for (let part = 0; part < 200; part++) budget.spend(100_000);
    budget.spend(400);
    expect(() => budget.spend(1)).toThrow("it exceeds the limit of 20,000,400 steps");
  });

  test("a check that was not started has the steps for a small value, and a new one has all of them", () => {
    const budget = new CheckBudget();
    budget.spend(20 * million);
    expect(() => budget.spend(1)).toThrow("it exceeds the limit of 20,000,000 steps");
    budget.start();
    budget.spend(20 * million);
    expect(() => budget.spend(1)).toThrow(CheckLimit);
  });
});

describe("the clock of a check", () => {
  test("is read after 250,000 steps", () => {
    let looks = 0;
    const budget = new CheckBudget();
    budget.start(undefined, () => {
      looks++;
      return false;
    });
    budget.spend(250_000);
    expect(looks).toBe(0);
    budget.spend(1);
    expect(looks).toBe(1);
    budget.spend(249_999);
    expect(looks).toBe(1);
    budget.spend(1);
    expect(looks).toBe(2);
  });

  test("ends the check", () => {
    const budget = new CheckBudget();
    budget.start(undefined, () => true);
    budget.spend(250_000);
    expect(() => budget.spend(1)).toThrow("it exceeds the timeout of the call");
    budget.start();
    budget.spend(million);
  });
});

test("a check that was stopped is described", () => {
  expect(describeStop("the arguments", "it takes too long")).toBe(
    "The check of the arguments was stopped: it takes too long.",
  );
});
