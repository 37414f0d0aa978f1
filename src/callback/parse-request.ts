import { DataSyntaxError } from "../data/decode.ts";
import { describeType, isRecord, parseJson } from "../data/parse-json.ts";
import { own } from "../mcp/client/incoming-message.ts";
import { quote } from "../problems/text.ts";

/** The wire format that is understood. */
const supportedVersion = 1;

export interface CallbackRequest {
  sessionId: string;
  invocationId: string;
  toolName: string;
  argumentsJson: string;
}

/** `malformed`: it cannot be understood. `unsupported`: it can, but asks for what a newer host may do. */
export type ParsedRequest = { request: CallbackRequest } | { malformed: string } | { unsupported: string };

class MalformedRequest extends Error {}

function readString(source: Record<string, unknown>, key: string, name = key): string {
  const value = own(source, key);
  if (typeof value !== "string") {
    throw new MalformedRequest(`"${name}" must be a string, but is ${describeType(value)}.`);
  }
  return value;
}

function parseBody(bytes: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    ({ value } = parseJson(bytes));
  } catch (error) {
    if (!(error instanceof DataSyntaxError)) throw error;
    throw new MalformedRequest(`The body cannot be read: ${error.reason}.`);
  }
  if (isRecord(value)) return value;
  throw new MalformedRequest(`The body must be an object, but is ${describeType(value)}.`);
}

function parse(bytes: Uint8Array): ParsedRequest {
  const body = parseBody(bytes);
  // Before everything else: another version may look different.
  const version = own(body, "version");
  if (!Number.isInteger(version)) {
    const found = typeof version === "number" ? "another number" : describeType(version);
    throw new MalformedRequest(`"version" must be an integer, but is ${found}.`);
  }
  if (version !== supportedVersion) {
    const unsupported = `This host speaks version ${supportedVersion} of the callback, not ${version}: upgrade @trailblaze/scripting, or the host, to versions that belong together.`;
    return { unsupported };
  }
  const sessionId = readString(body, "session_id");
  const invocationId = readString(body, "invocation_id");
  const action = own(body, "action");
  if (!isRecord(action)) {
    throw new MalformedRequest(`"action" must be an object, but is ${describeType(action)}.`);
  }
  const type = readString(action, "type", "action.type");
  if (type !== "call_tool") {
    return { unsupported: `The action ${quote(type)} is unknown; this host knows "call_tool".` };
  }
  const toolName = readString(action, "tool_name", "action.tool_name");
  const argumentsJson = readString(action, "arguments_json", "action.arguments_json");
  return { request: { sessionId, invocationId, toolName, argumentsJson } };
}

/** Reads the body of a callback. Keys that are not known are ignored. */
export function parseRequest(bytes: Uint8Array): ParsedRequest {
  try {
    return parse(bytes);
  } catch (error) {
    if (error instanceof MalformedRequest) return { malformed: error.message };
    throw error;
  }
}

/** Whether a key, which copying could take for the prototype of its object, is `__proto__`. */
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

/** Reads `arguments_json`; why not, where it is no object that can be handed on. */
export function parseArguments(text: string): { value: Record<string, unknown> } | { reason: string } {
  let value: unknown;
  try {
    ({ value } = parseJson(text));
  } catch (error) {
    if (!(error instanceof DataSyntaxError)) throw error;
    return { reason: `arguments_json cannot be read: ${error.reason}.` };
  }
  if (!isRecord(value)) {
    return { reason: `arguments_json must be the text of an object, but is that of ${describeType(value)}.` };
  }
  // Only a text with this in it, or with an escape, can have such a key.
  if (/__proto__|\\u/.test(text) && hasPrototypeKey(value)) {
    return { reason: 'arguments_json must not have a key "__proto__".' };
  }
  return { value };
}
