import { describe, expect, test } from "vitest";
import * as validator from "../../src/json-schema/schema-validator.ts";
import { checkStructuredContent, convertReturned } from "../../src/runtime/convert-result.ts";
import { describeReturned } from "../../src/runtime/returned-value.mjs";
import { firstText } from "../support/first-text.ts";

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
  ])("%s is an error result", (_what, value, words) => {
    const { isError, content } = toCallToolResult(value);
    expect(isError).toBe(true);
    expect(content).toHaveLength(1);
    expect(firstText({ content })).toBe(
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

  test("structured content that matches the outputSchema is passed on", async () => {
    const result = toCallToolResult({ m: 1 });
    expect(await checkStructuredContent(result, schema, validator)).toBe(result);
    expect(result.structuredContent).toEqual({ m: 1 });
  });

  test("structured content that violates the outputSchema is an error that names the path", async () => {
    expect(await checkStructuredContent(toCallToolResult({ n: "x" }), schema, validator)).toEqual({
      ...text(
        "The tool's structuredContent does not match its outputSchema: /m is required; /n must be number",
      ),
      isError: true,
    });
  });

  test("structured content is required if the outputSchema requires anything", async () => {
    const result = toCallToolResult("text");
    expect((await checkStructuredContent(result, schema, validator)).isError).toBe(true);
    expect(await checkStructuredContent(result, {}, validator)).toBe(result);
    expect(await checkStructuredContent(result, undefined, validator)).toBe(result);
  });

  test("an unusable outputSchema is an error", async () => {
    const result = await checkStructuredContent(toCallToolResult({ m: 1 }), { type: "objekt" }, validator);
    expect(result.isError).toBe(true);
    expect(firstText(result)).toContain("The tool's outputSchema cannot be used: /type must be one of");
  });
});
