import type { SessionConfig } from "../config/session-config.ts";
import type { Answer } from "../mcp/http/http-answers.ts";
import { listenForHttp } from "../mcp/http/http-server.ts";
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
  /** Calls a tool of the session. What it throws is told to nobody. */
  dispatch(call: CallbackCall): Promise<CallbackOutcome>;
  /** Limits of the transport, of which users know nothing. */
  transport?: { headersTimeoutMs?: number; maxConnections?: number; maxRequests?: number };
}

/** Where the servers of one session call back while they are called: `POST /scripting/callback` on 127.0.0.1. */
export interface CallbackEndpoint {
  /** `http://127.0.0.1:PORT` */
  readonly baseUrl: string;
  readonly port: number;
  /** A token for one server, 32 random bytes in base64url. Secret: it goes into that server's environment only. */
  issueToken(server: string): string;
  /** For a server that ended or was started anew: its token ends. */
  revokeToken(token: string): void;
  /** From now on `server` may call back for this call of it. Throws for an id that is in use. */
  beginInvocation(invocationId: string, server: string, depth: number, signal: AbortSignal): void;
  /** Aborts callbacks in flight of it. Idempotent. */
  endInvocation(invocationId: string): void;
  /** Aborts what is in flight, answers it if that is possible at once, and destroys all connections. Idempotent. */
  close(): Promise<void>;
}

/** One invocation has no use for more at once, and each costs memory. */
const maximumInFlight = 1000;
const headersTimeoutMs = 10_000;
/** Room for all callbacks of an invocation, and for half as many of others. */
const maxRequests = 1500;
const maxConnections = 2048;
/** Beyond the longest call, before a connection on which nothing moves is dropped. */
const idleMs = 30_000;

// The same for all that is not there, so that nobody learns which ids others have.
const noInvocation = () => createError("There is no such invocation of this server, or it is over.");

/** Opens the endpoint. It keeps no process alive. */
export async function openCallbackEndpoint(options: CallbackOptions): Promise<CallbackEndpoint> {
  const { sessionId, limits, dispatch, transport } = options;
  const tokens = new AccessTokens();
  const invocations = new RunningInvocations();

  const answer = async (access: Access, body: Uint8Array, client: AbortSignal): Promise<Answer> => {
    // While the body was under way, its server may have ended.
    if (!access.isValid) return refuseToken(true);
    const parsed = parseRequest(body);
    if ("malformed" in parsed) return createError(parsed.malformed, 400);
    if ("unsupported" in parsed) return createError(parsed.unsupported);
    const { invocationId, toolName, argumentsJson } = parsed.request;
    if (parsed.request.sessionId !== sessionId) return createError("The callback is of another session.");
    const invocation = invocations.find(invocationId, access.server);
    if (invocation === undefined) return noInvocation();

    const depth = invocation.depth + 1;
    if (depth > limits.maxDepth) {
      return failedCall(`Calls are nested deeper than ${limits.maxDepth} levels, so this one was not made.`);
    }
    if (invocation.inFlight.size >= maximumInFlight) {
      return failedCall(`An invocation can have ${maximumInFlight} callbacks at once; wait for one to end.`);
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
    maxConnections: transport?.maxConnections ?? maxConnections,
    maxRequests: transport?.maxRequests ?? maxRequests,
    refuse: (fault) =>
      fault === "busy"
        ? failedCall("Too many callbacks are under way in this session; wait for one to end.")
        : createTransportRefusal(fault, limits),
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
    beginInvocation: (id, name, depth, signal) => invocations.begin(id, name, depth, signal),
    endInvocation: (id) => invocations.end(id),
    close: () => {
      invocations.endAll();
      return server.abort();
    },
  };
}
