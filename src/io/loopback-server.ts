// The one place that listens for HTTP on loopback: framing, limits and endings of connections, nothing of what is said.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { faultOf, formatRaw, readBody, sendWhole, timerMs, writeRefusal } from "./http-answers.ts";

/** What is known of a request before its body. */
export interface RequestHead {
  readonly method: string;
  /** As in the request line: path and query, not decoded. */
  readonly target: string;
  /** Every value of the header of that lower-case name, in order. */
  headerValues(name: string): readonly string[];
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
}

/** Answers a request whose body has come. `signal` aborts when the client hangs up or the server closes. */
export type BodyHandler = (body: Uint8Array, signal: AbortSignal) => Promise<Answer>;

/** What can be wrong with a request as HTTP, as a status. */
export type TransportFault = 400 | 405 | 408 | 413 | 431;

export interface LoopbackServerOptions {
  /** Looks at a request before its body is read. An answer is a refusal: the connection ends after it. Must not throw. */
  admit(head: RequestHead, port: number): Answer | BodyHandler;
  refuse(fault: TransportFault): Answer;
  /** The largest body, counted as it arrives. */
  maxBodyBytes: number;
  /** From the end of the headers to the end of the body. */
  bodyTimeoutMs: number;
  /** For the request line and headers, also of a connection that never sends any. */
  headersTimeoutMs: number;
  /** A connection on which nothing moves for so long is dropped; longer than the longest answer takes. */
  idleTimeoutMs: number;
  maxConnections: number;
}

export interface LoopbackServer {
  readonly port: number;
  /** Aborts what is under way, lets it answer at once, and destroys every connection. Idempotent. */
  close(): Promise<void>;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly aborter: AbortController;
}

/** A connection and its requests that are not answered yet; with pipelining there can be several. */
interface Connection {
  readonly exchanges: Set<Exchange>;
  /** Nothing more is taken from it. */
  isEnding: boolean;
}

/** How long a refused client may go on sending: destroyed at once, the connection would take the answer with it. */
const lingerMs = 1000;
const maximumHeaderBytes = 16 * 1024;
const keepAliveMs = 60_000;

class HttpLoopbackServer implements LoopbackServer {
  readonly #options: LoopbackServerOptions;
  readonly #server: Server;
  readonly #connections = new Map<Duplex, Connection>();
  #closing: Promise<void> | undefined;

  constructor(options: LoopbackServerOptions) {
    this.#options = options;
    this.#server = createServer({
      headersTimeout: timerMs(options.headersTimeoutMs),
      // Behind the limit of the body, should that ever fail.
      requestTimeout: timerMs(options.headersTimeoutMs + options.bodyTimeoutMs + lingerMs),
      connectionsCheckingInterval: Math.min(1000, timerMs(options.headersTimeoutMs)),
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: maximumHeaderBytes,
      requireHostHeader: false,
    });
    this.#server.timeout = timerMs(options.idleTimeoutMs);
    this.#server.maxConnections = options.maxConnections;
    // Their bytes are limited; by number, Node would leave some out, and those could be the ones that count.
    this.#server.maxHeadersCount = 0;
    this.#server
      .on("connection", (socket) => this.#connect(socket))
      .on("request", (request, response) => this.#take(request, response, false))
      .on("checkContinue", (request, response) => this.#take(request, response, true))
      .on("checkExpectation", (request, response) => this.#take(request, response, false))
      .on("connect", (_request, socket) => this.#breakOff(socket, 405))
      .on("clientError", (error, socket) => this.#breakOff(socket, faultOf(error)));
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, "127.0.0.1", () => {
        this.#server.off("error", reject);
        // A connection that cannot be accepted, for want of descriptors, is the client's to retry.
        this.#server.on("error", () => {});
        this.#server.unref();
        resolve();
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const { exchanges } of this.#connections.values()) {
      for (const { aborter } of exchanges) aborter.abort();
    }
    await nextTurn();
    for (const socket of this.#connections.keys()) socket.destroy();
    await closed;
  }

  #connect(socket: Socket): void {
    socket.unref();
    const connection: Connection = { exchanges: new Set(), isEnding: false };
    this.#connections.set(socket, connection);
    // One listener a connection: the response of a pipelined request is not told when its client goes.
    socket.once("close", () => {
      this.#connections.delete(socket);
      for (const { aborter } of connection.exchanges) aborter.abort();
      connection.exchanges.clear();
    });
  }

  #take(request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void {
    const connection = this.#connections.get(request.socket);
    if (connection === undefined || connection.isEnding) return;
    const exchange: Exchange = { request, response, aborter: new AbortController() };
    connection.exchanges.add(exchange);
    request.on("error", () => {});
    response.on("error", () => {});
    response.once("close", () => connection.exchanges.delete(exchange));

    const values = request.headersDistinct;
    const head: RequestHead = {
      method: request.method ?? "",
      target: request.url ?? "",
      headerValues: (name) => (Object.hasOwn(values, name) ? (values[name] ?? []) : []),
    };
    const { admit, refuse, maxBodyBytes } = this.#options;
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

  async #answer(connection: Connection, exchange: Exchange, handle: BodyHandler): Promise<void> {
    const { request, response, aborter } = exchange;
    const body = await readBody(request, this.#options.maxBodyBytes, this.#options.bodyTimeoutMs);
    if (body === "gone" || response.headersSent || !connection.exchanges.has(exchange)) return;
    if (typeof body === "number") {
      this.#refuse(connection, exchange, this.#options.refuse(body));
      return;
    }
    const answer = await handle(body, aborter.signal);
    if (request.socket.destroyed) return;
    sendWhole(response, answer);
    response.once("finish", () => {
      connection.exchanges.delete(exchange);
      if (connection.isEnding && connection.exchanges.size === 0) request.socket.destroySoon();
    });
  }

  /** Sends the answer, and ends the connection once the client has stopped sending or had the time to. */
  #refuse(connection: Connection, { request, response }: Exchange, answer: Answer): void {
    connection.isEnding = true;
    writeRefusal(request, response, answer, lingerMs);
  }

  /** What came is no request of ours: answers that, unless an answer that is owed would be taken for it. */
  #breakOff(socket: Duplex, fault: TransportFault): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    const exchanges = [...connection.exchanges];
    const isOwed = exchanges.some(({ request, response }) => request.complete || response.headersSent);
    const wasEnding = connection.isEnding;
    connection.isEnding = true;
    // What is owed is sent first, and ends the connection.
    if (isOwed || wasEnding) return;
    connection.exchanges.clear();
    socket.end(formatRaw(this.#options.refuse(fault)));
    setTimeout(() => socket.destroy(), lingerMs).unref();
  }
}

/** Listens on 127.0.0.1, on a port that the system picks. Keeps no process alive. */
export async function listenOnLoopback(options: LoopbackServerOptions): Promise<LoopbackServer> {
  const server = new HttpLoopbackServer(options);
  await server.listen();
  return server;
}
