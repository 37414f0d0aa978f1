// The only HTTP listener, for clients and for callbacks. It does not interpret requests.
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { unmarkBytes, unmarkText } from "../../data/exact-integers.ts";
import { timerMs } from "../../runtime/abort-listeners.ts";

/** A request before its body is read. */
export interface RequestHead {
  readonly method: string;
  /** Path and query as in the request line, not decoded. */
  readonly target: string;
  /** Every value of each header, in order, by the header's lower-case name. The object has no prototype. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON text, or a stream of events. */
  readonly body: string | ReadableStream<Uint8Array>;
}

/** Why a request fails as HTTP, as a status. */
export type Refusal = 400 | 405 | 408 | 413 | 431;

/** Answers a request after its body has arrived. `over` aborts when the answer is sent, or the client has disconnected. */
export type Handler = (body: Uint8Array, over: AbortSignal) => Promise<Answer>;

export interface HttpServerOptions {
  /** A name or an address; IPv6 without brackets. */
  host: string;
  /** 0 selects a free port. */
  port: number;
  /** Checks a request before its body is read. Returning an answer refuses it and ends the connection. Must not throw. */
  admit(head: RequestHead, port: number): Answer | Handler;
  /** The answer to a request that is invalid HTTP or exceeds a limit. */
  refuse(reason: Refusal): Answer;
  /** The limit of the body, counted while it arrives. */
  maxBodyBytes: number;
  /** The time for a whole request. */
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

export interface HttpServer {
  readonly port: number;
  /** Accepts no more requests, and destroys the connections of unanswered ones after `graceMs`. Idempotent. */
  close(graceMs: number): Promise<void>;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly over: AbortController;
}

/** A connection and its unanswered requests; a client may send several at once. */
interface Connection {
  readonly open: Set<Exchange>;
  /** No more requests are accepted from it. */
  isEnding: boolean;
}

/** How long a refused client may keep sending: destroying the connection now could discard the answer. Milliseconds. */
const lingerMs = 1000;
const ignore = () => {};

/** A response of the SDK as an answer. */
export async function toAnswer(response: Response): Promise<Answer> {
  // Node manages the connection itself.
  response.headers.delete("connection");
  const { status, body } = response;
  const headers = Object.fromEntries(response.headers);
  const isStream = headers["content-type"]?.startsWith("text/event-stream") === true;
  if (isStream && body !== null) return { status, headers, body: body as ReadableStream<Uint8Array> };
  return { status, headers, body: unmarkText(await response.text()) };
}

function headersOf({ headers, body, status }: Answer): Record<string, string> {
  const all: Record<string, string> = { "x-content-type-options": "nosniff" };
  if (typeof body === "string") all["cache-control"] = "no-store";
  if (typeof body === "string" && body !== "") all["content-type"] = "application/json";
  if (typeof body === "string" && status !== 204) all["content-length"] = String(Buffer.byteLength(body));
  return { ...all, ...headers };
}

/** An answer as text, for a connection without a response object. */
function formatRaw(answer: Answer): string {
  const headers = Object.entries({ ...headersOf(answer), connection: "close" });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ""}\r\n${lines}\r\n${answer.body}`;
}

/** The error for a request that Node cannot parse, or that takes too long. */
function refusalOf(error: Error): Refusal {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "HPE_HEADER_OVERFLOW") return 431;
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return 413;
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
}

/** The body, `undefined` if it exceeds the limit. Never settles if the client disconnects before. */
function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array | undefined> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    request.on("data", (chunk: Uint8Array) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else resolve(undefined);
    });
    request.once("end", () => resolve(Buffer.concat(chunks)));
  });
}

/** Sends the stream as fast as the client reads, and cancels it when the client disconnects. */
async function sendStream(
  response: ServerResponse,
  stream: ReadableStream<Uint8Array>,
  over: AbortSignal,
): Promise<void> {
  // Show that the stream is open before its first event.
  response.flushHeaders();
  const reader = stream.getReader();
  const cancel = () => void reader.cancel().catch(ignore);
  over.addEventListener("abort", cancel, { once: true });
  if (over.aborted) cancel();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    // A chunk of the SDK is a whole event.
    if (!response.write(unmarkBytes(value))) await once(response, "drain", { signal: over }).catch(ignore);
  }
  response.end();
}

class NodeHttpServer implements HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  readonly #connections = new Map<Duplex, Connection>();
  #closing: Promise<void> | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    const requestTimeout = timerMs(options.bodyTimeoutMs);
    const headersTimeout = Math.min(timerMs(options.headersTimeoutMs), requestTimeout);
    this.#server = createServer({
      headersTimeout,
      requestTimeout,
      connectionsCheckingInterval: Math.min(1000, headersTimeout),
      keepAliveTimeout: 60_000,
      maxHeaderSize: 16 * 1024,
      requireHostHeader: false,
      noDelay: true,
    });
    this.#server.timeout = timerMs(options.idleTimeoutMs);
    this.#server.maxConnections = options.maxConnections;
    // Headers are limited by bytes. A limit by number would silently drop some, possibly the ones that are checked.
    this.#server.maxHeadersCount = 0;
    this.#server
      .on("connection", (socket) => this.#connect(socket))
      .on("request", (request, response) => this.#take(request, response))
      .on("checkContinue", (request, response) => this.#take(request, response, true))
      .on("checkExpectation", (request, response) => this.#take(request, response))
      .on("connect", (_request, socket) => this.#breakOff(socket, 405))
      .on("clientError", (error, socket) => this.#breakOff(socket, refusalOf(error)));
  }

  async listen(): Promise<void> {
    const { host, port, isBackground } = this.#options;
    this.#server.listen({ host, port, exclusive: true });
    await once(this.#server, "listening");
    // The client retries a connection that cannot be accepted for lack of file descriptors.
    this.#server.on("error", ignore);
    if (isBackground) this.#server.unref();
  }

  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? this.#options.port;
  }

  close(graceMs: number): Promise<void> {
    this.#closing ??= this.#close(graceMs);
    return this.#closing;
  }

  async #close(graceMs: number): Promise<void> {
    // Node's HTTP server would destroy connections to which an answer is still being sent.
    const closed = new Promise<void>((resolve) => {
      NetServer.prototype.close.call(this.#server, () => resolve());
    });
    for (const [socket, connection] of this.#connections) {
      connection.isEnding = true;
      if (connection.open.size === 0) socket.destroy();
    }
    const grace = setTimeout(() => {
      for (const socket of this.#connections.keys()) socket.destroy();
    }, timerMs(graceMs));
    await closed;
    clearTimeout(grace);
    // Ends its timer.
    this.#server.close();
  }

  #connect(socket: Socket): void {
    if (this.#options.isBackground) socket.unref();
    const connection: Connection = { open: new Set(), isEnding: false };
    this.#connections.set(socket, connection);
    // On the socket, because the response of a request that waits for another one does not notice a disconnect.
    socket.once("close", () => {
      this.#connections.delete(socket);
      for (const { over } of connection.open) over.abort();
    });
  }

  #take(request: IncomingMessage, response: ServerResponse, awaitsContinue = false): void {
    const { socket } = request;
    const connection = this.#connections.get(socket);
    if (connection === undefined || connection.isEnding) return;
    const exchange: Exchange = { request, response, over: new AbortController() };
    connection.open.add(exchange);
    request.on("error", ignore);
    response.on("error", ignore);
    response.once("close", () => {
      connection.open.delete(exchange);
      exchange.over.abort();
      if (connection.isEnding && connection.open.size === 0) socket.destroySoon();
    });
    const { admit, refuse, maxBodyBytes } = this.#options;
    const { method = "", url: target = "", headersDistinct: headers } = request;
    const admitted = admit({ method, target, headers }, this.port);
    if (typeof admitted !== "function") {
      this.#refuse(connection, exchange, admitted);
    } else if (Number(request.headers["content-length"]) > maxBodyBytes) {
      this.#refuse(connection, exchange, refuse(413));
    } else {
      if (awaitsContinue) response.writeContinue();
      this.#answer(connection, exchange, admitted).catch(() => socket.destroy());
    }
  }

  async #answer(connection: Connection, exchange: Exchange, handle: Handler): Promise<void> {
    const { request, response, over } = exchange;
    const body = await readBody(request, this.#options.maxBodyBytes);
    // It may have been refused while the body arrived.
    if (!connection.open.has(exchange)) return;
    if (body === undefined) {
      this.#refuse(connection, exchange, this.#options.refuse(413));
      return;
    }
    const answer = await handle(body, over.signal);
    if (!over.signal.aborted) response.writeHead(answer.status, headersOf(answer));
    if (typeof answer.body === "string") response.end(answer.body);
    else await sendStream(response, answer.body, over.signal);
  }

  /** Sends the answer, and ends the connection when the client has stopped sending, or after a while. */
  #refuse(connection: Connection, { request, response }: Exchange, answer: Answer): void {
    connection.isEnding = true;
    response.writeHead(answer.status, { ...headersOf(answer), connection: "close" });
    response.write(answer.body);
    const timer = setTimeout(() => response.end(), lingerMs).unref();
    const end = () => {
      clearTimeout(timer);
      response.end();
    };
    if (request.readableEnded) end();
    else request.once("end", end).once("close", end).resume();
  }

  /** Answers input that is not a request, unless the client would take the answer for one to an earlier request. */
  #breakOff(socket: Duplex, reason: Refusal): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    const isOwed = [...connection.open].some(
      ({ request, response }) => request.complete || response.headersSent,
    );
    const wasEnding = connection.isEnding;
    connection.isEnding = true;
    // The outstanding answer is sent first, and ends the connection.
    if (isOwed || wasEnding) return;
    connection.open.clear();
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
