import { isNeededInput, type NeededInput } from "./input.ts";
import type { ContentBlock } from "./mcp.ts";
import type { CallToolResult, TrailblazeVariant } from "./results.ts";

// Converts what a handler returned by the same rules as the host, so that a tool answers the same wherever it runs.
// test/scripting/convert-result.test.ts compares the two.

const failed = (text: string): CallToolResult => ({ content: [{ type: "text", text }], isError: true });

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Kinds of objects that JSON would write as `{}` or as nonsense, by their tag in JavaScript. */
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

/** `JSON.stringify` calls a Buffer's own `toJSON` before the replacer sees it. */
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
  return thrown instanceof RangeError ? "is too large or nested too deeply" : "throws when it is read";
}

/** The strings that a block of a known type must have. */
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

/** A block of a type that no client knows becomes a text that names it. */
function replaceUnknown(block: { type: string }): object {
  if (block.type === "resource" || neededTexts.has(block.type)) return block;
  const reason = "it has a type that clients do not know";
  return {
    type: "text",
    text: `[Content of the type ${JSON.stringify(block.type)} is left out: ${reason}.]`,
  };
}

function findFault({ _meta, isError }: Record<string, unknown>, blocks: ContentBlock[]) {
  for (const [index, block] of blocks.entries()) {
    const key = findBlockFault(block);
    if (key !== undefined) return `/content/${index}/${key} must be string`;
  }
  if (_meta !== undefined && !isObject(_meta)) return "/_meta must be object";
  return isError === undefined || typeof isError === "boolean" ? undefined : "/isError must be boolean";
}

/** What a session reports for a call that asks and cannot be answered. */
function convertQuestions({ requests: inputRequests, state }: NeededInput): CallToolResult {
  const trailblaze = {
    variant: "InputRequired" satisfies TrailblazeVariant as never,
    inputRequests,
    ...(state === undefined ? {} : { state }),
  };
  return { ...failed("The tool needs input."), _meta: { trailblaze } };
}

/**
 * Converts what a handler returned (not a promise) to a result. Never throws, and shares nothing with the value. A value
 * that JSON cannot represent yields a result with `isError`.
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
    return failed(`The handler returned a value that JSON cannot represent: it ${refusal}.`);
  const text: CallToolResult = { content: [{ type: "text", text: json }] };
  if (!json.startsWith("{")) return text;
  if (isNeededInput(returned)) return convertQuestions(JSON.parse(json) as NeededInput);
  const value = JSON.parse(json) as Record<string, unknown>;
  const { content } = value;
  if (!Array.isArray(content) || !content.every(isBlock)) return { ...text, structuredContent: value };
  const fault = findFault(value, content as ContentBlock[]);
  if (fault === undefined) return { ...value, content: content.map(replaceUnknown) } as CallToolResult;
  return failed(`The handler returned an invalid MCP result: ${fault}.`);
}

/** A string property of a thrown value; empty if it has none, or reading it throws. */
function readText(thrown: unknown, key: "message" | "name"): string {
  try {
    const value = (thrown as Partial<Record<string, unknown>>)[key];
    return typeof value === "string" ? value : "";
  } catch {
    return "";
  }
}

/** Converts what a handler threw to a result with the message, without a stack. Never throws. */
export function convertThrown(thrown: unknown): CallToolResult {
  if (typeof thrown === "string") return failed(thrown);
  const message = isObject(thrown) ? readText(thrown, "message") || readText(thrown, "name") : "";
  if (message !== "") return failed(message);
  return failed(
    isObject(thrown)
      ? "The handler failed."
      : `The handler threw ${thrown === null ? "null" : `a value of type ${typeof thrown}`}.`,
  );
}
