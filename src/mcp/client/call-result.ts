import { isRecord } from "../../data/parse-json.ts";
import {
  type CallToolResult,
  type ContentBlock,
  findBlockFault,
  isTypedObject,
} from "../../runtime/tool-result.ts";
import type { PromptResult, ResourceResult, Suggestions } from "./connected-server.ts";
import type { Era } from "./handshake.ts";
import { type JsonObject, own } from "./incoming-message.ts";

/** Blocks of other types than MCP's are passed on as they are. */
const isBlock = (value: unknown): value is ContentBlock =>
  isTypedObject(value) && findBlockFault(value) === undefined;

/**
 * The four keys of a `tools/call` result, or why it is invalid. `content` may be missing, as in the SDK. Modern servers
 * may send any JSON as `structuredContent`.
 */
export function readCallResult(result: JsonObject, era: Era): CallToolResult | { fault: string } {
  const content = own(result, "content") ?? [];
  const structuredContent = own(result, "structuredContent");
  const isError = own(result, "isError");
  const _meta = own(result, "_meta");
  if (!Array.isArray(content) || !content.every(isTypedObject))
    return { fault: "`content` must be an array of objects with a string `type`" };
  for (const [index, block] of content.entries()) {
    const key = findBlockFault(block);
    if (key !== undefined) return { fault: `\`content[${index}]\` must have a string \`${key}\`` };
  }
  if (era === "legacy" && structuredContent !== undefined && !isRecord(structuredContent)) {
    return { fault: "`structuredContent` must be an object" };
  }
  if (isError !== undefined && typeof isError !== "boolean") return { fault: "`isError` must be a boolean" };
  if (_meta !== undefined && !isRecord(_meta)) return { fault: "`_meta` must be an object" };
  return {
    content: content as ContentBlock[],
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(isError === undefined ? {} : { isError }),
    ...(_meta === undefined ? {} : { _meta }),
  };
}

/** The keys of a `prompts/get` result, or why it is invalid. */
export function readPromptResult(result: JsonObject): PromptResult | { fault: string } {
  const description = own(result, "description");
  const messages = own(result, "messages");
  const _meta = own(result, "_meta");
  const isMessage = (one: unknown) =>
    isRecord(one) &&
    ["user", "assistant"].includes(own(one, "role") as string) &&
    isBlock(own(one, "content"));
  if (!Array.isArray(messages) || !messages.every(isMessage))
    return { fault: "`messages` must be an array of objects with a `role` and a `content`" };
  return {
    ...(typeof description === "string" ? { description } : {}),
    messages,
    ...(isRecord(_meta) ? { _meta } : {}),
  };
}

/** The keys of a `resources/read` result, or why it is invalid. */
export function readResourceResult(result: JsonObject): ResourceResult | { fault: string } {
  const contents = own(result, "contents");
  const _meta = own(result, "_meta");
  const isContent = (one: unknown) =>
    isRecord(one) &&
    typeof own(one, "uri") === "string" &&
    (typeof own(one, "text") === "string" || typeof own(one, "blob") === "string");
  if (!Array.isArray(contents) || !contents.every(isContent))
    return { fault: "`contents` must be an array of objects with a `uri` and a `text` or `blob`" };
  return { contents, ...(isRecord(_meta) ? { _meta } : {}) };
}

/** The suggestions in a `completion/complete` result, or why it is invalid. */
export function readCompletionResult(result: JsonObject): Suggestions | { fault: string } {
  const completion = own(result, "completion");
  const values = isRecord(completion) ? own(completion, "values") : undefined;
  if (!isRecord(completion) || !Array.isArray(values) || !values.every((one) => typeof one === "string"))
    return { fault: "`completion.values` must be an array of strings" };
  const total = own(completion, "total");
  return {
    values,
    ...(typeof total === "number" ? { total } : {}),
    ...(own(completion, "hasMore") === true ? { hasMore: true } : {}),
  };
}
