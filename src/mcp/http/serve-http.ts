// Serving over streamable HTTP: modern clients request by request, legacy ones in sessions.
import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import {
  type JSONRPCMessage,
  type TransportSendOptions,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { markIntegers } from "../../data/exact-integers.ts";
import { failure, quote } from "../../problems/index.ts";
import { atMost, timerMs, whenAborted } from "../../runtime/abort-listeners.ts";
import { type Clock, systemClock } from "../../runtime/time-limit.ts";
import { checkParams } from "../check-params.ts";
import {
  cancelledIdOf,
  isModern,
  isOfModernClient,
  methodOf,
  noBatches,
  parseMessage,
  type RequestId,
  RpcError,
  requestIdOf,
  rpcCode,
} from "../client-message.ts";
import type {
  CreateProtocolServer,
  ModernHttpServer,
  ProtocolServer,
  ServedProtocol,
} from "../served-server.ts";
import {
  checkHttpTransport,
  createHostCheck,
  type HttpTransport,
  hostInUrl,
  hostOf,
} from "./http-options.ts";
import {
  checkEncoding,
  checkMethod,
  checkPath,
  checkToken,
  type Handler,
  type HttpServer,
  listenForHttp,
  type Refusal,
  type RequestHead,
} from "./http-server.ts";

const path = "/mcp";

export interface ServeHttpOptions extends HttpTransport {
  /** The server's name in messages. */
  label: string;
  /** Serves modern clients. Default: only legacy clients are served. */
  modern?: ModernHttpServer;
  /** Which clients are served if there is a server for both. Default: both. */
  protocol?: ServedProtocol;
  /** Default: 4 MiB. */
  maxBodyBytes?: number;
  /** How long open requests may take when the server closes. Default: 2 s. */
  graceMs?: number;
  /** Limits of connections; not documented for users. */
  connections?: {
    headersTimeoutMs?: number;
    bodyTimeoutMs?: number;
    idleTimeoutMs?: number;
    max?: number;
  };
  /** The time that sessions go by; tests pass their own. */
  clock?: Clock;
}

export interface ServedOverHttp {
  /** `http://HOST:PORT/mcp` */
  readonly url: string;
  /** Resolves when no request is under way, at the latest after `limitMs`. Probes get 503 from now on. */
  drain(limitMs: number): Promise<void>;
  /** Stops accepting requests, ends the sessions, and destroys open requests after the grace period. Idempotent. */
  close(): Promise<void>;
}

const tokenMessages = {
  missing: "A token is required: send it as `Authorization: Bearer <token>`.",
  invalid: "The token is invalid.",
};

const digestOf = (token: string): Uint8Array => createHash("sha256").update(token).digest();

/** Lets pages of the origins that the operator allows, and of no others, send requests and read answers (CORS). */
function createCors({ allowedOrigins = [] }: HttpTransport, methods: readonly string[]) {
  const origins = new Set(allowedOrigins.map((text) => text.toLowerCase().replace(/\/$/, "")));
  const isAllowed = ({ headers }: RequestHead) => origins.has(headers.get("origin") ?? "");
  return {
    isAllowed,
    /** The answer to a browser that asks if a page may send a request. */
    answerPreflight(head: RequestHead): Handler | undefined {
      if (head.method !== "OPTIONS" || !isAllowed(head)) return undefined;
      const headers = {
        "access-control-allow-methods": methods.join(", "),
        "access-control-allow-headers": head.headers.get("access-control-request-headers") ?? "",
      };
      return async () => new Response(null, { status: 204, headers });
    },
    permit(head: RequestHead, answer: Response): Response {
      if (!isAllowed(head)) return answer;
      answer.headers.set("access-control-allow-origin", head.headers.get("origin") as string);
      answer.headers.set("access-control-expose-headers", "Mcp-Session-Id, Mcp-Protocol-Version");
      answer.headers.set("vary", "Origin");
      return answer;
    },
  };
}

type Cors = ReturnType<typeof createCors>;

/** Checks Host, Origin, path, token, method and encoding of a request before its body, in this order. */
function createHeadCheck(options: ServeHttpOptions, methods: readonly string[], cors: Cors) {
  const { token, allowedHosts = [] } = options;
  const isOurHost = createHostCheck(hostOf(options), allowedHosts);
  const digest = token === undefined ? undefined : digestOf(token);
  const findToken = (sent: string) =>
    digest === undefined || timingSafeEqual(digestOf(sent), digest) || undefined;
  const isOurOrigin = (origin: string, port: number): boolean => {
    const { protocol, host, origin: canonical } = URL.canParse(origin) ? new URL(origin) : {};
    if (host === undefined || canonical !== origin || !/^https?:$/.test(protocol ?? "")) return false;
    return isOurHost(host, port, protocol === "https:" ? 443 : 80);
  };
  const refuseName = (header: string, value: string): Refusal => {
    const message = `The ${header} header ${quote(value, 200)} is not of this server. If clients use it, pass it with --allowed-${header.toLowerCase()}.`;
    return { status: 403, message };
  };
  const checkPlace = (head: RequestHead, port: number): Refusal | undefined => {
    const host = head.headers.get("host") ?? "";
    const origin = head.headers.get("origin");
    if (!isOurHost(host, port, 80)) return refuseName("Host", host);
    if (origin === null || cors.isAllowed(head) || isOurOrigin(origin, port)) return undefined;
    return refuseName("Origin", origin);
  };
  const refuseToken = (head: RequestHead): Refusal | undefined => {
    const checked = checkToken(head, findToken, tokenMessages);
    return digest !== undefined && "refusal" in checked ? checked.refusal : undefined;
  };
  return (head: RequestHead, port: number): Refusal | Handler | undefined =>
    checkPlace(head, port) ??
    cors.answerPreflight(head) ??
    checkPath(head, path) ??
    refuseToken(head) ??
    checkMethod(head, methods) ??
    checkEncoding(head);
}

/** Headers that neither the protocol nor handlers may see. */
const secret = ["authorization", "cookie", "proxy-authorization"];

/** A request for the SDK, which gets its body as a parsed message. A client that accepts anything accepts what the protocol needs. */
function toRequest({ method, headers: written, over: signal }: RequestHead): Request {
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
  {
    code = rpcCode.refused,
    id,
    headers,
  }: {
    code?: number;
    id?: RequestId | undefined;
    headers?: Readonly<Record<string, string>>;
  } = {},
): Response =>
  Response.json({ jsonrpc: "2.0", error: { code, message }, id: id ?? null }, { status, headers });

interface SessionOptions {
  stateless: boolean;
  /** How long a session without open requests and streams lasts. */
  sessionTtlMs: number;
  clock: Clock;
}

/**
 * One client's session. Adds to the SDK's transport: a disconnect cancels its requests, because nothing is kept for a later
 * connection; canceling a request ends its stream, although it gets no answer; and when the session ends, open requests
 * are answered with an error.
 */
class HttpSession extends WebStandardStreamableHTTPServerTransport {
  readonly #server: ProtocolServer;
  readonly #options: SessionOptions;
  readonly #onEnd: () => void;
  /** Requests that are neither answered nor canceled. */
  readonly #open = new Set<RequestId>();
  #underWay = 0;
  #cancelExpiry: (() => void) | undefined;
  #isEnded = false;

  constructor(id: string, server: ProtocolServer, options: SessionOptions, onEnd: () => void) {
    super(options.stateless ? {} : { sessionIdGenerator: () => id });
    this.#server = server;
    this.#options = options;
    this.#onEnd = onEnd;
  }

  async connect(): Promise<void> {
    await this.#server.connect(this);
    // The server replaced the listener. If it closes the transport, the session ends, too.
    const { onclose } = this;
    this.onclose = () => {
      onclose?.();
      void this.end();
    };
  }

  async answer(head: RequestHead, message: unknown): Promise<Response> {
    const id = requestIdOf(message);
    if (id !== undefined && this.#open.has(id))
      return refuse(400, "A request with this id is already in progress.", { code: rpcCode.request });
    if (id !== undefined) this.#open.add(id);
    this.#underWay++;
    this.#cancelExpiry?.();
    const answer = await this.handleRequest(toRequest(head), { parsedBody: message });
    const cancelled = cancelledIdOf(message);
    if (cancelled !== undefined) this.#forget(cancelled);
    // A refusal of the SDK.
    if (id !== undefined && !answer.ok) this.#open.delete(id);
    if (head.over.aborted) this.#leave(id);
    else whenAborted(head.over, () => this.#leave(id));
    return answer;
  }

  override send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!("method" in message) && message.id !== undefined) this.#open.delete(message.id);
    return super.send(markIntegers(message), options);
  }

  override async close(): Promise<void> {
    const error = { code: rpcCode.refused, message: "The session has ended." };
    for (const id of [...this.#open]) await this.send({ jsonrpc: "2.0", id, error }).catch(() => {});
    await super.close();
  }

  /** Closes the session's server, which aborts its calls. Never rejects. Idempotent. */
  async end(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#cancelExpiry?.();
    this.#onEnd();
    await this.#server.close().catch(() => {});
    await this.close().catch(() => {});
  }

  /** The stream of an answer has ended, or the client has disconnected. */
  #leave(id: RequestId | undefined): void {
    if (id !== undefined && this.#open.has(id)) {
      const params = { requestId: id, reason: "The client closed the connection." };
      this.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params });
      this.#forget(id);
    }
    this.#underWay--;
    const { stateless, sessionTtlMs, clock } = this.#options;
    if (stateless) void this.end();
    else if (this.#underWay === 0 && !this.#isEnded)
      this.#cancelExpiry = clock.after(timerMs(sessionTtlMs), () => void this.end());
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

const noSession = () =>
  refuse(404, "Session not found or ended. Start a new one with `initialize`.", { code: rpcCode.noSession });

/** Sessions by their ids. A session starts with `initialize`, and ends with DELETE, by being idle, or with the server. */
class HttpSessions {
  readonly #create: CreateProtocolServer;
  readonly #options: SessionOptions & { maxSessions: number };
  readonly #sessions = new Map<string, HttpSession>();
  #isClosed = false;

  constructor(create: CreateProtocolServer, options: SessionOptions & { maxSessions: number }) {
    this.#create = create;
    this.#options = options;
  }

  /** `message`: the parsed JSON; `undefined` for a method without a body. */
  async answer(head: RequestHead, message: unknown): Promise<Response> {
    if (this.#options.stateless) return this.#begin(head, message);
    const id = head.headers.get("mcp-session-id") || undefined;
    if (id !== undefined) return this.#sessions.get(id)?.answer(head, message) ?? noSession();
    if (methodOf(message) !== "initialize" || requestIdOf(message) === undefined)
      return refuse(400, "The Mcp-Session-Id header is missing.");
    try {
      // The SDK's transport takes an invalid one for another request.
      checkParams("initialize", (message as { params?: unknown }).params);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return refuse(400, error.message, { code: error.code, id: requestIdOf(message) });
    }
    if (this.#isClosed || this.#sessions.size >= this.#options.maxSessions)
      return refuse(503, "Too many sessions. Try again later.", { headers: { "retry-after": "60" } });
    return this.#begin(head, message);
  }

  /** Ends all sessions. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#sessions.values()].map((session) => session.end()));
  }

  async #begin(head: RequestHead, message: unknown): Promise<Response> {
    const id = randomUUID();
    const server = this.#create({ sessionId: id });
    const session = new HttpSession(id, server, this.#options, () => this.#sessions.delete(id));
    this.#sessions.set(id, session);
    try {
      await session.connect();
      const answer = await session.answer(head, message);
      if (!this.#options.stateless && session.sessionId === undefined) await session.end();
      return answer;
    } catch (error) {
      await session.end();
      throw error;
    }
  }
}

/**
 * Serves at `/mcp` over streamable HTTP until it is closed, and keeps the process alive. Requests of modern clients are
 * served on their own, all others in sessions. Throws `InvalidArguments` for a missing or unusable token, and
 * `ServerStartFailed` if it cannot listen.
 */
export async function serveHttp(
  create: CreateProtocolServer,
  options: ServeHttpOptions,
): Promise<ServedOverHttp> {
  checkHttpTransport(options);
  const { label, port = 0, stateless = false, modern, connections = {}, graceMs = 2000 } = options;
  const host = hostOf(options);
  const protocol = modern === undefined ? "legacy" : (options.protocol ?? "both");
  const methods = stateless || protocol === "modern" ? ["POST"] : ["GET", "POST", "DELETE"];
  const cors = createCors(options, methods);
  const checkHead = createHeadCheck(options, methods, cors);
  const sessions = new HttpSessions(create, {
    stateless,
    sessionTtlMs: (options.sessionTtl ?? 1800) * 1000,
    maxSessions: options.maxSessions ?? 1000,
    clock: options.clock ?? systemClock,
  });
  const open = new Set<AbortSignal>();
  let isEnding = false;
  let whenIdle = () => {};

  /** The answer to a probe, which needs neither a token nor a known host; `undefined` for another path. */
  const answerProbe = (head: RequestHead): Refusal | Handler | undefined => {
    if (options.health !== true || checkPath(head, "/healthz") !== undefined) return undefined;
    const [code, status] = isEnding ? [503, "ending"] : [200, "ok"];
    return checkMethod(head, ["GET", "HEAD"]) ?? (async () => Response.json({ status }, { status: code }));
  };
  const answer = async (head: RequestHead, body: Uint8Array): Promise<Response> => {
    const { over } = head;
    const parsed = head.method === "POST" ? parseMessage(body) : { value: undefined };
    if ("fault" in parsed) return refuse(400, parsed.fault, { code: parsed.code });
    const { value: message } = parsed;
    if (Array.isArray(message)) return refuse(400, noBatches, { code: rpcCode.request });
    // A subscription would never end by itself.
    if (requestIdOf(message) !== undefined && methodOf(message) !== "subscriptions/listen") {
      open.add(over);
      whenAborted(over, () => {
        open.delete(over);
        if (open.size === 0) whenIdle();
      });
    }
    const isClaimed = () =>
      isOfModernClient(message) || isModern(head.headers.get("mcp-protocol-version") ?? "");
    if (protocol !== "modern" && !(head.method === "POST" && isClaimed()))
      return sessions.answer(head, message);
    if (modern !== undefined && protocol !== "legacy") return modern.answer(toRequest(head), message, over);
    // Without a code of the modern revisions, so that clients fall back to `initialize`.
    const text = "Only clients of revisions up to 2025-11-25 are served. Start with `initialize`.";
    return refuse(400, text, { id: requestIdOf(message) });
  };
  const failed = () => refuse(500, "The server failed.", { code: rpcCode.internal });

  let server: HttpServer;
  try {
    server = await listenForHttp({
      host,
      port,
      maxBodyBytes: options.maxBodyBytes ?? 4 * 1024 * 1024,
      headersTimeoutMs: connections.headersTimeoutMs ?? 10_000,
      bodyTimeoutMs: connections.bodyTimeoutMs ?? 60_000,
      // Streams send a comment every 15 s.
      idleTimeoutMs: connections.idleTimeoutMs ?? 120_000,
      maxConnections: connections.max ?? 5120,
      formatRefusal: ({ status, message, headers }, head) =>
        cors.permit(head, refuse(status, message, { headers })),
      admit(head, bound) {
        const admitted = answerProbe(head) ?? checkHead(head, bound) ?? ((body) => answer(head, body));
        if (typeof admitted !== "function") return admitted;
        return async (body) => cors.permit(head, await admitted(body).catch(failed));
      },
    });
  } catch (error) {
    const hint = "Pass another address or port; port 0 selects a free one.";
    const reason = `cannot listen on ${hostInUrl(host)}:${port}: ${(error as Error).message}`;
    throw failure("ServerStartFailed", { label, reason, hint }, {}, { cause: error });
  }

  return {
    url: `http://${hostInUrl(host)}:${server.port}${path}`,
    drain: async (limitMs) => {
      isEnding = true;
      const idle = new Promise<void>((resolve) => {
        whenIdle = resolve;
      });
      if (open.size > 0) await atMost(idle, limitMs);
    },
    close: async () => {
      const closed = server.close(graceMs);
      // A server that does not close must not block the exit.
      await atMost(Promise.all([sessions.close(), modern?.close()]), graceMs);
      await closed;
    },
  };
}
