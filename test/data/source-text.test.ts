import { expect, test } from "vitest";
import { findLocator, hasDuplicateKeys, locateProblems, parseSource } from "../../src/data/source-text.ts";
import { createProblem } from "../../src/problems/index.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test.each([
  ["json", '{\n  "a": [1]\n}', { line: 2, column: 9 }],
  ["yaml", "# why\na: [1]\n", { line: 2, column: 5 }],
] as const)("values in %s are parsed with their positions", async (format, text, place) => {
  const { value, source } = await parseSource(format, bytes(text));
  expect(value).toEqual({ a: [1] });
  expect(source.text).toBe(text);
  expect((await findLocator(source))?.(["a", 0])).toEqual(place);
});

test("a repeated key in JSON is an error at its repetition", async () => {
  const text = '{"a": {"b": [{"c": 1, "c": 1}]}}';
  await expect(parseSource("json", bytes(text))).rejects.toMatchObject({
    name: "DataSyntaxError",
    reason: 'the key "c" is duplicated',
    offset: 22,
    text,
  });
});

test("problems get the positions of their values, with one locator for each text", async () => {
  const problem = createProblem("UnknownExtensionKey", { key: "a", known: ["b"], suggestion: "b" });
  const source = { text: '{\n  "a": [1],\n  "b": 2\n}', format: "json" } as const;
  const unknown = { text: "?" };
  const found = await locateProblems([
    { problem, source, at: ["b"] },
    { problem, source, at: ["a", 0] },
    { problem, source: unknown, at: ["a"] },
    { problem, source: undefined, at: ["a"] },
  ]);
  expect(found).toEqual([
    { ...problem, line: 3, column: 3 },
    { ...problem, line: 2, column: 9 },
    problem,
    problem,
  ]);
  expect(findLocator(source)).toBe(findLocator(source));
});

test.each([
  ['{"a":1,"a":2}', true],
  ['{"a" : 1 ,\r\n\t"a"\r\n\t : 2}', true],
  // The same name, written in two ways.
  ['{"a":1,"\\u0061":2}', true],
  ['{"a\\\\":1,"b":"\\\\"}', false],
  ['{"a":[1,"a"],"b":{"c":1,"a":2}}', false],
  ['{"__proto__":1,"__proto__":2}', true],
] as const)("whether the text %s repeats a key: %j", (text, isDuplicate) => {
  expect(hasDuplicateKeys(text, JSON.parse(text))).toBe(isDuplicate);
});
