// Serving over streamable HTTP: modern clients request by request, legacy ones in sessions.
import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import {
  type JSONRPCMessage,
  type TransportSendOptions,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { markIntegers } from "../../data/exact-integers.ts";
import { failure, quote } from "../../problems/index.ts";
import { atMost, timerMs, whenAborted } from "../../runtime/abort-listeners.ts";
import { clock } from "../../runtime/time-limit.ts";
import {
  cancelledIdOf,
  isModern,
  isOfModernClient,
  methodOf,
  parseMessage,
  type RequestId,
  requestIdOf,
  rpcCode,
} from "../client-message.ts";
import type { CreateProtocolServer, ModernHttpServer, ServedProtocol } from "../served-server.ts";
import {
  checkHttpTransport,
  createHostCheck,
  type HttpTransport,
  hostInUrl,
  hostOf,
} from "./http-options.ts";
import {
  checkMethod,
  checkPath,
  checkToken,
  type HttpLimits,
  type HttpRequest,
  listenForHttp,
  Refusal,
} from "./http-server.ts";

const path = "/mcp";

export interface ServeHttpOptions extends HttpTransport {
  label: string;
  /** Serves modern clients. */
  modern: ModernHttpServer;
  protocol: ServedProtocol;
  /** How long open requests may take when the server closes. Default: 2 s. */
  graceMs?: number;
  /** Not documented for users. */
  limits?: Partial<HttpLimits>;
}

const tokenMessages = {
  missing: "A token is required: send it as `Authorization: Bearer <token>`.",
  invalid: "The token is invalid.",
};

const digestOf = (token: string): Uint8Array => createHash("sha256").update(token).digest();

function createPlaceCheck(options: ServeHttpOptions) {
  const isOurHost = createHostCheck(hostOf(options), options.allowedHosts ?? []);
  const isOurOrigin = (origin: string, port: number): boolean => {
    const { protocol, host, origin: canonical } = URL.canParse(origin) ? new URL(origin) : {};
    if (host === undefined || canonical !== origin || !/^https?:$/.test(protocol ?? "")) return false;
    return isOurHost(host, port, protocol === "https:" ? 443 : 80);
  };
  return ({ headers, port }: HttpRequest, isAllowedOrigin: boolean): void => {
    const refuseName = (name: string, value: string) =>
      new Refusal(
        403,
        `The ${name} header ${quote(value, 200)} is not of this server. If clients use it, pass it with --allowed-${name.toLowerCase()}.`,
      );
    const host = headers.get("host") ?? "";
    const origin = headers.get("origin");
    if (!isOurHost(host, port, 80)) throw refuseName("Host", host);
    if (origin !== null && !isAllowedOrigin && !isOurOrigin(origin, port)) throw refuseName("Origin", origin);
  };
}

/** Headers that neither the protocol nor handlers may see. */
const secret = ["authorization", "cookie", "proxy-authorization"];

/** A request for the SDK, which gets its body as a parsed message. A client that accepts anything accepts what the protocol needs. */
function toRequest({ method, headers: written, over: signal }: HttpRequest): Request {
  const headers = new Headers(written);
  for (const name of secret) headers.delete(name);
  const accept = headers.get("accept");
  if (accept === null || accept.includes("*/*")) headers.set("accept", "application/json, text/event-stream");
  // The SDK requires a URL but does not use it.
  return new Request("http://localhost/mcp", { method, headers, signal });
}

/** An error answer to an HTTP request, with the `id` of its JSON-RPC request if that is known. */
const refuse = (
  status: number,
  message: string,
  code: number = rpcCode.refused,
  id: RequestId | null = null,
  headers: Readonly<Record<string, string>> = {},
): Response => Response.json({ jsonrpc: "2.0", error: { code, message }, id }, { status, headers });

/**
 * One client's session. Adds to the SDK's transport: a disconnect cancels its requests, because nothing is kept for a later
 * connection; canceling a request ends its stream, although it gets no answer; and when the session ends, open requests
 * are answered with an error.
 */
class HttpSession extends WebStandardStreamableHTTPServerTransport {
  readonly #options: ServeHttpOptions;
  readonly #onEnd: () => void;
  /** Requests that are neither answered nor canceled. */
  readonly #open = new Set<RequestId>();
  #underWay = 0;
  #cancelExpiry: (() => void) | undefined;
  #isEnded = false;

  constructor(id: string, options: ServeHttpOptions, onEnd: () => void) {
    super(options.stateless ? {} : { sessionIdGenerator: () => id });
    this.#options = options;
    this.#onEnd = onEnd;
  }

  async answer(request: HttpRequest, message: unknown): Promise<Response> {
    const id = requestIdOf(message);
    // The SDK would send the answer of one to the other.
    if (id !== undefined && this.#open.has(id))
      return refuse(400, "A request with this id is already in progress.", rpcCode.request);
    if (id !== undefined) this.#open.add(id);
    this.#underWay++;
    this.#cancelExpiry?.();
    const answer = await this.handleRequest(toRequest(request), { parsedBody: message });
    const cancelled = cancelledIdOf(message);
    if (cancelled !== undefined) this.#forget(cancelled);
    // A refusal of the SDK.
    if (id !== undefined && !answer.ok) this.#open.delete(id);
    if (request.over.aborted) this.#leave(id);
    else whenAborted(request.over, () => this.#leave(id));
    return answer;
  }

  override send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!("method" in message) && message.id !== undefined) this.#open.delete(message.id);
    return super.send(markIntegers(message), options);
  }

  /** Ends the session, and with it the calls of its server. Never rejects. Idempotent. */
  override async close(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#cancelExpiry?.();
    this.#onEnd();
    const error = { code: rpcCode.refused, message: "The session has ended." };
    for (const id of [...this.#open]) await this.send({ jsonrpc: "2.0", id, error }).catch(() => {});
    await super.close();
  }

  /** The stream of an answer has ended, or the client has disconnected. */
  #leave(id: RequestId | undefined): void {
    if (id !== undefined && this.#open.has(id)) {
      const params = { requestId: id, reason: "The client closed the connection." };
      this.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params });
      this.#forget(id);
    }
    this.#underWay--;
    const { stateless, sessionTtl = 1800 } = this.#options;
    if (stateless) void this.close();
    else if (this.#underWay === 0 && !this.#isEnded)
      this.#cancelExpiry = clock.after(timerMs(sessionTtl * 1000), () => void this.close());
  }

  /** The SDK keeps a stream open until its request is answered; a canceled one never is. */
  #forget(id: RequestId): void {
    if (!this.#open.delete(id)) return;
    this.closeSSEStream(id);
    // The stream is closed, so this is not sent; it makes the SDK forget the request.
    const error = { code: rpcCode.refused, message: "Canceled." };
    super.send({ jsonrpc: "2.0", id, error }).catch(() => {});
  }
}

/**
 * Keeps the process alive. Modern requests are served on their own, all others in sessions. Throws `InvalidArguments` for a
 * missing or unusable token, and `ServerStartFailed` if it cannot listen.
 */
export async function serveHttp(create: CreateProtocolServer, options: ServeHttpOptions) {
  checkHttpTransport(options);
  const { label, port = 0, stateless = false, maxSessions = 1000, graceMs = 2000 } = options;
  const { modern, protocol } = options;
  const host = hostOf(options);
  const methods = stateless || protocol === "modern" ? ["POST"] : ["GET", "POST", "DELETE"];
  const origins = new Set(options.allowedOrigins?.map((text) => text.toLowerCase().replace(/\/$/, "")));
  const checkPlace = createPlaceCheck(options);
  const digest = options.token === undefined ? undefined : digestOf(options.token);
  /** By their ids. A session starts with `initialize`, and ends with DELETE, by being idle, or with the server. */
  const sessions = new Map<string, HttpSession>();
  const open = new Set<Promise<unknown>>();
  let isEnding = false;
  let isClosed = false;

  const begin = async (request: HttpRequest, message: unknown): Promise<Response> => {
    const id = randomUUID();
    const server = create(id);
    const session = new HttpSession(id, options, () => sessions.delete(id));
    sessions.set(id, session);
    try {
      await server.connect(session);
      const answer = await session.answer(request, message);
      if (!stateless && session.sessionId === undefined) await session.close();
      return answer;
    } catch (error) {
      await session.close();
      throw error;
    }
  };

  /** `message`: the parsed JSON; `undefined` for a method without a body. */
  const answerLegacy = async (request: HttpRequest, message: unknown): Promise<Response> => {
    if (stateless) return begin(request, message);
    const id = request.headers.get("mcp-session-id") ?? "";
    const session = sessions.get(id);
    if (session !== undefined) return session.answer(request, message);
    const ended = "Session not found or ended. Start a new one with `initialize`.";
    if (id !== "") return refuse(404, ended, rpcCode.noSession);
    if (methodOf(message) !== "initialize" || requestIdOf(message) === undefined)
      throw new Refusal(400, "The Mcp-Session-Id header is missing.");
    if (isClosed || sessions.size >= maxSessions)
      throw new Refusal(503, "Too many sessions. Try again later.", { "retry-after": "60" });
    return begin(request, message);
  };

  /** Answers a request after its checks, in this order. Rejects with `Refusal`. */
  const answer = async (request: HttpRequest, isAllowedOrigin: boolean): Promise<Response> => {
    const { method, target, headers, over } = request;
    // A probe needs neither a token nor a known host.
    if (options.health === true && target.split("?", 1)[0] === "/healthz") {
      checkMethod(request, ["GET", "HEAD"]);
      await request.read();
      return Response.json({ status: isEnding ? "ending" : "ok" }, { status: isEnding ? 503 : 200 });
    }
    checkPlace(request, isAllowedOrigin);
    if (method === "OPTIONS" && isAllowedOrigin) {
      const preflight = {
        "access-control-allow-methods": methods.join(", "),
        "access-control-allow-headers": headers.get("access-control-request-headers") ?? "",
      };
      await request.read();
      return new Response(null, { status: 204, headers: preflight });
    }
    checkPath(request, path);
    if (digest !== undefined)
      checkToken(request, (sent) => timingSafeEqual(digestOf(sent), digest) || undefined, tokenMessages);
    checkMethod(request, methods);
    const body = await request.read();
    const parsed = method === "POST" ? parseMessage(body) : { value: undefined };
    if ("fault" in parsed) return refuse(400, parsed.fault, parsed.code);
    const { value: message } = parsed;
    if (Array.isArray(message)) return refuse(400, "Batches are not supported.", rpcCode.request);
    // A subscription would never end by itself.
    if (requestIdOf(message) !== undefined && methodOf(message) !== "subscriptions/listen") {
      const ended = once(over, "abort").finally(() => open.delete(ended));
      open.add(ended);
    }
    const isClaimed = () => isOfModernClient(message) || isModern(headers.get("mcp-protocol-version") ?? "");
    if (protocol !== "modern" && !(method === "POST" && isClaimed())) return answerLegacy(request, message);
    if (protocol !== "legacy") return modern.answer(toRequest(request), message, over);
    // Without a code of the modern revisions, so that clients fall back to `initialize`.
    const text = "Only clients of revisions up to 2025-11-25 are served. Start with `initialize`.";
    return refuse(400, text, rpcCode.refused, requestIdOf(message));
  };

  const server = await listenForHttp({
    host,
    port,
    maxBodyBytes: 4 * 1024 * 1024,
    headersTimeoutMs: 10_000,
    bodyTimeoutMs: 60_000,
    // Streams send a comment every 15 s.
    idleTimeoutMs: 120_000,
    maxConnections: 5120,
    ...options.limits,
    async answer(request) {
      const origin = request.headers.get("origin") ?? "";
      const isAllowedOrigin = origins.has(origin);
      const response = await answer(request, isAllowedOrigin).catch((error) =>
        error instanceof Refusal
          ? refuse(error.status, error.message, undefined, null, error.headers)
          : refuse(500, "The server failed.", rpcCode.internal),
      );
      if (!isAllowedOrigin) return response;
      // Pages of the origins that the operator allows, and of no others, may read answers (CORS).
      const { headers } = response;
      headers.set("access-control-allow-origin", origin);
      headers.set("access-control-expose-headers", "Mcp-Session-Id, Mcp-Protocol-Version");
      headers.set("vary", "Origin");
      return response;
    },
  }).catch((error: Error) => {
    const hint = "Pass another address or port; port 0 selects a free one.";
    const reason = `cannot listen on ${hostInUrl(host)}:${port}: ${error.message}`;
    throw failure("ServerStartFailed", { label, reason, hint }, {}, { cause: error });
  });

  return {
    url: `http://${hostInUrl(host)}:${server.port}${path}`,
    /** Resolves when no request of now is under way, at the latest after `limitMs`. Probes get 503 from now on. */
    drain: async (limitMs: number) => {
      isEnding = true;
      await atMost(Promise.all(open), limitMs);
    },
    /** Stops accepting requests, ends the sessions, and destroys open requests after the grace period. Idempotent. */
    close: async () => {
      const closed = server.close(graceMs);
      isClosed = true;
      const ends = [...sessions.values()].map((session) => session.close());
      // A server that does not close must not block the exit.
      await atMost(Promise.all([...ends, modern.close()]), graceMs);
      await closed;
    },
  };
}
