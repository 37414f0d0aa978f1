// What a handler returns means the same in a subprocess server of the package as in the host's own process.
import { expect, test } from "vitest";
import { convertResult, convertThrown } from "../../packages/scripting/src/convert-result.ts";
import { toCallToolResult } from "../../src/runtime/convert-result.ts";
import { describeThrown } from "../../src/runtime/returned-value.mjs";

const circular: Record<string, unknown> = {};
circular.self = circular;
const deep = JSON.parse("[".repeat(50) + "]".repeat(50)) as unknown;
const text = { type: "text", text: "x" };

test.each<[string, unknown]>([
  ["nothing", undefined],
  ["a string", "hello"],
  ["an empty string", ""],
  ["null", null],
  ["a number", 1.5],
  ["NaN", Number.NaN],
  ["a boolean", false],
  ["an array", [new Date(0), undefined, 1]],
  ["an object", { a: 1, b: undefined, c: null }],
  ["an object with content that is none", { content: "text" }],
  ["an object with content that has no types", { content: [1] }],
  ["no blocks", { content: [] }],
  ["a result", { content: [text], structuredContent: { a: 1 }, isError: true, _meta: { x: 1 } }],
  ["a result with an odd block", { content: [{ type: "text" }] }],
  ["a result with half an image", { content: [{ type: "image", data: "AA==" }] }],
  ["a result with a resource", { content: [{ type: "resource", resource: { uri: "a:b", text: "x" } }] }],
  ["a result with no resource", { content: [{ type: "resource", resource: {} }] }],
  ["a result with a new type", { content: [{ type: "hologram" }] }],
  ["a result with odd structured content", { content: [], structuredContent: [1] }],
  ["a result with odd metadata", { content: [], _meta: 1 }],
  ["a result with an odd flag", { content: [], isError: "yes" }],
  ["a function", () => 1],
  ["a symbol", Symbol("x")],
  ["a BigInt", 1n],
  ["a BigInt inside", { a: [1n] }],
  ["a Map", new Map([["a", 1]])],
  ["a Set inside", { a: new Set() }],
  ["an Error", new TypeError("x")],
  ["a promise inside", [Promise.resolve(1)]],
  ["a RegExp", /x/],
  ["a WeakMap", new WeakMap()],
  ["bytes", new Uint8Array(2)],
  ["a buffer", new ArrayBuffer(2)],
  ["Node's own buffer", Buffer.from("x")],
  ["Node's own buffer inside", { a: [Buffer.from("x")] }],
  ["what looks like one", { type: "Buffer", data: [1] }],
  ["itself", circular],
  ["deep", deep],
  ["own JSON", { toJSON: () => ({ a: 1 }) }],
  [
    "throwing JSON",
    {
      toJSON: () => {
        throw new Error("x");
      },
    },
  ],
  ["a key __proto__", JSON.parse('{ "__proto__": { "a": 1 } }')],
])("the package for authors converts %s as the host does", (_, value) => {
  expect(convertResult(value)).toEqual(toCallToolResult(value));
});

test("binary data is rejected, including Node's Buffers, which would be serialized as numbers", () => {
  for (const value of [Buffer.from("x"), { a: [Buffer.from("x")] }, new Uint8Array(1)])
    expect(convertResult(value)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("it holds binary data") }],
    });
});

test.each<[string, unknown]>([
  ["an error", new Error("It broke.")],
  ["an error without words", new RangeError()],
  ["a string", "It broke."],
  ["nothing", undefined],
  ["null", null],
  ["an object", {}],
  ["an object with a message", { message: "It broke." }],
  [
    "an object that throws when it is read",
    {
      get message() {
        throw new Error("x");
      },
    },
  ],
])("the thrown value is converted as the host does: %s", (_, thrown) => {
  const { message } = describeThrown(thrown);
  expect(convertThrown(thrown)).toEqual({ content: [{ type: "text", text: message }], isError: true });
});
