// Legacy clients over HTTP: each has a session, or each request a server of its own.
import { randomUUID } from "node:crypto";
import {
  type JSONRPCMessage,
  type TransportSendOptions,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { markIntegers } from "../../data/exact-integers.ts";
import { timerMs, whenAborted } from "../../runtime/abort-listeners.ts";
import type { Clock } from "../../runtime/time-limit.ts";
import {
  cancelledIdOf,
  methodOf,
  type RequestId,
  RpcError,
  requestIdOf,
  rpcCode,
} from "../client-message.ts";
import { checkParams } from "../mcp-server.ts";
import type { CreateProtocolServer, ProtocolServer } from "../served-server.ts";
import type { RequestHead } from "./http-server.ts";

/** Headers that neither the protocol nor handlers may see. */
const secret = ["authorization", "cookie", "proxy-authorization"];

/** A request for the SDK, which gets its body as a parsed message. A client that accepts anything accepts what the protocol needs. */
export function toRequest({ method, headers: written, over: signal }: RequestHead): Request {
  const headers = new Headers(written);
  for (const name of secret) headers.delete(name);
  const accept = headers.get("accept");
  if (accept === null || accept.includes("*/*")) headers.set("accept", "application/json, text/event-stream");
  // The SDK requires a URL but does not use it.
  return new Request("http://localhost/mcp", { method, headers, signal });
}

/** An error answer to an HTTP request, with the `id` of its JSON-RPC request if that is known. */
export const refuse = (
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
export class HttpSessions {
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
