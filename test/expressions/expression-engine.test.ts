import { expect, test } from "vitest";
import { describePosition, ExpressionError } from "../../src/expressions/expression-engine.ts";

test.each([
  ["a + b", 4, " (character 5)"],
  ["a + b", 0, " (character 1)"],
  ["a\n+ b", 0, " (line 1, character 1)"],
  ["a\n+ b", 4, " (line 2, character 3)"],
  ["a\n\n", 3, " (line 3, character 1)"],
  ["a + b", undefined, ""],
])("in %j, the offset %j is described as %j", (expression, offset, words) => {
  expect(describePosition(expression, offset)).toBe(words);
});

test("an error of an expression has the parts of its message", () => {
  const error = new ExpressionError("a.b", { reason: "no such key: b", offset: 2 });
  expect(error).toMatchObject({
    name: "ExpressionError",
    message: "no such key: b (character 3)",
    reason: "no such key: b",
    expression: "a.b",
    offset: 2,
  });
});
