// The only HTTP listener: framing, limits, the lifetime of connections, and streamed answers. It does not interpret
// requests.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { timerMs } from "../../runtime/abort-listeners.ts";
import {
  type Answer,
  formatRaw,
  type Refusal,
  type RequestHead,
  readBody,
  refusalOf,
  type StreamedAnswer,
  sendStream,
  sendWhole,
  writeRefusal,
} from "./http-answers.ts";

/** Answers a request after its body has arrived. `signal` aborts when the client disconnects or the server ends it. */
export type StreamingHandler = (body: Uint8Array, signal: AbortSignal) => Promise<Answer | StreamedAnswer>;

export interface HttpServerOptions {
  /** A name or an address; IPv6 without brackets. */
  host: string;
  /** 0 selects a free port. */
  port: number;
  /** Checks a request before its body is read. Returning an answer refuses it and ends the connection. Must not throw. */
  admit(head: RequestHead, port: number): Answer | StreamingHandler;
  /** The answer to a request that is invalid HTTP, exceeds a limit, or arrives while the server closes. */
  refuse(reason: Refusal): Answer;
  /** The limit of the body, counted while it arrives. */
  maxBodyBytes: number;
  /** From the end of the headers to the end of the body. */
  bodyTimeoutMs: number;
  /** The time for the request line and headers, also if the connection never sends any. */
  headersTimeoutMs: number;
  /** How long a connection may be silent. Longer than the interval of comments in a stream. */
  idleTimeoutMs: number;
  /** The limit of connections; further ones are closed at once. */
  maxConnections: number;
  /** Whether the process may exit while the server listens. Default: false. */
  isBackground?: boolean;
}

/** Both ways of closing are idempotent, and the first one counts. */
export interface HttpServer {
  readonly port: number;
  /** Accepts no more requests, and destroys unanswered ones after `graceMs`. */
  close(graceMs: number): Promise<void>;
  /** Aborts open requests, lets them answer immediately, and destroys every connection. */
  abort(): Promise<void>;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly aborter: AbortController;
}

/** A connection and its unanswered requests; pipelining allows several. */
interface Connection {
  readonly exchanges: Set<Exchange>;
  /** No more requests are accepted from it. */
  isEnding: boolean;
}

/** How long a refused client may keep sending: destroying the connection now could discard the answer. Milliseconds. */
const lingerMs = 1000;
const maximumHeaderBytes = 16 * 1024;
const keepAliveMs = 60_000;

