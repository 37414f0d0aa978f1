import { type LeaveOut, type ResultMethod, repairResult } from "../../runtime/mcp-shapes.ts";
import type { CallToolResult } from "../../runtime/tool-result.ts";
import type { PromptResult, ResourceResult, Suggestions } from "./connected-server.ts";
import type { JsonObject } from "./incoming-message.ts";

/** The keys of results that are passed on. */
const keysOf = {
  "tools/call": ["content", "structuredContent", "isError", "_meta"],
  "prompts/get": ["description", "messages", "_meta"],
  "resources/read": ["contents", "_meta"],
  "completion/complete": ["completion"],
} as const;

/** The result of each method. */
export interface Results {
  "tools/call": CallToolResult;
  "prompts/get": PromptResult;
  "resources/read": ResourceResult;
  "completion/complete": { completion: Suggestions };
}

/** A result with the keys that are passed on, valid for every client, or why it cannot be used. May change the value. */
export function readResult<Method extends ResultMethod>(
  method: Method,
  value: object,
  leaveOut?: LeaveOut,
): Results[Method] | { fault: string } {
  const keys: readonly string[] = keysOf[method];
  const result: JsonObject = Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key)));
  const fault = repairResult(method, result, leaveOut);
  return fault === undefined ? (result as unknown as Results[Method]) : { fault: `it ${fault}` };
}
