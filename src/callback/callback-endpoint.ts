import { randomBytes } from "node:crypto";
import type { SessionConfig } from "../config/session-config.ts";
import { parseExactly, stringifyExactly } from "../data/exact-integers.ts";
import { DataSyntaxError, describeType, isRecord, parseJson } from "../data/parse-json.ts";
import {
  checkMethod,
  checkPath,
  checkToken,
  type HttpRequest,
  listenForHttp,
  Refusal,
} from "../mcp/http/http-server.ts";
import { quote } from "../problems/text.ts";
import { abortable } from "../runtime/abort-listeners.ts";
import { TimeLimit } from "../runtime/time-limit.ts";
import type { ToolResult } from "../runtime/tool-result.ts";

export interface CallbackCall {
  /** Hostile: any string. */
  toolName: string;
  /** Parsed, but not validated against a schema. */
  arguments: Record<string, unknown>;
  /** Aborts on a timeout, on a disconnect, or when the invocation, the server or the session has ended. */
  signal: AbortSignal;
  /** Its time, which stands still while the user is asked. */
  limit: TimeLimit;
}

/** The outcome of a call. Unknown tools and invalid arguments are failures like any other. */
export type CallbackOutcome = Pick<ToolResult, "variant" | "message" | "structuredContent">;

/** A running call of a server, during which that may call back. */
export interface Invocation {
  server: string;
  /** Of one of several sessions that may share the server. */
  sessionId: string;
  ended: AbortSignal;
  /** Calls a tool of the session. Its errors are not revealed. */
  callTool(call: CallbackCall): Promise<CallbackOutcome>;
}

export interface CallbackOptions {
  sessionId: string;
  limits: SessionConfig["callback"];
  /** `id`: hostile. `undefined` if it is unknown or has ended. */
  findInvocation(id: string): Invocation | undefined;
}

export type CallbackEndpoint = Awaited<ReturnType<typeof openCallbackEndpoint>>;

/** How much longer than the longest call a connection may be silent. Milliseconds. */
const idleMs = 30_000;

const json = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i;
const tokenMessages = {
  missing: "A token is required: send TRAILBLAZE_SESSION_TOKEN as `Authorization: Bearer <token>`.",
  invalid: "The token is invalid or was revoked. Send the value of TRAILBLAZE_SESSION_TOKEN.",
};

const formatResult = (result: object, init: ResponseInit = {}): Response =>
  new Response(stringifyExactly({ result }), {
    ...init,
    headers: { "content-type": "application/json", ...init.headers },
  });

const failedCall = (message: string): Response =>
  formatResult({ type: "call_tool_result", success: false, text_content: "", error_message: message });

function createCallResult({ variant, message, structuredContent }: CallbackOutcome): Response {
  if (variant !== "Success") return failedCall(message);
  const result = { success: true, text_content: message, error_message: "" };
  const structured_content = structuredContent ?? undefined;
  return formatResult({ type: "call_tool_result", ...result, structured_content });
}

