import { createHash, randomBytes } from "node:crypto";
import type { SessionConfig } from "../config/session-config.ts";
import { stringifyExactly } from "../data/exact-integers.ts";
import {
  checkEncoding,
  checkMethod,
  checkPath,
  checkToken,
  listenForHttp,
  type Refusal,
  type RequestHead,
  refuseToken,
} from "../mcp/http/http-server.ts";
import { type Cancellation, whenAborted } from "../runtime/abort-listeners.ts";
import { TimeLimit } from "../runtime/time-limit.ts";
import { parseArguments, parseRequest } from "./parse-request.ts";

/** A tool call that a server makes during one of its own calls. */
export interface CallbackCall {
  /** The invocation that makes the call. */
  invocationId: string;
  /** The depth of the new call: one more than that of the invocation. */
  depth: number;
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
export type CallbackOutcome =
  | { success: true; text: string; structuredContent?: unknown }
  | { success: false; errorMessage: string; text?: string };

export interface CallbackOptions {
  sessionId: string;
  limits: SessionConfig["callback"];
  /** Calls a tool of the session. Its errors are not revealed. */
  dispatch(call: CallbackCall): Promise<CallbackOutcome>;
}

/** The endpoint for the callbacks of one session's servers: `POST /scripting/callback` on 127.0.0.1. */
export interface CallbackEndpoint {
  /** `http://127.0.0.1:PORT` */
  readonly baseUrl: string;
  readonly port: number;
  /** Creates a token for one server, 32 random bytes in base64url. Secret: only for that server's environment. */
  issueToken(server: string): string;
  /** Revokes the token of a server that has exited or was restarted. */
  revokeToken(token: string): void;
  /**
   * Allows `server` to call back during this call. Throws for an id that is in use. `clientSession`: the id of the
   * call's session, if several share the server.
   */
  beginInvocation(
    invocationId: string,
    server: string,
    depth: number,
    signal: Cancellation,
    clientSession?: string,
  ): void;
  /** Ends the invocation and aborts its open callbacks. Idempotent. */
  endInvocation(invocationId: string): void;
  /** Aborts the open callbacks, answers those that can be answered immediately, and destroys all connections. Idempotent. */
  close(): Promise<void>;
}

/** A running call of a server, with its open callbacks. */
interface RunningInvocation {
  /** Id of the session that it belongs to, if that is one of several that share the server. */
  readonly clientSession: string | undefined;
  readonly server: string;
  readonly depth: number;
  /** Each is called when the invocation ends. */
  readonly inFlight: Set<() => void>;
  forget(): void;
}

/** The limit per invocation: each open callback costs memory. */
const maximumInFlight = 1000;
/** How much longer than the longest call a connection may be silent. Milliseconds. */
const idleMs = 30_000;

const json = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i;
const tokenMessages = {
  missing: "A token is required: send TRAILBLAZE_SESSION_TOKEN as `Authorization: Bearer <token>`.",
  invalid: "The token is invalid or was revoked. Send the value of TRAILBLAZE_SESSION_TOKEN.",
};

/** What is known of a token: none can leak from here. */
const digestOf = (token: string): string => createHash("sha256").update(token).digest("base64");

const formatResult = (result: object, init: ResponseInit = {}): Response =>
  new Response(stringifyExactly({ result }), {
    ...init,
    headers: { "content-type": "application/json", ...init.headers },
  });

const formatRefusal = ({ message, ...init }: Refusal): Response =>
  formatResult({ type: "error", message }, init);

/** The request is valid but cannot be executed. */
const createError = (message: string): Response => formatRefusal({ status: 200, message });

/** The answer with a call's outcome. Throws if its structured content is not JSON. */
function createCallResult(outcome: CallbackOutcome): Response {
  const result = outcome.success
    ? { success: true, text_content: outcome.text, error_message: "" }
    : { success: false, text_content: outcome.text ?? "", error_message: outcome.errorMessage };
  const structured = outcome.success ? (outcome.structuredContent ?? undefined) : undefined;
  return formatResult({ type: "call_tool_result", ...result, structured_content: structured });
}

const failedCall = (errorMessage: string): Response => createCallResult({ success: false, errorMessage });

/** Refuses browsers, which send an Origin, or a host name that resolves to this machine. */
function checkPlace(head: RequestHead, port: number): Refusal | undefined {
  if (head.headers.has("origin")) {
    const message = "Requests with an Origin header are refused: browsers may not call back.";
    return { status: 403, message };
  }
  const host = head.headers.get("host")?.toLowerCase();
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`)
    return { status: 403, message: "The Host header does not match this endpoint." };
  return checkPath(head, "/scripting/callback") ?? checkMethod(head, ["POST"]);
}

function checkType(head: RequestHead): Refusal | undefined {
  if (json.test(head.headers.get("content-type") ?? "")) return undefined;
  return { status: 415, message: "The Content-Type must be application/json in UTF-8." };
}

/**
 * Dispatches a call and answers with its outcome, at the latest on a disconnect, at the end of the invocation or on a
 * timeout; a later outcome is dropped. Never rejects.
 */
function runCall(
  call: Omit<CallbackCall, "signal" | "limit">,
  { inFlight }: RunningInvocation,
  dispatch: CallbackOptions["dispatch"],
  { client, timeoutMs }: { client: AbortSignal; timeoutMs: number },
): Promise<Response> {
  const controller = new AbortController();
  return new Promise((resolve) => {
    const stop = (name: "TimeoutError" | "AbortError", message: string) => {
      settle(failedCall(message));
      controller.abort(new DOMException(message, name));
    };
    const endWithInvocation = () => stop("AbortError", "The tool was canceled because the invocation ended.");
    const onOver = () =>
      stop("TimeoutError", `The tool did not answer within ${timeoutMs} ms and was canceled.`);
    const limit = new TimeLimit(timeoutMs, onOver, { keepsAlive: false });
    const forget = whenAborted(client, () => stop("AbortError", "The callback was canceled."));
    const settle = (answer: Response) => {
      limit.end();
      inFlight.delete(endWithInvocation);
      forget();
      resolve(answer);
    };
    inFlight.add(endWithInvocation);
    const run = async () => createCallResult(await dispatch({ ...call, limit, signal: controller.signal }));
    // A general error: the host's own errors are not revealed to packs.
    run().then(settle, () => settle(failedCall("The host failed to call the tool.")));
  });
}

/** Opens the endpoint. It does not keep the process alive. */
export async function openCallbackEndpoint(options: CallbackOptions): Promise<CallbackEndpoint> {
  const { sessionId, limits, dispatch } = options;
  /** The servers by the digests of their tokens. */
  const servers = new Map<string, string>();
  const invocations = new Map<string, RunningInvocation>();

  const endInvocation = (id: string) => {
    const invocation = invocations.get(id);
    if (invocation === undefined) return;
    invocations.delete(id);
    invocation.forget();
    for (const abort of [...invocation.inFlight]) abort();
  };

  const answer = async (server: string, body: Uint8Array, client: AbortSignal): Promise<Response> => {
    const parsed = parseRequest(body);
    if ("malformed" in parsed) return formatRefusal({ status: 400, message: parsed.malformed });
    if ("unsupported" in parsed) return createError(parsed.unsupported);
    const { invocationId, toolName, argumentsJson } = parsed.request;
    const running = invocations.get(invocationId);
    const invocation = running?.server === server ? running : undefined;
    // A server knows the endpoint's session from its environment, and the session of the call from its envelope.
    if (![sessionId, invocation?.clientSession].includes(parsed.request.sessionId))
      return createError("The session_id is not the one of this session.");
    // One answer for all unknown ids, so that a server cannot probe for ids of others.
    if (invocation === undefined) return createError("Unknown invocation, or it has ended.");

    const depth = invocation.depth + 1;
    if (depth > limits.maxDepth)
      return failedCall(`Tool calls are nested more than ${limits.maxDepth} levels deep.`);
    if (invocation.inFlight.size >= maximumInFlight)
      return failedCall(
        `The invocation has ${maximumInFlight} open callbacks, which is the limit. Wait for one to end.`,
      );
    const args = parseArguments(argumentsJson);
    if ("reason" in args) return failedCall(args.reason);
    const call = { invocationId, depth, toolName, arguments: args.value };
    return runCall(call, invocation, dispatch, { client, timeoutMs: limits.timeoutMs });
  };

  const listening = await listenForHttp({
    host: "127.0.0.1",
    port: 0,
    isBackground: true,
    maxBodyBytes: limits.maxBodyBytes,
    bodyTimeoutMs: limits.bodyTimeoutMs,
    headersTimeoutMs: 10_000,
    idleTimeoutMs: Math.max(limits.timeoutMs, limits.bodyTimeoutMs) + idleMs,
    // Enough for all callbacks of one invocation and as many of others.
    maxConnections: 2048,
    formatRefusal,
    // In the order that docs/callback.md has.
    admit: (head, port) => {
      const misplaced = checkPlace(head, port);
      if (misplaced !== undefined) return misplaced;
      const find = (token: string) => [digestOf(token)].find((digest) => servers.has(digest));
      const checked = checkToken(head, find, tokenMessages);
      if ("refusal" in checked) return checked.refusal;
      return (
        checkEncoding(head) ??
        checkType(head) ??
        (async (body) => {
          const server = servers.get(checked.access);
          // The server may have exited while the body arrived.
          if (server === undefined) return formatRefusal(refuseToken(tokenMessages.invalid, true));
          return answer(server, body, head.over);
        })
      );
    },
  });

  return {
    baseUrl: `http://127.0.0.1:${listening.port}`,
    port: listening.port,
    issueToken(server) {
      const token = randomBytes(32).toString("base64url");
      servers.set(digestOf(token), server);
      return token;
    },
    revokeToken: (token) => void servers.delete(digestOf(token)),
    beginInvocation(id, server, depth, signal, clientSession) {
      if (invocations.has(id)) throw new Error("An invocation with this id is already running");
      if (signal.aborted) return;
      const forget = whenAborted(signal, () => endInvocation(id));
      invocations.set(id, { clientSession, server, depth, inFlight: new Set(), forget });
    },
    endInvocation,
    close: () => {
      for (const id of invocations.keys()) endInvocation(id);
      return listening.close(0);
    },
  };
}
