import { DataSyntaxError } from "../data/decode.ts";
import { parseExactly } from "../data/exact-integers.ts";
import { describeType, isRecord, parseJson } from "../data/parse-json.ts";
import { own } from "../mcp/client/json-rpc.ts";
import { quote } from "../problems/text.ts";

/** The supported version of the format. */
const supportedVersion = 1;

export interface CallbackRequest {
  sessionId: string;
  invocationId: string;
  toolName: string;
  argumentsJson: string;
}

/** `malformed`: not a valid request. `unsupported`: valid, but for a newer host. */
export type ParsedRequest = { request: CallbackRequest } | { malformed: string } | { unsupported: string };

class MalformedRequest extends Error {}

function readString(source: Record<string, unknown>, key: string, name = key): string {
  const value = own(source, key);
  if (typeof value !== "string") {
    throw new MalformedRequest(`"${name}" must be a string, but it is ${describeType(value)}.`);
  }
  return value;
}

function parseBody(bytes: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    ({ value } = parseJson(bytes));
  } catch (error) {
    if (!(error instanceof DataSyntaxError)) throw error;
    throw new MalformedRequest(`The body is invalid: ${error.reason}.`);
  }
  if (isRecord(value)) return value;
  throw new MalformedRequest(`The body must be an object, but it is ${describeType(value)}.`);
}

function parse(bytes: Uint8Array): ParsedRequest {
  const body = parseBody(bytes);
  // First, because other versions may have other keys.
  const version = own(body, "version");
  if (!Number.isInteger(version)) {
    const found = typeof version === "number" ? "another number" : describeType(version);
    throw new MalformedRequest(`"version" must be an integer, but it is ${found}.`);
  }
  if (version !== supportedVersion) {
    const unsupported = `Callback version ${version} is not supported; this host supports version ${supportedVersion}. Upgrade @trailblaze/scripting or the host, so that their versions match.`;
    return { unsupported };
  }
  const sessionId = readString(body, "session_id");
  const invocationId = readString(body, "invocation_id");
  const action = own(body, "action");
  if (!isRecord(action)) {
    throw new MalformedRequest(`"action" must be an object, but it is ${describeType(action)}.`);
  }
  const type = readString(action, "type", "action.type");
  if (type !== "call_tool") {
    return { unsupported: `Unknown action ${quote(type)}; this host supports "call_tool".` };
  }
  const toolName = readString(action, "tool_name", "action.tool_name");
  const argumentsJson = readString(action, "arguments_json", "action.arguments_json");
  return { request: { sessionId, invocationId, toolName, argumentsJson } };
}

/** Parses the body of a callback. Unknown keys are ignored. */
export function parseRequest(bytes: Uint8Array): ParsedRequest {
  try {
    return parse(bytes);
  } catch (error) {
    if (error instanceof MalformedRequest) return { malformed: error.message };
    throw error;
  }
}

/** Whether any key is `__proto__`, which a copy could turn into a prototype. */
function hasPrototypeKey(value: unknown): boolean {
  const pending = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next !== "object" || next === null) continue;
    if (Object.hasOwn(next, "__proto__")) return true;
    for (const inner of Object.values(next)) pending.push(inner);
  }
  return false;
}

/** Parses `arguments_json`; the reason if it is not a safe object. */
export function parseArguments(text: string): { value: Record<string, unknown> } | { reason: string } {
  let value: unknown;
  try {
    ({ value } = parseJson(text, parseExactly));
  } catch (error) {
    if (!(error instanceof DataSyntaxError)) throw error;
    return { reason: `"arguments_json" is invalid: ${error.reason}.` };
  }
  if (!isRecord(value)) {
    return { reason: `"arguments_json" must contain an object, but it contains ${describeType(value)}.` };
  }
  // Without this text or an escape, there can be no such key.
  if (/__proto__|\\u/.test(text) && hasPrototypeKey(value)) {
    return { reason: '"arguments_json" must not have a key "__proto__".' };
  }
  return { value };
}
