import { describe, expect, test } from "vitest";
import { EvaluationBudget } from "../../src/expressions/evaluation-budget.ts";

const limit = "it exceeds the limit of 20,000,000 steps";

describe("the budget of an evaluation", () => {
  const million = 1_000_000;

  test("exactly 20 million steps may be spent, at once or one by one", () => {
    const budget = new EvaluationBudget();
    budget.spend(20 * million);
    expect(() => budget.spend(1)).toThrow(expect.objectContaining({ message: limit }));
    const slow = new EvaluationBudget();
    for (let step = 0; step < 20; step++) slow.spend(million);
    expect(() => slow.spend(1)).toThrow(limit);
    expect(() => new EvaluationBudget().spend(20 * million + 1)).toThrow(limit);
  });

  test.each<[string, (budget: EvaluationBudget) => void, number]>([
    ["a turn of a loop", (budget) => budget.spendTurn(), 4],
    ["an error that is caught", (budget) => budget.spendError(0), 60],
    ["an error that passes three parts", (budget) => budget.spendError(3), 120],
    ["a list of ten values", (budget) => budget.spendValues(10), 88],
    ["a string of 100 characters", (budget) => budget.spendString(100), 26],
  ])("%s costs its steps", (_what, spend, steps) => {
    const exact = new EvaluationBudget();
    exact.spend(20 * million - steps);
    expect(() => spend(exact)).not.toThrow();
    const scarce = new EvaluationBudget();
    scarce.spend(20 * million - steps + 1);
    expect(() => spend(scarce)).toThrow(limit);
  });

  test("the clock is read only after 250,000 steps", () => {
    let looks = 0;
    const budget = new EvaluationBudget(() => {
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
    expect(() => new EvaluationBudget(() => true).spend(250_001)).toThrow(
      "it exceeds the timeout of the call",
    );
  });
});
