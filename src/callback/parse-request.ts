import { DataSyntaxError } from "../data/decode.ts";
import { parseExactly } from "../data/exact-integers.ts";
import { describeType, isRecord, parseJson } from "../data/parse-json.ts";
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

function readString(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw new MalformedRequest(`"${name}" must be a string, but it is ${describeType(value)}.`);
}

/** The value of a JSON text, or why it has none. */
function readJson(text: string | Uint8Array): { value: unknown } | { reason: string } {
  try {
    return { value: parseJson(text, parseExactly).value };
  } catch (error) {
    if (error instanceof DataSyntaxError) return { reason: error.reason };
    throw error;
  }
}

/** Parses the body of a callback. Unknown keys are ignored. */
export function parseRequest(bytes: Uint8Array): ParsedRequest {
  const body = readJson(bytes);
  if ("reason" in body) return { malformed: `The body is invalid: ${body.reason}.` };
  if (!isRecord(body.value))
    return { malformed: `The body must be an object, but it is ${describeType(body.value)}.` };
  const { version, action, ...ids } = body.value;
  // First, because other versions may have other keys.
  if (!Number.isInteger(version))
    return { malformed: `"version" must be an integer, but it is ${describeType(version)}.` };
  if (version !== supportedVersion) {
    const unsupported = `Callback version ${version} is not supported; this host supports version ${supportedVersion}. Upgrade @trailblaze/scripting or the host, so that their versions match.`;
    return { unsupported };
  }
  if (!isRecord(action))
    return { malformed: `"action" must be an object, but it is ${describeType(action)}.` };
  try {
    const sessionId = readString("session_id", ids.session_id);
    const invocationId = readString("invocation_id", ids.invocation_id);
    const type = readString("action.type", action.type);
    if (type !== "call_tool")
      return { unsupported: `Unknown action ${quote(type)}; this host supports "call_tool".` };
    const toolName = readString("action.tool_name", action.tool_name);
    const argumentsJson = readString("action.arguments_json", action.arguments_json);
    return { request: { sessionId, invocationId, toolName, argumentsJson } };
  } catch (error) {
    if (error instanceof MalformedRequest) return { malformed: error.message };
    throw error;
  }
}

/** Parses `arguments_json`; the reason if it is no object. */
export function parseArguments(text: string): { value: Record<string, unknown> } | { reason: string } {
  const read = readJson(text);
  if ("reason" in read) return { reason: `"arguments_json" is invalid: ${read.reason}.` };
  if (isRecord(read.value)) return { value: read.value };
  return {
    reason: `"arguments_json" must contain an object, but it contains ${describeType(read.value)}.`,
  };
}
