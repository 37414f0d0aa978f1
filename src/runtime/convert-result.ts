import { isRecord } from "../data/parse-json.ts";
import { textsOfBlock } from "../extension-schema/content-blocks.ts";
import { describeStop } from "../json-schema/check-budget.ts";
import type { SchemaValidator } from "../json-schema/schema-validator.ts";
import { describeReturned, type Returned } from "./returned-value.mjs";
import type { Outcome } from "./tool-code.ts";
import type { CallToolResult, ContentBlock } from "./tool-result.ts";

export const createErrorResult = (message: string): CallToolResult => ({
  content: [{ type: "text", text: message }],
  isError: true,
});

const createTextResult = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

const isBlock = (value: unknown): value is ContentBlock => isRecord(value) && typeof value.type === "string";

function findBlockFault(block: ContentBlock): string | undefined {
  if (block.type === "resource") {
    const { resource } = block;
    return isRecord(resource) && typeof resource.uri === "string" ? undefined : "resource.uri";
  }
  return textsOfBlock.get(block.type)?.find((key) => typeof block[key] !== "string");
}

/** What keeps an object with typed blocks from being a result of MCP. */
function findResultFault(
  result: Record<string, unknown>,
  blocks: readonly ContentBlock[],
): string | undefined {
  for (const [index, block] of blocks.entries()) {
    const key = findBlockFault(block);
    if (key !== undefined) return `/content/${index}/${key.replace(".", "/")} must be string`;
  }
  for (const key of ["structuredContent", "_meta"]) {
    if (result[key] !== undefined && !isRecord(result[key])) return `/${key} must be object`;
  }
  const { isError } = result;
  return isError === undefined || typeof isError === "boolean" ? undefined : "/isError must be boolean";
}

/** What keeps a value from being a result of MCP, as the end of a sentence; `undefined` where nothing does. */
export function findFaultOfResult(value: unknown): string | undefined {
  if (!isRecord(value)) return "it must be an object";
  const { content } = value;
  if (!Array.isArray(content) || !content.every(isBlock))
    return "/content must be a list of blocks with a type";
  return findResultFault(value, content);
}

function fromJson(json: string): CallToolResult {
  // Only an object can be more than its text.
  if (!json.startsWith("{")) return createTextResult(json);
  const value = JSON.parse(json) as Record<string, unknown>;
  const { content } = value;
  if (!Array.isArray(content) || !content.every(isBlock)) {
    return { ...createTextResult(json), structuredContent: value };
  }
  const fault = findResultFault(value, content);
  return fault === undefined
    ? (value as unknown as CallToolResult)
    : createErrorResult(`The handler returned a result that MCP does not allow: ${fault}.`);
}

/** The result of what a handler returned, in this process or in another. */
export function convertReturned(returned: Returned): CallToolResult {
  switch (returned.kind) {
    case "nothing":
      return { content: [] };
    case "text":
      return createTextResult(returned.text);
    case "json":
      return fromJson(returned.json);
    case "refused":
      return createErrorResult(returned.message);
  }
}

/**
 * What a handler returned (no promise) as a result of MCP. Never throws, and shares nothing with the value: it is read
 * once, through `JSON.stringify`. What JSON cannot hold, or would write as `{}`, is a result with `isError`. No size is
 * too large but what V8 cannot hold in one string.
 */
export function toCallToolResult(value: unknown): CallToolResult {
  return convertReturned(describeReturned(value));
}

/**
 * The result itself, or one with `isError` where its `structuredContent` breaks the schema or is missing. A result that
 * is an error already has nothing to keep.
 */
export function checkStructuredContent(
  result: CallToolResult,
  outputSchema: Readonly<Record<string, unknown>> | undefined,
  validator: SchemaValidator,
  isOverdue?: () => boolean,
): CallToolResult {
  if (outputSchema === undefined || result.isError === true) return result;
  if (Object.keys(outputSchema).length === 0) return result;
  if (result.structuredContent === undefined) {
    return createErrorResult("The tool has an outputSchema, but its result has no structuredContent.");
  }
  const checked = validator.check(outputSchema, result.structuredContent, isOverdue);
  if (checked.ok) return result;
  if (checked.stopped !== undefined)
    return createErrorResult(describeStop("the tool's structuredContent", checked.stopped));
  return createErrorResult(
    checked.schemaFault === undefined
      ? `The tool's structuredContent breaks its outputSchema: ${checked.message}`
      : `The tool's outputSchema cannot be used: ${checked.schemaFault}`,
  );
}

/** The result of an outcome: of what was thrown the message, and nothing else. Never throws. */
export function convertOutcome(outcome: Outcome): CallToolResult {
  if ("thrown" in outcome) return createErrorResult(outcome.thrown.message);
  try {
    return convertReturned(outcome.returned);
  } catch {
    // Only a child whose code wants to can send that.
    return createErrorResult("The handler returned something that is no JSON.");
  }
}
