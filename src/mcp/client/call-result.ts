import { carryIntegers } from "../../data/exact-integers.ts";
import { isRecord } from "../../data/parse-json.ts";
import { createProblem, type Problem, type ProblemPlace } from "../../problems/index.ts";
import { type LeaveOut, type ResultMethod, repairResult } from "../../runtime/mcp-shapes.ts";
import type { CallToolResult } from "../../runtime/tool-result.ts";
import type { PromptResult, ResourceResult, ResultFault, Suggestions } from "./connected-server.ts";
import { type JsonObject, own } from "./json-rpc.ts";
import type { ListFault } from "./server-lists.ts";

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

/** A result with the keys that are passed on, valid for each client, or why it cannot be used. May change the value. */
export function readResult<Method extends ResultMethod>(
  method: Method,
  value: object,
  leaveOut?: LeaveOut,
): Results[Method] | { fault: string } {
  const keys: readonly string[] = keysOf[method];
  const result: JsonObject = Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key)));
  carryIntegers(value, result);
  const fault = repairResult(method, result, leaveOut);
  return fault === undefined ? (result as unknown as Results[Method]) : { fault: `it ${fault}` };
}

/** What tells of the parts of a request's result that are left out. */
export function noteLeftOut(
  method: string,
  { name, uri, ref }: Readonly<JsonObject>,
  onLeftOut: (fault: ResultFault) => void,
): LeaveOut {
  const completed = isRecord(ref) ? (own(ref, "name") ?? own(ref, "uri")) : undefined;
  const about = String(name ?? uri ?? completed);
  return (path, reason) => {
    const key = path.replaceAll(/\[\d+\]/g, "[]");
    onLeftOut({ method, name: about, key, reason: `it ${reason}` });
  };
}

/** The problem of a part of a server's lists, or of a result, that is left out. */
export const describeLeftOut = (
  label: string,
  fault: ListFault | ResultFault,
  place: ProblemPlace,
): Problem =>
  "method" in fault
    ? createProblem("ServerResultIncomplete", { label, ...fault }, place)
    : createProblem("ServerListIncomplete", { label, ...fault }, place);
