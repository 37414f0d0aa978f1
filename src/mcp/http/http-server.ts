// The only HTTP listener, for clients and for callbacks. It does not interpret requests.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
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
  /** The answer to a request that is refused. */
  formatRefusal(refusal: Refusal, head: RequestHead): Answer;
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

/** A connection and what cancels its unanswered requests; a client may send several at once. */
interface Connection {
  readonly open: Set<AbortController>;
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
      for (const over of connection.open) over.abort();
    });
  };

  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const { socket, method = "", url: target = "", headersDistinct: headers } = request;
    const connection = connections.get(socket);
    if (connection === undefined || connection.isEnding) return;
    const over = new AbortController();
    connection.open.add(over);
    request.on("error", ignore);
    response.on("error", ignore);
    response.once("close", () => {
      connection.open.delete(over);
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
    const body = await readBody(request, maxBodyBytes);
    // It may have been refused while the body arrived.
    if (!socket.writable) return;
    if (body === undefined) return refuse(tooLarge);
    const answer = await admitted(body, over.signal);
    if (!over.signal.aborted) response.writeHead(answer.status, headersOf(answer));
    if (typeof answer.body === "string") response.end(answer.body);
    else await sendStream(response, answer.body, over.signal);
  };

  // Node itself refuses what is not HTTP, too large or too slow, and asks for the body of a client that waits for that.
  server.on("connection", connect).on("request", (request, response) => {
    void take(request, response).catch(() => request.socket.destroy());
  });

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
