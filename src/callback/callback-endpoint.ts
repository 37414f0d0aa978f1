import type { SessionConfig } from "../config/session-config.ts";
import {
  checkEncoding,
  checkMethod,
  checkPath,
  checkToken,
  type HeadRefusal,
  onlyValue,
  refuseToken,
} from "../mcp/http/check-head.ts";
import { type Answer, listenForHttp, type RequestHead } from "../mcp/http/http-server.ts";
import { type Cancellation, whenAborted } from "../runtime/abort-listeners.ts";
import { OpenEntries } from "../runtime/open-entries.ts";
import { type Access, AccessTokens } from "./access-tokens.ts";
import { type CallbackCall, type CallbackOutcome, createError, createTransportRefusal } from "./answers.ts";
import { parseArguments, parseRequest } from "./parse-request.ts";
import { failedCall, type RunningInvocation, runCall } from "./run-call.ts";

export interface CallbackOptions {
  sessionId: string;
  limits: SessionConfig["callback"];
  /** Calls a tool of the session. Its errors are not revealed. */
  dispatch(call: CallbackCall): Promise<CallbackOutcome>;
  /** Limits of the transport; not documented for users. */
  transport?: { headersTimeoutMs?: number };
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

/** The limit per invocation: each open callback costs memory. */
const maximumInFlight = 1000;
const headersTimeoutMs = 10_000;
/** Enough for all callbacks of one invocation and as many of others. */
const maxConnections = 2048;
/** How much longer than the longest call a connection may be silent. Milliseconds. */
const idleMs = 30_000;

const json = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i;
const tokenMessages = {
  missing: "A token is required: send TRAILBLAZE_SESSION_TOKEN as `Authorization: Bearer <token>`.",
  invalid: "The token is invalid or was revoked. Send the value of TRAILBLAZE_SESSION_TOKEN.",
};

const refuse = ({ status, message, headers }: HeadRefusal): Answer => createError(message, status, headers);

/** Refuses browsers, which send an Origin, or a host name that resolves to this machine. */
function checkPlace(head: RequestHead, port: number): HeadRefusal | undefined {
  if (head.headers.origin !== undefined) {
    const message = "Requests with an Origin header are refused: browsers may not call back.";
    return { status: 403, message };
  }
  const host = onlyValue(head, "host")?.toLowerCase();
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`)
    return { status: 403, message: "The Host header does not match this endpoint." };
  return checkPath(head, "/scripting/callback") ?? checkMethod(head, ["POST"]);
}

function checkType(head: RequestHead): HeadRefusal | undefined {
  if (json.test(onlyValue(head, "content-type") ?? "")) return undefined;
  return { status: 415, message: "The Content-Type must be application/json in UTF-8." };
}

// One answer for every unknown id, so that a server cannot probe for ids of others.
const noInvocation = () => createError("Unknown invocation, or it has ended.");

/** Opens the endpoint. It does not keep the process alive. */
export async function openCallbackEndpoint(options: CallbackOptions): Promise<CallbackEndpoint> {
  const { sessionId, limits, dispatch, transport } = options;
  const tokens = new AccessTokens();
  const invocations = new OpenEntries<string, RunningInvocation & { forget: () => void }>();

  const endInvocation = (id: string) => {
    const invocation = invocations.remove(id);
    if (invocation === undefined) return;
    invocation.forget();
    for (const abort of [...invocation.inFlight]) abort();
  };

  const answer = async (access: Access, body: Uint8Array, over: AbortSignal): Promise<Answer> => {
    // The server may have exited while the body arrived.
    if (!access.isValid) return refuse(refuseToken(tokenMessages, true));
    const parsed = parseRequest(body);
    if ("malformed" in parsed) return createError(parsed.malformed, 400);
    if ("unsupported" in parsed) return createError(parsed.unsupported);
    const { invocationId, toolName, argumentsJson } = parsed.request;
    const running = invocations.find(invocationId);
    const invocation = running?.server === access.server ? running : undefined;
    // A server knows the endpoint's session from its environment, and the session of the call from its envelope.
    if (![sessionId, invocation?.clientSession].includes(parsed.request.sessionId))
      return createError("The session_id is not the one of this session.");
    if (invocation === undefined) return noInvocation();

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
    return runCall(call, invocation, dispatch, { client: over, timeoutMs: limits.timeoutMs });
  };

  const server = await listenForHttp({
    host: "127.0.0.1",
    port: 0,
    isBackground: true,
    maxBodyBytes: limits.maxBodyBytes,
    bodyTimeoutMs: limits.bodyTimeoutMs,
    headersTimeoutMs: transport?.headersTimeoutMs ?? headersTimeoutMs,
    idleTimeoutMs: Math.max(limits.timeoutMs, limits.bodyTimeoutMs) + idleMs,
    maxConnections,
    refuse: (fault) => createTransportRefusal(fault, limits),
    // In the order that docs/callback.md has.
    admit: (head, port) => {
      const misplaced = checkPlace(head, port);
      if (misplaced !== undefined) return refuse(misplaced);
      const checked = checkToken(head, (token) => tokens.find(token), tokenMessages);
      if ("refusal" in checked) return refuse(checked.refusal);
      const mistyped = checkEncoding(head) ?? checkType(head);
      if (mistyped !== undefined) return refuse(mistyped);
      return (body, over) => answer(checked.access, body, over);
    },
  });
  const { port } = server;

  return {
    baseUrl: `http://127.0.0.1:${port}`,
    port,
    issueToken: (name) => tokens.issue(name),
    revokeToken: (token) => tokens.revoke(token),
    beginInvocation(id, name, depth, signal, clientSession) {
      if (invocations.find(id) !== undefined)
        throw new Error("An invocation with this id is already running");
      if (signal.aborted) return;
      const forget = whenAborted(signal, () => endInvocation(id));
      invocations.add({ id, clientSession, server: name, depth, inFlight: new Set(), forget });
    },
    endInvocation,
    close: () => {
      for (const { id } of invocations.all()) endInvocation(id);
      return server.close(0);
    },
  };
}
