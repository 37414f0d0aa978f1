import { describe, expect, test } from "vitest";
import { beginEvaluation, compileExpression, type Expression } from "../../src/expressions/cel.ts";
import { compileTemplate } from "../../src/expressions/templates.ts";

const list = (length: number) => Array.from({ length }, (_, index) => index);
const large = "a".repeat(1 << 18);
const scope = {
  l: list(1000),
  s: list(300),
  large,
};
const variables = Object.fromEntries(Object.keys(scope).map((name) => [name, true as const]));

function evaluate(expression: string, steps?: number, values: object = scope): unknown {
  const compiled = compileExpression(expression, { ...variables, n: true }) as Expression;
  return compiled(beginEvaluation({ ...values }, steps), false);
}

const pairs = (body: string) => `s.all(i, s.all(j, ${body}))`;
/** For each of the pairs. */
const fewSteps = 20 * 300 * 300;
const limit = "it exceeds the limit of 20,000,000 steps";

describe("limits of evaluation", () => {
  test.each([
    ["errors that || absorbs", pairs("(1 / 0 > 1) || true")],
    ["patterns that a loop makes", "l.all(i, !'x'.matches('(a|b){1,99}' + string(i)))"],
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
    expect(() => evaluate(expression, fewSteps)).toThrow(limit);
  });

  test("nothing goes on after the limit, although errors are absorbed", () => {
    const expression = "n.exists(i, n.exists(j, 1 / 0 > 1))";
    // Going on, it would take minutes.
    expect(() => evaluate(expression, 100_000, { n: list(50_000) })).toThrow(limit);
  });

  test("all templates of one value share one limit", () => {
    const template = compileTemplate(
      list(20).map(() => "${{ l.all(i, l.all(j, i + j >= 0)) }}"),
      { variables, path: [], onFault: () => expect.unreachable() },
    );
    expect(() => template(scope)).toThrow(limit);
  });
});

test("a pattern in a loop is compiled once", () => {
  expect(evaluate("l.all(i, 'ab'.matches('^(a|b){1,99}$'))", 30_000)).toBe(true);
});

test("a hostile pattern and a long text stay below the limit", () => {
  expect(evaluate("!(large + '!').matches('^(a+)+(a|aa)*(a*)*$')")).toBe(true);
});
