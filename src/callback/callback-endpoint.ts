import type { SessionConfig } from "../config/session-config.ts";
import type { Answer } from "../mcp/http/http-answers.ts";
import { listenForHttp } from "../mcp/http/http-server.ts";
import type { Cancellation } from "../runtime/abort-listeners.ts";
import { type Access, AccessTokens } from "./access-tokens.ts";
import type { CallbackCall, CallbackOutcome } from "./answers.ts";
import { createError, createTransportRefusal } from "./answers.ts";
import { checkHead, refuseToken } from "./check-head.ts";
import { parseArguments, parseRequest } from "./parse-request.ts";
import { failedCall, runCall } from "./run-call.ts";
import { RunningInvocations } from "./running-invocations.ts";

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

// One answer for every unknown id, so that a server cannot probe for ids of others.
const noInvocation = () => createError("Unknown invocation, or it has ended.");

/** Opens the endpoint. It does not keep the process alive. */
export async function openCallbackEndpoint(options: CallbackOptions): Promise<CallbackEndpoint> {
  const { sessionId, limits, dispatch, transport } = options;
  const tokens = new AccessTokens();
  const invocations = new RunningInvocations();

  const answer = async (access: Access, body: Uint8Array, client: AbortSignal): Promise<Answer> => {
    // The server may have exited while the body arrived.
    if (!access.isValid) return refuseToken(true);
    const parsed = parseRequest(body);
    if ("malformed" in parsed) return createError(parsed.malformed, 400);
    if ("unsupported" in parsed) return createError(parsed.unsupported);
    const { invocationId, toolName, argumentsJson } = parsed.request;
    const invocation = invocations.find(invocationId, access.server);
    // A server knows the endpoint's session from its environment, and the session of the call from its envelope.
    if (![sessionId, invocation?.clientSession].includes(parsed.request.sessionId))
      return createError("The session_id is not the one of this session.");
    if (invocation === undefined) return noInvocation();

    const depth = invocation.depth + 1;
    if (depth > limits.maxDepth) {
      return failedCall(`Tool calls are nested more than ${limits.maxDepth} levels deep.`);
    }
    if (invocation.inFlight.size >= maximumInFlight) {
      return failedCall(
        `The invocation has ${maximumInFlight} open callbacks, which is the limit. Wait for one to end.`,
      );
    }
    const args = parseArguments(argumentsJson);
    if ("reason" in args) return failedCall(args.reason);
    const call = { invocationId, depth, toolName, arguments: args.value };
    return runCall(call, invocation, dispatch, { client, timeoutMs: limits.timeoutMs });
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
    admit: (head, port) => {
      const checked = checkHead(head, port, (token) => tokens.find(token));
      if ("refusal" in checked) return checked.refusal;
      return (body, client) => answer(checked.access, body, client);
    },
  });
  const { port } = server;

  return {
    baseUrl: `http://127.0.0.1:${port}`,
    port,
    issueToken: (name) => tokens.issue(name),
    revokeToken: (token) => tokens.revoke(token),
    beginInvocation: (id, name, depth, signal, clientSession) =>
      invocations.begin(id, name, depth, signal, clientSession),
    endInvocation: (id) => invocations.end(id),
    close: () => {
      invocations.endAll();
      return server.abort();
    },
  };
}
