import { describe, expect, test } from "vitest";
import * as validator from "../../src/json-schema/schema-validator.ts";
import { checkStructuredContent, convertReturned } from "../../src/runtime/convert-result.ts";
import { describeReturned } from "../../src/runtime/handler-code.mjs";

const toCallToolResult = (value: unknown) => convertReturned(describeReturned(value));

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

const block = { type: "text", text: "hello", annotations: { audience: ["user"] } };
const whole = { content: [block], structuredContent: { a: 1 }, isError: false, _meta: { k: 1 }, more: 2 };

test.each([
  ["a result of MCP as it is", whole, whole],
  ["a result without blocks", { content: [] }, { content: [] }],
  [
    "blocks of types to come",
    { content: [{ type: "video", x: 1 }] },
    text('[Content of the type "video" is left out: it has a type that clients do not know.]'),
  ],
  ["a string as text", "hello", text("hello")],
  ["an object as text and data", { a: [1] }, { ...text('{"a":[1]}'), structuredContent: { a: [1] } }],
  ["nothing", undefined, { content: [] }],
  ["a Date", new Date(0), text('"1970-01-01T00:00:00.000Z"')],
])("the result of %s is converted", (_what, value, result) => {
  expect(toCallToolResult(value)).toEqual(result);
});

describe("values that JSON cannot hold", () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  let deep: unknown = 1;
  for (let level = 0; level < 200_000; level++) deep = [deep];
  const throwing = {
    get secret(): string {
      throw new Error("boom");
    },
  };

  test.each([
    ["a BigInt inside", { a: [1n] }, "cannot be written: Do not know how to serialize a BigInt"],
    ["a cycle", cycle, "cannot be written: Converting circular structure to JSON"],
    ["a function", () => 1, "is a function"],
    ["an Error", new Error("x"), "is an Error"],
    ["bytes", new Uint8Array(2), "is binary data"],
    ["depth", deep, "cannot be written: Maximum call stack size exceeded"],
    ["a getter that throws", throwing, "cannot be written: boom"],
  ])("%s is an error", (_what, value, words) => {
    expect(() => toCallToolResult(value)).toThrow(
      `The handler returned a value that JSON cannot represent: it ${words}.`,
    );
  });

  test("what MCP does not allow is left out of a result, or becomes a text", () => {
    const left: string[] = [];
    const value = { content: [{ type: "text" }], _meta: 1, isError: 0 };
    const result = convertReturned(describeReturned(value), (path) => left.push(path));
    expect(result).toEqual(text('[Content of the type "text" is left out: it has no `text`.]'));
    expect(left).toEqual(["content[0]", "isError", "_meta"]);
    expect(toCallToolResult({ content: [], isError: "true" })).toEqual({ content: [], isError: true });
  });
});

describe("structured content", () => {
  const schema = { type: "object", properties: { n: { type: "number", default: 1 } }, required: ["m"] };

  test("structured content that matches the outputSchema is passed on", () => {
    const result = toCallToolResult({ m: 1 });
    expect(checkStructuredContent(result, schema, validator)).toBe(result);
    expect(result.structuredContent).toEqual({ m: 1 });
  });

  test("structured content that violates the outputSchema is an error that names the path", () => {
    expect(() => checkStructuredContent(toCallToolResult({ n: "x" }), schema, validator)).toThrow(
      "The tool's structuredContent does not match its outputSchema: /m is required; /n must be number",
    );
  });

  test("structured content is required if the outputSchema requires anything", () => {
    const result = toCallToolResult("text");
    expect(() => checkStructuredContent(result, schema, validator)).toThrow("no structuredContent");
    expect(checkStructuredContent(result, {}, validator)).toBe(result);
    expect(checkStructuredContent(result, undefined, validator)).toBe(result);
  });

  test("an unusable outputSchema is an error", () => {
    expect(() => checkStructuredContent(toCallToolResult({ m: 1 }), { type: "objekt" }, validator)).toThrow(
      "The tool's outputSchema cannot be used: /type must be one of",
    );
  });
});
