import { isRecord } from "../data/parse-json.ts";
import type { Rejection, SchemaValidator } from "../json-schema/schema-validator.ts";
import { quote } from "../problems/text.ts";
import type { Returned } from "./handler-code.mjs";
import type { RunContext } from "./handler-context.ts";
import { expectAnswer } from "./input-rounds.ts";
import { type LeaveOut, repairResult } from "./mcp-shapes.ts";
import type { CodePlace, CodeRunner } from "./tool-code.ts";
import type { CallToolResult } from "./tool-result.ts";

const createTextResult = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

export const createErrorResult = (message: string): CallToolResult => ({
  ...createTextResult(message),
  isError: true,
});

/** Why a value is not a valid MCP result, as a reason; `undefined` if it is one, or has become one without what is invalid. */
export function findFaultOfResult(value: unknown, leaveOut?: LeaveOut): string | undefined {
  if (!isRecord(value)) return "it must be an object";
  const { content } = value;
  const hasBlocks =
    Array.isArray(content) && content.every((block) => isRecord(block) && typeof block.type === "string");
  if (!hasBlocks) return "/content must be an array of blocks with a `type`";
  repairResult("tools/call", value, leaveOut);
  return undefined;
}

function fromJson(json: string, leaveOut?: LeaveOut): CallToolResult {
  // Only an object can be a result; other values become text.
  if (!json.startsWith("{")) return createTextResult(json);
  const value = JSON.parse(json) as Record<string, unknown>;
  return findFaultOfResult(value, leaveOut) === undefined
    ? (value as unknown as CallToolResult)
    : { ...createTextResult(json), structuredContent: value };
}

/** The result for what a handler returned, in this process or in another. Throws an error for the caller if there is none. */
export function convertReturned(returned: Returned, leaveOut?: LeaveOut): CallToolResult {
  switch (returned.kind) {
    case "nothing":
      return { content: [] };
    case "text":
      return createTextResult(returned.text);
    case "json":
      return fromJson(returned.json, leaveOut);
    case "refused":
      throw new Error(returned.message);
    case "input":
      throw new Error("The handler asks for input where it cannot.");
  }
}

export interface CodeUse {
  runner(): Promise<CodeRunner>;
  context: RunContext;
  leaveOut?: LeaveOut;
}

/** Runs code for a call. Rejects as the runner and `expectAnswer` do. */
export async function runHandler(
  { runner, context }: CodeUse,
  place: CodePlace,
  args: Parameters<CodeRunner["invoke"]>[1],
): Promise<Returned> {
  return expectAnswer(await (await runner()).invoke(place, args, context));
}

export function describeRefusal(name: string, { message, isOfSchema }: Rejection): string {
  if (isOfSchema) return `The tool's inputSchema cannot be used: ${message}`;
  return `Invalid arguments for ${quote(name)}: ${message}`;
}

/** Returns the result. Throws an error for the caller if the `structuredContent` of a success is missing or does not match the schema. */
export function checkStructuredContent(
  result: CallToolResult,
  outputSchema: Readonly<Record<string, unknown>> | undefined,
  validator: SchemaValidator,
): CallToolResult {
  const { structuredContent, isError } = result;
  if (isError === true || outputSchema === undefined || Object.keys(outputSchema).length === 0) return result;
  if (structuredContent === undefined)
    throw new Error("The tool has an outputSchema, but its result has no structuredContent.");
  const rejection = validator.check(outputSchema, structuredClone(structuredContent));
  if (rejection === undefined) return result;
  const what = rejection.isOfSchema
    ? "The tool's outputSchema cannot be used"
    : "The tool's structuredContent does not match its outputSchema";
  throw new Error(`${what}: ${rejection.message}`);
}
