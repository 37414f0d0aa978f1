import type { ContentBlock } from "./mcp.ts";
import type { CallToolResult } from "./results.ts";

// What a handler returned as a result of MCP, by the same rules as in the host's own process, so that a tool answers
// the same wherever it runs. test/scripting/convert-result.test.ts holds the two against each other.

const failed = (text: string): CallToolResult => ({ content: [{ type: "text", text }], isError: true });

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Objects that JSON would write as `{}`, or as nonsense, by the tag that JavaScript gives them. */
const lost: ReadonlyMap<string, string> = new Map([
  ["Map", "a Map"],
  ["Set", "a Set"],
  ["Error", "an Error"],
  ["Promise", "a Promise"],
  ["RegExp", "a RegExp"],
  ["WeakMap", "a weak collection"],
  ["WeakSet", "a weak collection"],
  ["ArrayBuffer", "binary data"],
  ["SharedArrayBuffer", "binary data"],
]);

class Refusal extends Error {}

/** A Buffer says itself how it is written, as a list of numbers, before anybody sees it. */
function isWrittenBuffer(holder: unknown, key: string, value: object): boolean {
  const isLikeOne = Object.getOwnPropertyDescriptor(value, "type")?.value === "Buffer";
  return isLikeOne && ArrayBuffer.isView((holder as Record<string, unknown>)[key]);
}

function refuseWhatJsonLoses(this: unknown, key: string, value: unknown): unknown {
  if (typeof value === "bigint") throw new Refusal("a BigInt");
  if (typeof value !== "object" || value === null) return value;
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  const name = ArrayBuffer.isView(value) || isWrittenBuffer(this, key, value) ? "binary data" : lost.get(tag);
  if (name !== undefined) throw new Refusal(name);
  return value;
}

function describeRefusal(thrown: unknown): string {
  if (thrown instanceof Refusal) return `holds ${thrown.message}`;
  if (thrown instanceof Error && thrown.message.includes("circular structure")) return "contains itself";
  return thrown instanceof RangeError ? "is too large or nests too deep" : "throws when it is read";
}

/** Texts that a block of a known type cannot do without. */
const neededTexts: ReadonlyMap<string, readonly string[]> = new Map([
  ["text", ["text"]],
  ["image", ["data", "mimeType"]],
  ["audio", ["data", "mimeType"]],
  ["resource_link", ["uri", "name"]],
]);

const isBlock = (value: unknown): value is Record<string, unknown> & { type: string } =>
  isObject(value) && typeof value.type === "string";

function findBlockFault(block: Record<string, unknown> & { type: string }): string | undefined {
  if (block.type === "resource") {
    return isObject(block.resource) && typeof block.resource.uri === "string" ? undefined : "resource/uri";
  }
  return neededTexts.get(block.type)?.find((key) => typeof block[key] !== "string");
}

function findFault({ structuredContent, _meta, isError }: Record<string, unknown>, blocks: ContentBlock[]) {
  for (const [index, block] of blocks.entries()) {
    const key = findBlockFault(block);
    if (key !== undefined) return `/content/${index}/${key} must be string`;
  }
  for (const [key, value] of Object.entries({ structuredContent, _meta })) {
    if (value !== undefined && !isObject(value)) return `/${key} must be object`;
  }
  return isError === undefined || typeof isError === "boolean" ? undefined : "/isError must be boolean";
}

/**
 * What a handler returned (no promise), as a result. Never throws, and shares nothing with the value. What JSON cannot
 * hold is a result with `isError` that says so.
 */
export function convertResult(returned: unknown): CallToolResult {
  if (returned === undefined) return { content: [] };
  if (typeof returned === "string") return { content: [{ type: "text", text: returned }] };
  let json: string | undefined;
  let refusal = `is a ${typeof returned}`;
  try {
    json = JSON.stringify(returned, refuseWhatJsonLoses);
  } catch (thrown) {
    refusal = describeRefusal(thrown);
  }
  if (json === undefined)
    return failed(`The handler returned something that JSON cannot hold: it ${refusal}.`);
  const text: CallToolResult = { content: [{ type: "text", text: json }] };
  if (!json.startsWith("{")) return text;
  const value = JSON.parse(json) as Record<string, unknown>;
  const { content } = value;
  if (!Array.isArray(content) || !content.every(isBlock)) return { ...text, structuredContent: value };
  const fault = findFault(value, content as ContentBlock[]);
  if (fault === undefined) return value as CallToolResult;
  return failed(`The handler returned a result that MCP does not allow: ${fault}.`);
}

/** A text of something that was thrown; empty where there is none, or reading it throws. */
function readText(thrown: unknown, key: "message" | "name"): string {
  try {
    const value = (thrown as Partial<Record<string, unknown>>)[key];
    return typeof value === "string" ? value : "";
  } catch {
    return "";
  }
}

/** What a handler threw, as a result: the message, never a stack. Never throws. */
export function convertThrown(thrown: unknown): CallToolResult {
  if (typeof thrown === "string") return failed(thrown);
  const words = isObject(thrown) ? readText(thrown, "message") || readText(thrown, "name") : "";
  if (words !== "") return failed(words);
  return failed(
    isObject(thrown)
      ? "The handler failed."
      : `The handler threw ${thrown === null ? "null" : `a value of type ${typeof thrown}`}.`,
  );
}
