import { isRecord } from "../../data/parse-json.ts";
import type { CallToolResult, ContentBlock } from "../../runtime/tool-result.ts";
import type { Era } from "./handshake.ts";
import { type JsonObject, own } from "./incoming-message.ts";

const isBlock = (value: unknown): value is ContentBlock =>
  isRecord(value) && typeof own(value, "type") === "string";

/**
 * The four keys of a `tools/call` result, or why it is invalid. `content` may be missing, as in the SDK. Modern servers
 * may send any JSON as `structuredContent`.
 */
export function readCallResult(result: JsonObject, era: Era): CallToolResult | { fault: string } {
  const content = own(result, "content") ?? [];
  const structuredContent = own(result, "structuredContent");
  const isError = own(result, "isError");
  const _meta = own(result, "_meta");
  if (!Array.isArray(content) || !content.every(isBlock))
    return { fault: "`content` must be an array of objects with a string `type`" };
  if (era === "legacy" && structuredContent !== undefined && !isRecord(structuredContent)) {
    return { fault: "`structuredContent` must be an object" };
  }
  if (isError !== undefined && typeof isError !== "boolean") return { fault: "`isError` must be a boolean" };
  if (_meta !== undefined && !isRecord(_meta)) return { fault: "`_meta` must be an object" };
  return {
    content,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(isError === undefined ? {} : { isError }),
    ...(_meta === undefined ? {} : { _meta }),
  };
}
