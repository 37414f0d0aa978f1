import { isRecord } from "../data/parse-json.ts";
import type { SchemaCheck, SchemaValidator } from "../json-schema/schema-validator.ts";
import { quote } from "../problems/text.ts";
import type { InputRequired } from "./handler-context.ts";
import { type LeaveOut, repairResult } from "./mcp-shapes.ts";
import type { Returned } from "./returned-value.mjs";
import type { Outcome } from "./tool-code.ts";
import type { CallToolResult } from "./tool-result.ts";

export const createErrorResult = (message: string): CallToolResult => ({
  content: [{ type: "text", text: message }],
  isError: true,
});

const createTextResult = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

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

/** The result for what a handler returned, in this process or in another. */
export function convertReturned(returned: Returned, leaveOut?: LeaveOut): CallToolResult {
  switch (returned.kind) {
    case "nothing":
      return { content: [] };
    case "text":
      return createTextResult(returned.text);
    case "json":
      return fromJson(returned.json, leaveOut);
    case "refused":
      return createErrorResult(returned.message);
    case "input":
      return createErrorResult("The handler asks for input where it cannot.");
  }
}

/** Why a tool does not run. */
export function describeRefusal(
  name: string,
  { message, schemaFault }: Extract<SchemaCheck, { ok: false }>,
): string {
  if (schemaFault !== undefined) return `The tool's inputSchema cannot be used: ${schemaFault}`;
  return `Invalid arguments for ${quote(name)}: ${message}`;
}

/** Returns the result, or one with `isError` if its `structuredContent` is missing or does not match the schema. */
export function checkStructuredContent(
  result: CallToolResult,
  outputSchema: Readonly<Record<string, unknown>> | undefined,
  validator: SchemaValidator,
): CallToolResult {
  const { structuredContent, isError } = result;
  if (isError === true || outputSchema === undefined || Object.keys(outputSchema).length === 0) return result;
  if (structuredContent === undefined) {
    return createErrorResult("The tool has an outputSchema, but its result has no structuredContent.");
  }
  const checked = validator.check(outputSchema, structuredContent);
  if (checked.ok) return result;
  return createErrorResult(
    checked.schemaFault === undefined
      ? `The tool's structuredContent does not match its outputSchema: ${checked.message}`
      : `The tool's outputSchema cannot be used: ${checked.schemaFault}`,
  );
}

/**
 * How a call ends: with a result, or with what to ask before the handler runs again. `fault`: why the handler's questions
 * cannot be asked, for the operator.
 */
export type ToolOutcome = { result: CallToolResult; fault?: string } | { inputRequired: InputRequired };

/** The result or the questions of an outcome. Of what was thrown, also by `convert`, it has only the message. */
export async function convertOutcome(
  outcome: Outcome,
  convert: (returned: Returned) => CallToolResult = convertReturned,
): Promise<ToolOutcome> {
  if ("thrown" in outcome) return { result: createErrorResult(outcome.thrown.message) };
  const { returned } = outcome;
  try {
    if (returned.kind !== "input") return { result: convert(returned) };
    const { readInputRequired } = await import("./input-rounds.ts");
    return await readInputRequired(returned.json);
  } catch (error) {
    const { message, name } = error as Error;
    return { result: createErrorResult(message), ...(name === "InvalidQuestionError" && { fault: message }) };
  }
}