/** Refuses browsers, which send an Origin, or a host name that resolves to this machine. */
function checkPlace({ headers, port }: HttpRequest): void {
  if (headers.has("origin"))
    throw new Refusal(403, "Requests with an Origin header are refused: browsers may not call back.");
  const host = headers.get("host")?.toLowerCase();
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`)
    throw new Refusal(403, "The Host header does not match this endpoint.");
}

const supportedVersion = 1;

const malformed = (message: string) => new Refusal(400, message);
/** The request is valid but cannot be executed. */
const unsupported = (message: string) => new Refusal(200, message);

function readObject(what: string, json: string | Uint8Array): Record<string, unknown> | string {
  try {
    const { value } = parseJson(json, parseExactly);
    return isRecord(value) ? value : `${what} must be an object, but it is ${describeType(value)}.`;
  } catch (error) {
    if (error instanceof DataSyntaxError) return `${what} is invalid: ${error.reason}.`;
    throw error;
  }
}

function readString(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw malformed(`"${name}" must be a string, but it is ${describeType(value)}.`);
}

/** Parses the body of a callback. Unknown keys are ignored. Throws `Refusal`. */
function parseRequest(bytes: Uint8Array) {
  const body = readObject("The body", bytes);
  if (typeof body === "string") throw malformed(body);
  const { version, action, ...ids } = body;
  // First, because other versions may have other keys.
  if (!Number.isInteger(version))
    throw malformed(`"version" must be an integer, but it is ${describeType(version)}.`);
  if (version !== supportedVersion)
    throw unsupported(
      `Callback version ${version} is not supported; this host supports version ${supportedVersion}. Upgrade @trailblaze/scripting or the host, so that their versions match.`,
    );
  if (!isRecord(action)) throw malformed(`"action" must be an object, but it is ${describeType(action)}.`);
  const sessionId = readString("session_id", ids.session_id);
  const invocationId = readString("invocation_id", ids.invocation_id);
  const type = readString("action.type", action.type);
  if (type !== "call_tool")
    throw unsupported(`Unknown action ${quote(type)}; this host supports "call_tool".`);
  const toolName = readString("action.tool_name", action.tool_name);
  const argumentsJson = readString("action.arguments_json", action.arguments_json);
  return { sessionId, invocationId, toolName, argumentsJson };
}

/**
 * Opens the endpoint for the callbacks of one session's servers: `POST /scripting/callback` on 127.0.0.1. It does not keep the process
 * alive.
 */
export async function openCallbackEndpoint({ sessionId, limits, findInvocation }: CallbackOptions) {
  /** The servers by their tokens. */
  const servers = new Map<string, string>();
  const closing = new AbortController();

  /** Answers with the outcome of a call, at the latest on a disconnect, at the end of the invocation or on a timeout. */
  const answer = async (server: string, body: Uint8Array, client: AbortSignal): Promise<Response> => {
    const request = parseRequest(body);
    const running = findInvocation(request.invocationId);
    const invocation = running?.server === server ? running : undefined;
    // A server knows the endpoint's session from its environment, and the session of the call from its envelope.
    if (![sessionId, invocation?.sessionId].includes(request.sessionId))
      throw unsupported("The session_id is not the one of this session.");
    // One answer for all unknown ids, so that a server cannot probe for ids of others.
    if (invocation === undefined) throw unsupported("Unknown invocation, or it has ended.");
    const args = readObject('"arguments_json"', request.argumentsJson);
    if (typeof args === "string") return failedCall(args);
    const late = new AbortController();
    const lateReason = `The tool did not answer within ${limits.timeoutMs} ms and was canceled.`;
    const onOver = () => late.abort(new DOMException(lateReason, "TimeoutError"));
    const limit = new TimeLimit(limits.timeoutMs, onOver);
    const signal = AbortSignal.any([client, invocation.ended, closing.signal, late.signal]);
    const call = { toolName: request.toolName, arguments: args, limit, signal };
    try {
      return createCallResult(await abortable(signal, () => invocation.callTool(call)));
    } catch {
      // A general error: the host's own errors are not revealed to packs.
      return failedCall(signal.aborted ? signal.reason.message : "The host failed to call the tool.");
    } finally {
      limit.end();
    }
  };

  const listening = await listenForHttp({
    host: "127.0.0.1",
    port: 0,
    isBackground: true,
    maxBodyBytes: limits.maxBodyBytes,
    bodyTimeoutMs: limits.bodyTimeoutMs,
    headersTimeoutMs: 10_000,
    idleTimeoutMs: Math.max(limits.timeoutMs, limits.bodyTimeoutMs) + idleMs,
    maxConnections: 2048,
    async answer(request) {
      try {
        // In the order that docs/callback.md has.
        checkPlace(request);
        checkPath(request, "/scripting/callback");
        checkMethod(request, ["POST"]);
        const server = checkToken(request, (token) => servers.get(token), tokenMessages);
        if (!json.test(request.headers.get("content-type") ?? ""))
          throw new Refusal(415, "The Content-Type must be application/json in UTF-8.");
        // The server may exit while the body arrives, and its invocations with it.
        return await answer(server, await request.read(), request.over);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return formatResult({ type: "error", message: error.message }, error);
      }
    },
  });

  return {
    baseUrl: `http://127.0.0.1:${listening.port}`,
    port: listening.port,
    /** Creates a token for one server, 32 random bytes in base64url. Secret: only for that server's environment. */
    issueToken(server: string): string {
      const token = randomBytes(32).toString("base64url");
      servers.set(token, server);
      return token;
    },
    revokeToken: (token: string): void => void servers.delete(token),
    /** Aborts the open callbacks, answers those that can be answered immediately, and destroys all connections. Idempotent. */
    close(): Promise<void> {
      closing.abort(new DOMException("The tool was canceled because the session ended.", "AbortError"));
      return listening.close(0);
    },
  };
}
