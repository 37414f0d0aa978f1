// The only HTTP listener, for clients and for callbacks. It does not interpret requests.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { unmarkBytes } from "../../data/exact-integers.ts";
import { timerMs } from "../../runtime/abort-listeners.ts";

/** A request before its body is read. */
export interface RequestHead {
  readonly method: string;
  /** Path and query as in the request line, not decoded. */
  readonly target: string;
  /** Every value of each header, in order, by the header's lower-case name. The object has no prototype. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
}

type Headers = Readonly<Record<string, string>>;

export interface Answer {
  readonly status: number;
  readonly headers?: Headers | undefined;
  /** JSON text, or a stream of events. */
  readonly body: string | ReadableStream<Uint8Array>;
}

/** Why a request is refused before its body is handled. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Headers;
}

/** Answers a request after its body has arrived. `over` aborts when the answer is sent, or the client has disconnected. */
export type Handler = (body: Uint8Array, over: AbortSignal) => Promise<Answer>;

export interface HttpServerOptions {
  /** A name or an address; IPv6 without brackets. */
  host: string;
  /** 0 selects a free port. */
  port: number;
  methods: readonly string[];
  /** Checks a request before its body is read. One that is refused ends the connection. Must not throw. */
  admit(head: RequestHead, port: number): Refusal | Handler;
  /** The answer to a request that is refused; `head` is undefined for one that is not valid HTTP. */
  formatRefusal(refusal: Refusal, head?: RequestHead): Answer;
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

function headersOf({ headers, body, status }: Answer): Headers {
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

export const refuseMethod = (methods: readonly string[]): Refusal => ({
  status: 405,
  message: `Method not allowed. Use ${methods.join(", ")}.`,
  headers: { allow: methods.join(", ") },
});

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

/** Starts to listen. Rejects with Node's error. */
export async function listenForHttp(options: HttpServerOptions): Promise<HttpServer> {
  const { admit, formatRefusal, maxBodyBytes, isBackground = false } = options;
  const requestTimeout = timerMs(options.bodyTimeoutMs);
  const headersTimeout = Math.min(timerMs(options.headersTimeoutMs), requestTimeout);
  const connections = new Map<Duplex, Connection>();
  const tooLarge = { status: 413, message: `The body exceeds ${maxBodyBytes} bytes.` };
  const server = createServer({
    headersTimeout,
    requestTimeout,
    connectionsCheckingInterval: Math.min(1000, headersTimeout),
    keepAliveTimeout: 60_000,
    maxHeaderSize: 16 * 1024,
    requireHostHeader: false,
    noDelay: true,
  });
  server.timeout = timerMs(options.idleTimeoutMs);
  server.maxConnections = options.maxConnections;
  // Headers are limited by bytes. A limit by number would silently drop some, possibly the ones that are checked.
  server.maxHeadersCount = 0;
  const port = () => (server.address() as AddressInfo | null)?.port ?? options.port;

  const connect = (socket: Socket) => {
    if (isBackground) socket.unref();
    const connection: Connection = { open: new Set(), isEnding: false };
    connections.set(socket, connection);
    // On the socket, because the response of a request that waits for another one does not notice a disconnect.
    socket.once("close", () => {
      connections.delete(socket);
      for (const { over } of connection.open) over.abort();
    });
  };

  const take = async (request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) => {
    const { socket, method = "", url: target = "", headersDistinct: headers } = request;
    const connection = connections.get(socket);
    if (connection === undefined || connection.isEnding) return;
    const over = new AbortController();
    const exchange = { request, response, over };
    connection.open.add(exchange);
    request.on("error", ignore);
    response.on("error", ignore);
    response.once("close", () => {
      connection.open.delete(exchange);
      over.abort();
      if (connection.isEnding && connection.open.size === 0) socket.destroySoon();
    });
    const head = { method, target, headers };
    /** Ends the connection when the client has stopped sending, or after a while. */
    const refuse = (refusal: Refusal) => {
      connection.isEnding = true;
      const answer = formatRefusal(refusal, head);
      response.writeHead(answer.status, { ...headersOf(answer), connection: "close" });
      response.write(answer.body);
      const end = () => response.end();
      setTimeout(end, lingerMs).unref();
      if (request.readableEnded) end();
      else request.once("end", end).once("close", end).resume();
    };
    const admitted = admit(head, port());
    if (typeof admitted !== "function") return refuse(admitted);
    if (Number(request.headers["content-length"]) > maxBodyBytes) return refuse(tooLarge);
    if (awaitsContinue) response.writeContinue();
    const body = await readBody(request, maxBodyBytes);
    // It may have been refused while the body arrived.
    if (!socket.writable) return;
    if (body === undefined) return refuse(tooLarge);
    const answer = await admitted(body, over.signal);
    if (!over.signal.aborted) response.writeHead(answer.status, headersOf(answer));
    if (typeof answer.body === "string") response.end(answer.body);
    else await sendStream(response, answer.body, over.signal);
  };

  /** Answers input that is not a request, unless the client would take the answer for one to an earlier request. */
  const breakOff = (socket: Duplex, refusal: Refusal) => {
    const connection = connections.get(socket);
    if (connection === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    const { open, isEnding } = connection;
    connection.isEnding = true;
    // The outstanding answer is sent first, and ends the connection.
    if (isEnding || [...open].some(({ request, response }) => request.complete || response.headersSent))
      return;
    socket.end(formatRaw(formatRefusal(refusal)));
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };

  /** For a request that Node cannot parse, or that takes too long. */
  const refusalOf = ({ code }: NodeJS.ErrnoException): Refusal => {
    if (code === "HPE_HEADER_OVERFLOW") return { status: 431, message: "The headers are too large." };
    if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return tooLarge;
    if (code !== "ERR_HTTP_REQUEST_TIMEOUT")
      return { status: 400, message: "The request is not valid HTTP." };
    const message = `The request timed out; it must arrive within ${options.bodyTimeoutMs} ms.`;
    return { status: 408, message };
  };

  const onRequest = (awaitsContinue: boolean) => (request: IncomingMessage, response: ServerResponse) =>
    void take(request, response, awaitsContinue).catch(() => request.socket.destroy());
  server
    .on("connection", connect)
    .on("request", onRequest(false))
    .on("checkContinue", onRequest(true))
    .on("checkExpectation", onRequest(false))
    .on("connect", (_request, socket) => breakOff(socket, refuseMethod(options.methods)))
    .on("clientError", (error, socket) => breakOff(socket, refusalOf(error)));

  server.listen({ host: options.host, port: options.port, exclusive: true });
  await once(server, "listening");
  // The client retries a connection that cannot be accepted for lack of file descriptors.
  server.on("error", ignore);
  if (isBackground) server.unref();

  let closing: Promise<void> | undefined;
  const close = async (graceMs: number) => {
    // Node's HTTP server would destroy connections to which an answer is still being sent.
    const closed = new Promise<void>((resolve) => {
      NetServer.prototype.close.call(server, () => resolve());
    });
    for (const [socket, connection] of connections) {
      connection.isEnding = true;
      if (connection.open.size === 0) socket.destroy();
    }
    const grace = setTimeout(() => {
      for (const socket of connections.keys()) socket.destroy();
    }, timerMs(graceMs));
    await closed;
    clearTimeout(grace);
    // Ends its timer.
    server.close();
  };
  return {
    port: port(),
    close: (graceMs) => {
      closing ??= close(graceMs);
      return closing;
    },
  };
}
