import { describeReturned, describeThrown } from "../../../src/runtime/returned-value.mjs";
import { isObject } from "./context-from.ts";
import type { NeededInput } from "./input.ts";
import type { ContentBlock } from "./mcp.ts";
import { error } from "./result.ts";
import type { CallToolResult, TrailblazeVariant } from "./results.ts";

// Converts what a handler returned by the same rules as the host, so that a tool answers the same wherever it runs.
// test/scripting/convert-result.test.ts compares the two.

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
  return { ...error("The tool needs input."), _meta: { trailblaze } };
}

/**
 * Converts what a handler returned (not a promise) to a result. Never throws, and shares nothing with the value. A value
 * that JSON cannot represent yields a result with `isError`.
 */
export function convertResult(returned: unknown): CallToolResult {
  const described = describeReturned(returned);
  switch (described.kind) {
    case "nothing":
      return { content: [] };
    case "text":
      return { content: [{ type: "text", text: described.text }] };
    case "refused":
      return error(described.message);
    case "input":
      return convertQuestions(JSON.parse(described.json) as NeededInput);
  }
  const { json } = described;
  const text: CallToolResult = { content: [{ type: "text", text: json }] };
  if (!json.startsWith("{")) return text;
  const value = JSON.parse(json) as Record<string, unknown>;
  const { content } = value;
  if (!Array.isArray(content) || !content.every(isBlock)) return { ...text, structuredContent: value };
  const fault = findFault(value, content as ContentBlock[]);
  if (fault === undefined) return { ...value, content: content.map(replaceUnknown) } as CallToolResult;
  return error(`The handler returned an invalid MCP result: ${fault}.`);
}

/** Converts what a handler threw to a result with the message, without a stack. Never throws. */
export const convertThrown = (thrown: unknown): CallToolResult => error(describeThrown(thrown).message);
