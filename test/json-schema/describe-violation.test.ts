import { expect, test } from "vitest";
import { writePointer } from "../../src/extension-schema/pointer.ts";
import { describeError, listChoices } from "../../src/json-schema/describe-violation.ts";

const violation = (path: (string | number)[]) =>
  describeError({
    instancePath: writePointer(path),
    message: "is bad",
    keyword: "type",
    schemaPath: "",
    params: {},
  });

test.each([
  [[], "is bad"],
  [["summary"], "/summary is bad"],
  [["items", 0, "a/b"], "/items/0/a~1b is bad"],
  [["a\u001b"], "/a\\u{001b} is bad"],
  [["x".repeat(199)], `/${"x".repeat(199)} is bad`],
  [["x".repeat(200)], `/${"x".repeat(199)}… is bad`],
  [["x".repeat(150), "y".repeat(150)], `/${"x".repeat(150)}/${"y".repeat(48)}… is bad`],
  [["\u001b".repeat(300)], `/${"\\u{001b}".repeat(199)}… is bad`],
])("a violation at the path %j is described with its pointer", (path, words) => {
  expect(violation(path)).toBe(words);
});

test.each([
  [["a"], '"a"'],
  [["a", 1, null], '"a", 1 or null'],
  [[{ a: [1] }], '{"a":[1]}'],
  [["a\u001b"], '"a\\u{001b}"'],
  [["x".repeat(50)], `"${"x".repeat(40)}…"`],
  [[{ a: "x".repeat(300) }], `{"a":"${"x".repeat(194)}…`],
  [[{ a: "x".repeat(192) }], `{"a":"${"x".repeat(192)}"}`],
  [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "1, 2, 3, 4, 5, 6, 7, 8, 9 or 10"],
  [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …"],
])("the allowed values %j are listed as %s", (values, list) => {
  expect(listChoices(values)).toBe(list);
});