class NodeHttpServer implements HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  readonly #connections = new Map<Duplex, Connection>();
  #closing: Promise<void> | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#server = createServer({
      headersTimeout: timerMs(options.headersTimeoutMs),
      // A safety net for the timeout of the body.
      requestTimeout: timerMs(options.headersTimeoutMs + options.bodyTimeoutMs + lingerMs),
      connectionsCheckingInterval: Math.min(1000, timerMs(options.headersTimeoutMs)),
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: maximumHeaderBytes,
      requireHostHeader: false,
      noDelay: true,
    });
    this.#server.timeout = timerMs(options.idleTimeoutMs);
    this.#server.maxConnections = options.maxConnections;
    // Headers are limited by bytes. A limit by number would silently drop some, possibly the ones that are checked.
    this.#server.maxHeadersCount = 0;
    this.#server
      .on("connection", (socket) => this.#connect(socket))
      .on("request", (request, response) => this.#take(request, response, false))
      .on("checkContinue", (request, response) => this.#take(request, response, true))
      .on("checkExpectation", (request, response) => this.#take(request, response, false))
      .on("connect", (_request, socket) => this.#breakOff(socket, 405))
      .on("clientError", (error, socket) => this.#breakOff(socket, refusalOf(error)));
  }

  listen(): Promise<void> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ host, port, exclusive: true }, () => {
        this.#server.off("error", reject);
        // The client retries a connection that cannot be accepted for lack of file descriptors.
        this.#server.on("error", () => {});
        if (this.#options.isBackground) this.#server.unref();
        resolve();
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? this.#options.port;
  }

  close(graceMs: number): Promise<void> {
    this.#closing ??= this.#endGently(graceMs);
    return this.#closing;
  }

  abort(): Promise<void> {
    this.#closing ??= this.#endAtOnce();
    return this.#closing;
  }

  /** Resolves when the last connection is closed. */
  async #stopListening(): Promise<void> {
    // Node's HTTP server would destroy connections to which an answer is still being sent.
    await new Promise<void>((resolve) => {
      NetServer.prototype.close.call(this.#server, () => resolve());
    });
    // Ends its timer.
    this.#server.close();
  }

  #destroyConnections(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  async #endGently(graceMs: number): Promise<void> {
    const closed = this.#stopListening();
    for (const [socket, connection] of this.#connections) {
      connection.isEnding = true;
      if (connection.exchanges.size === 0) socket.destroy();
    }
    const grace = setTimeout(() => this.#destroyConnections(), timerMs(graceMs));
    await closed;
    clearTimeout(grace);
  }

  async #endAtOnce(): Promise<void> {
    const closed = this.#stopListening();
    for (const { exchanges } of this.#connections.values()) {
      for (const { aborter } of exchanges) aborter.abort();
    }
    await nextTurn();
    this.#destroyConnections();
    await closed;
  }

  #connect(socket: Socket): void {
    if (this.#options.isBackground) socket.unref();
    const connection: Connection = { exchanges: new Set(), isEnding: false };
    this.#connections.set(socket, connection);
    // On the socket, because the response of a pipelined request does not notice a disconnect.
    socket.once("close", () => {
      this.#connections.delete(socket);
      const open = [...connection.exchanges];
      connection.exchanges.clear();
      for (const { aborter } of open) aborter.abort();
    });
  }

  #take(request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void {
    const connection = this.#connections.get(request.socket);
    if (connection === undefined || (connection.isEnding && this.#closing === undefined)) return;
    const exchange: Exchange = { request, response, aborter: new AbortController() };
    connection.exchanges.add(exchange);
    request.on("error", () => {});
    response.on("error", () => {});
    response.once("close", () => connection.exchanges.delete(exchange));

    const { admit, refuse, maxBodyBytes } = this.#options;
    if (this.#closing !== undefined) {
      this.#refuse(connection, exchange, refuse(503));
      return;
    }
    const values = request.headersDistinct;
    const head: RequestHead = {
      method: request.method ?? "",
      target: request.url ?? "",
      address: request.socket.remoteAddress ?? "",
      headerValues: (name) => (Object.hasOwn(values, name) ? (values[name] ?? []) : []),
    };
    const admitted = admit(head, this.port);
    if (typeof admitted !== "function") {
      this.#refuse(connection, exchange, admitted);
    } else if (Number(request.headers["content-length"]) > maxBodyBytes) {
      this.#refuse(connection, exchange, refuse(413));
    } else {
      if (awaitsContinue) response.writeContinue();
      this.#answer(connection, exchange, admitted).catch(() => request.socket.destroy());
    }
  }

  async #answer(connection: Connection, exchange: Exchange, handle: StreamingHandler): Promise<void> {
    const { request, response, aborter } = exchange;
    const body = await readBody(request, this.#options.maxBodyBytes, this.#options.bodyTimeoutMs);
    if (body === "gone" || response.headersSent || !connection.exchanges.has(exchange)) return;
    if (typeof body === "number") {
      this.#refuse(connection, exchange, this.#options.refuse(body));
      return;
    }
    const answer = await handle(body, aborter.signal);
    const onSent = () => answer.onSent?.();
    if (response.closed) onSent();
    else response.once("close", onSent);
    response.once("finish", () => {
      connection.exchanges.delete(exchange);
      if (connection.isEnding && connection.exchanges.size === 0) request.socket.destroySoon();
    });
    if ("stream" in answer) await sendStream(response, answer, aborter.signal);
    else if (!request.socket.destroyed) sendWhole(response, answer);
  }

  /** Sends the answer, and ends the connection when the client has stopped sending, or after a while. */
  #refuse(connection: Connection, { request, response }: Exchange, answer: Answer): void {
    connection.isEnding = true;
    writeRefusal(request, response, answer, lingerMs);
  }

  /** Answers input that is not a request, unless the client would take the answer for one to an earlier request. */
  #breakOff(socket: Duplex, reason: Refusal): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    const exchanges = [...connection.exchanges];
    const isOwed = exchanges.some(({ request, response }) => request.complete || response.headersSent);
    const wasEnding = connection.isEnding;
    connection.isEnding = true;
    // The outstanding answer is sent first, and ends the connection.
    if (isOwed || wasEnding) return;
    connection.exchanges.clear();
    socket.end(formatRaw(this.#options.refuse(reason)));
    setTimeout(() => socket.destroy(), lingerMs).unref();
  }
}

/** Starts to listen. Rejects with Node's error. */
export async function listenForHttp(options: HttpServerOptions): Promise<HttpServer> {
  const server = new NodeHttpServer(options);
  await server.listen();
  return server;
}
