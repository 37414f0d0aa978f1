import { describe, expect, test } from "vitest";
import { compileExpression } from "../../src/expressions/cel.ts";
import { Evaluation } from "../../src/expressions/evaluation.ts";
import { compileTemplate } from "../../src/expressions/templates.ts";

const list = (length: number) => Array.from({ length }, (_, index) => index);
const large = "a".repeat(1 << 18);
const scope = {
  l: list(1000),
  s: list(300),
  large,
};
const variables = Object.fromEntries(Object.keys(scope).map((name) => [name, true as const]));

function evaluate(expression: string, spent = 0): unknown {
  const evaluation = new Evaluation(scope);
  evaluation.spend(spent);
  return compileExpression(expression, variables)(evaluation, false);
}

const pairs = (body: string) => `s.all(i, s.all(j, ${body}))`;
/** Leaves 20 steps for each of the pairs. */
const nearlyAll = 20_000_000 - 20 * 300 * 300;
const limit = "it exceeds the limit of 20,000,000 steps";

describe("limits of evaluation", () => {
  test.each([
    ["errors that || absorbs", pairs("(1 / 0 > 1) || true")],
    ["errors from far inside", pairs(`(${"-(".repeat(90)}1 / 0${")".repeat(90)} > 1) || true`)],
    [
      "a long body of a loop",
      pairs(
        list(80)
          .map(() => "i + j >= 0")
          .join(" && "),
      ),
    ],
  ])("an evaluation that costs too much is stopped: %s", (_, expression) => {
    expect(() => evaluate(expression, nearlyAll)).toThrow(limit);
  });

  test("nothing goes on after the limit, although errors are absorbed", () => {
    const expression = compileExpression("n.exists(i, n.exists(j, 1 / 0 > 1))", { n: true });
    const evaluation = new Evaluation({ n: list(50_000) });
    evaluation.spend(19_900_000);
    // Going on, it would take minutes.
    expect(() => expression(evaluation, false)).toThrow(limit);
  });

  test("all templates of one value share one limit", () => {
    const template = compileTemplate(
      list(20).map(() => "${{ l.all(i, l.all(j, i + j >= 0)) }}"),
      { variables, path: [], onFault: () => expect.unreachable() },
    );
    expect(() => template(scope)).toThrow(limit);
  });
});

test("a hostile pattern and a long text stay below the limit", () => {
  expect(evaluate("!(large + '!').matches('^(a+)+(a|aa)*(a*)*$')")).toBe(true);
});
