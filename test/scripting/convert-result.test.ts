// What a handler returns means the same in a subprocess server of the package as in the host's own process.
import { expect, test } from "vitest";
import { convertResult } from "../../packages/scripting/src/convert-result.ts";
import { toCallToolResult } from "../../src/runtime/convert-result.ts";

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
  ["a BigInt inside", { a: [1n] }],
  ["a key __proto__", JSON.parse('{ "__proto__": { "a": 1 } }')],
])("the package for authors converts %s as the host does", (_, value) => {
  expect(convertResult(value)).toEqual(toCallToolResult(value));
});
