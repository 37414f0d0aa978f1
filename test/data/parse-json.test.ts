import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createJsonLocator, describeSyntaxError } from "../../src/data/json-positions.ts";
import { DataSyntaxError, maximumDepth, parseJson } from "../../src/data/parse-json.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const nestedLists = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

/** The error that reading a text gives. */
function syntaxErrorOf(source: Uint8Array | string): DataSyntaxError {
  try {
    parseJson(source);
  } catch (error) {
    if (error instanceof DataSyntaxError) return error;
    throw error;
  }
  throw new Error("it was read");
}

describe("parsing JSON", () => {
  test.each([
    ["bytes", Uint8Array.from([0xef, 0xbb, 0xbf, ...bytes('{"a":1}')])],
    ["decoded text", '\uFEFF{"a":1}'],
  ])("one byte order mark before %s is accepted", (_, source) => {
    expect(parseJson(source)).toEqual({ text: '{"a":1}', value: { a: 1 } });
  });

  test("200 levels of arrays and of objects are accepted, and 201 are rejected", () => {
    expect(maximumDepth).toBe(200);
    expect(parseJson(nestedLists(200)).value).toBeInstanceOf(Array);
    expect(() => parseJson(nestedLists(201))).toThrow(DataSyntaxError);
    const objects = (depth: number) => '{"a":'.repeat(depth) + "1" + "}".repeat(depth);
    expect(parseJson(objects(200)).value).toBeInstanceOf(Object);
    expect(() => parseJson(objects(201))).toThrow(DataSyntaxError);
  });

  test("levels below a string that ends in a backslash are counted", () => {
    expect(() => parseJson(`["\\\\", ${nestedLists(200)}]`)).toThrow(/deeper than 200/);
  });

  test("UTF-16 with its mark is rejected because it is not UTF-8", () => {
    const error = syntaxErrorOf(Uint8Array.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]));
    expect(describeSyntaxError(error)).toEqual({ reason: "it is not UTF-8", line: 1, column: 1 });
  });

  test.each([
    ['{"a": 1', 1, 8, "close brace expected"],
    ['{\n  "a": 1,\n}', 2, 9, "trailing comma"],
    ['{\n  // why\n  "a": 1\n}', 2, 3, "invalid comment token"],
    ['{"a": 1} x', 1, 10, "invalid symbol"],
    ['["é\u{1F600}", x]', 1, 9, "invalid symbol"],
    ["", 1, 1, undefined],
  ])("the syntax error of %j is reported at its place", (text, line, column, detail?) => {
    const error = syntaxErrorOf(bytes(text));
    const reason = detail === undefined ? "it is empty" : `it is not valid JSON (${detail})`;
    expect(describeSyntaxError(error)).toEqual({ reason, line, column });
  });

  test("the parser accepts exactly what JSON.parse accepts, and reports every error at a place inside the string", () => {
    const mutated = fc
      .tuple(fc.json({ maxDepth: 4 }), fc.nat(), fc.nat(3), fc.string({ maxLength: 2 }))
      .map(([json, at, removed, added]) => {
        const start = at % (json.length + 1);
        return json.slice(0, start) + added + json.slice(start + removed);
      });
    fc.assert(
      fc.property(mutated, (text) => {
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          const { line = 0, column = 0 } = describeSyntaxError(syntaxErrorOf(text));
          const lines = text.split(/\r\n|\r|\n/);
          expect(line).toBeGreaterThanOrEqual(1);
          expect(line).toBeLessThanOrEqual(lines.length);
          expect(column).toBeGreaterThanOrEqual(1);
          expect(column).toBeLessThanOrEqual((lines[line - 1] ?? "").length + 1);
          return;
        }
        expect(parseJson(text).value).toEqual(expected);
      }),
    );
  });
});

describe("finding a path in JSON", () => {
  const text = `{
  "name": "@acme/jira",
  "trailblaze": {
    "tools": [
      "createIssue",
      ["getIssue", "Get an issue"],
      { "name": "é", "description": 5 }
    ], "x-own": 1
  }
}`;
  const locate = createJsonLocator(text);

  test.each([
    [[], 1, 1],
    [["trailblaze", "tools", 0], 5, 7],
    [["trailblaze", "tools", 1, 1], 6, 20],
    [["trailblaze", "tools", 2, "description"], 7, 22],
  ])("the path %j is found at %i:%i", (path, line, column) => {
    expect(locate(path)).toEqual({ line, column });
  });

  test.each([
    [["trailblaze", "tools", 9, "name"], 4, 5],
    [["nothing", "of", "this"], 1, 1],
  ])("the missing path %j is placed at its nearest ancestor, %i:%i", (path, line, column) => {
    expect(locate(path)).toEqual({ line, column });
  });

  test("the path of a duplicate key leads to the key whose value counts", () => {
    const twice = '{\n"tools": ["good"],\n"tools": ["../bad"]\n}';
    expect(parseJson(twice).value).toEqual({ tools: ["../bad"] });
    expect(createJsonLocator(twice)(["tools", 0])).toEqual({ line: 3, column: 11 });
  });
});
