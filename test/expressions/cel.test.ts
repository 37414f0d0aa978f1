import { describe, expect, test } from "vitest";
import { absent, beginEvaluation, compileExpression, type Variables } from "../../src/expressions/cel.ts";
import { quote } from "../../src/problems/index.ts";

const variables: Variables = { a: true, request: { name: true, session: { id: true } } };

// As parsed, so that `__proto__` is an own key.
const scope = {
  a: JSON.parse(`{
    "n": 7, "half": 0.5, "zero": 0, "text": "héllo", "yes": true, "nil": null, "list": [1, 2, 3], "none": [],
    "own": { "constructor": "c", "__proto__": { "polluted": true }, "toString": 1, "k": null },
    "years": { "2026": 1, "2027": 3 }, "people": [{ "name": "Ann", "age": 41 }, { "name": "Bob" }]
  }`),
  request: { name: "tool", session: { id: "s1" } },
};

const compile = (expression: string, mayBeAbsent = false) =>
  compileExpression(expression, variables, mayBeAbsent);
function evaluate(expression: string, mayBeAbsent = false, values: object = scope) {
  const compiled = compile(expression, mayBeAbsent);
  if (typeof compiled === "string") throw new Error(compiled);
  return compiled(beginEvaluation({ ...values }), false);
}

function errorOf(expression: string, mayBeAbsent = false) {
  try {
    return `no error, but ${JSON.stringify(evaluate(expression, mayBeAbsent))}`;
  } catch (error) {
    return (error as Error).message.replace(`${quote(expression, 200)}: `, "");
  }
}

test.each<[string, unknown]>([
  // Numbers: ints among themselves as CEL has them, beside a number of JSON as JSON has them.
  ["a.n / 2", 3.5],
  ["a.n % 2 == 1", true],
  ["a.n > 6 && a.n >= 7.0 && a.n < 8 && 6 < a.n && 6.5 <= a.n", true],
  ["1 == 1.0 && a.n == 7 && 7 == a.n && a.n != 8", true],
  ["a.list[0] + a.list[a.n - 6]", 3],
  ["int('12') + int(2.9) + int(a.n)", 21],
  ["timestamp(a.n) == timestamp(7) && int(timestamp(a.n)) == 7", true],
  ["string(timestamp(0)) + ' ' + string(duration('1m30s'))", "1970-01-01T00:00:00.000Z 90s"],
  // Texts.
  ["'aXbX'.replace('X', '$&')", "a$&b$&"],
  ["'hello'.substring(a.list[0], a.n - 3) + string('hello'.indexOf('l', a.list[0]))", "ell2"],
  // What has no value does not matter where the other side decides.
  ["[{'n': 1}, {}].all(e, e.n == 2)", false],
  // What may be absent.
  ["has(a.n) && !has(a.missing) && !has(a.own.valueOf)", true],
  ["a.?missing.deeper.orValue('other')", "other"],
  ["a[?'n'].hasValue() && !a.list[?9].hasValue()", true],
  ["a.years[2026] + a.years['2027'] + a.?years[2026].orValue(0)", 5],
  // Own keys, whatever they are called.
  ["a.own.__proto__.polluted", true],
  ["'constructor' in a || 'toString' in {} || '__proto__' in a", false],
  ["'constructor' in a.own && '__proto__' in a.own", true],
  // What JSON does not know.
  ["b'abc'", "YWJj"],
  ["timestamp('2026-01-31T12:00:00Z')", "2026-01-31T12:00:00.000Z"],
])("the expression %s has the expected value", (expression, value) => {
  expect(evaluate(expression)).toEqual(value);
});

describe("the mark for an absent last step", () => {
  test.each<[string, unknown]>([
    ["a.missing", absent],
    ["a.n", 7],
  ])("the last step of %s? may be absent", (expression, value) => {
    expect(evaluate(expression, true)).toBe(value);
  });

  test.each([
    ["a.missing.deeper", "missing does not exist (character 3)"],
    ["a.nil.deeper", "null has no keys (character 7)"],
  ])("a step before the last must exist: %s?", (expression, message) => {
    expect(errorOf(expression, true)).toBe(message);
  });

  test.each(["a", "a.n + 1", "a.yes ? a.n : a.zero", "'x'"])(
    "the mark is rejected after %s",
    (expression) => {
      expect(compile(expression, true)).toContain("? can follow only a key or an index");
    },
  );
});

test.each([
  ["a.missing", "missing does not exist (character 3)"],
  ["a.list[3]", "element 3 does not exist (character 1)"],
  ["a.missing || false", "missing does not exist (character 3)"],
  ["9223372036854775807", "9223372036854775807 is too large for a JSON number; use string(…)"],
  ["a.n / a.zero", "a JSON number cannot be Infinity"],
  ["optional.none()", "an optional value is absent; use orValue(…)"],
  ["'a'.matches(a.own.constructor + '(')", expect.stringContaining("not a valid regular expression")],
  ["[1,\n a.missing]", "missing does not exist (character 8)"],
])("the error of %s says what is wrong and where", (expression, message) => {
  expect(errorOf(expression)).toEqual(message);
});

test.each([
  ["", "it is empty"],
  ["a +", "unexpected token: EOF (character 4)"],
  ["b + 1", "unknown variable b: the known variables are a, request (character 1)"],
  ["request.nmae", "unknown key nmae: the known keys are name, session (character 9)"],
  ["nothing(1)", "found no matching overload for 'nothing(dyn)' (character 1)"],
  ["'x'.matches('(')", "the pattern is not a valid regular expression: unterminated group (character 13)"],
  ["'x'.matches('(a)\\\\1')", "the pattern has a backreference, which is not supported (character 13)"],
])("%j does not compile", (expression, message) => {
  expect(compile(expression)).toBe(message);
});

describe("limits of compiling and evaluating", () => {
  const bombs: [string, string][] = [
    ["nesting of brackets", `${"[".repeat(5000)}1${"]".repeat(5000)}`],
    ["a chain of additions", `1${"+1".repeat(4000)}`],
    ["a string of a million characters", "a".repeat(1_000_000)],
  ];
  test.each(bombs)("%s does not compile", (_, expression) => {
    expect(compile(expression)).toBeTypeOf("string");
  });

  test("loops nest two levels deep, but not three", () => {
    const nest = (levels: number) =>
      `${"a.list.filter(x, x > 2).map(x, ".repeat(levels)}1${")".repeat(levels)}`;
    expect(evaluate(nest(2))).toEqual([[1]]);
    expect(compile(nest(3))).toBe("loops nest more than 2 levels deep (character 63)");
    expect(compile("a.list.all(x, [x].all(y, y > 0 && [y].exists(z, z > 1)))")).toContain("(character 35)");
  });

  test("a value that nests too deep is an error", () => {
    const deep = JSON.parse(`${"[".repeat(50_000)}1${"]".repeat(50_000)}`);
    for (const expression of ["a", "[a]", "a == [a]"])
      expect(() => evaluate(expression, false, { a: deep })).toThrow(RangeError);
  });
});
