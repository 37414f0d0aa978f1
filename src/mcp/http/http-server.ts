// The only HTTP listener, for clients and for callbacks, and what both check before the body of a request.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { unmarkBytes } from "../../data/exact-integers.ts";
import { timerMs } from "../../runtime/abort-listeners.ts";

/** A request whose body has not been read. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query as in the request line, not decoded. */
  readonly target: string;
  /** A header that is repeated has all its values, with commas between them, which no single one of those that are checked has. */
  readonly headers: Headers;
  readonly port: number;
  /** Aborts when the answer is sent, or the client has disconnected. */
  readonly over: AbortSignal;
  /** Reads the body. Rejects with `Refusal` if it is too large; never settles if the client disconnects before. */
  read(): Promise<Uint8Array>;
}

export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

export interface HttpLimits {
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
}

interface HttpServerOptions extends HttpLimits {
  /** A name or an address; IPv6 without brackets. */
  host: string;
  /** 0 selects a free port. */
  port: number;
  /** Answers a request. One that is answered before its body is read ends the connection. */
  answer(request: HttpRequest): Promise<Response>;
  /** Whether the process may exit while the server listens. Default: false. */
  isBackground?: boolean;
}

/** How long a refused client may keep sending: destroying the connection now could discard the answer. Milliseconds. */
const lingerMs = 1000;
const ignore = () => {};

export function checkPath({ target }: HttpRequest, path: string): void {
  if (target.split("?", 1)[0] !== path) throw new Refusal(404, `Not found. The only path is ${path}.`);
}

export function checkMethod({ method }: HttpRequest, methods: readonly string[]): void {
  const allow = methods.join(", ");
  if (!methods.includes(method)) throw new Refusal(405, `Method not allowed. Use ${allow}.`, { allow });
}

/** What a bearer token allows. `find` takes the same time for each token. */
export function checkToken<Access>(
  { headers }: HttpRequest,
  find: (token: string) => Access | undefined,
  messages: { missing: string; invalid: string },
): Access {
  const sent = headers.get("authorization");
  const [, token] = /^Bearer +([\x21-\x7e]+)$/i.exec(sent ?? "") ?? [];
  const access = token === undefined ? undefined : find(token);
  if (access !== undefined) return access;
  const challenge = 'Bearer realm="trailblaze"';
  if (sent === null) throw new Refusal(401, messages.missing, { "www-authenticate": challenge });
  throw new Refusal(401, messages.invalid, { "www-authenticate": `${challenge}, error="invalid_token"` });
}

function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const refuse = () => reject(new Refusal(413, `The body exceeds ${maxBytes} bytes.`));
    if (Number(request.headers["content-length"]) > maxBytes) return refuse();
    const chunks: Uint8Array[] = [];
    let size = 0;
    request.on("data", (chunk: Uint8Array) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else refuse();
    });
    return request.once("end", () => resolve(Buffer.concat(chunks)));
  });
}

/** Sends an answer but for its end, as fast as the client reads. Cancels a stream when the client disconnects. */
async function send(answer: Response, response: ServerResponse, over: AbortSignal): Promise<void> {
  const { status, headers } = answer;
  // Node manages the connection itself.
  headers.delete("connection");
  headers.set("x-content-type-options", "nosniff");
  // A chunk of the SDK is a whole event.
  const write = async (chunk: Uint8Array) => {
    if (!response.write(unmarkBytes(chunk))) await once(response, "drain", { signal: over }).catch(ignore);
  };
  if (answer.body === null || !headers.get("content-type")?.startsWith("text/event-stream")) {
    const bytes = unmarkBytes(Buffer.from(await answer.arrayBuffer()));
    headers.set("cache-control", "no-store");
    if (status !== 204) headers.set("content-length", String(bytes.length));
    response.writeHead(status, Object.fromEntries(headers));
    return write(bytes);
  }
  response.writeHead(status, Object.fromEntries(headers));
  // Show that the stream is open before its first event.
  response.flushHeaders();
  const reader = answer.body.getReader();
  const cancel = () => void reader.cancel().catch(ignore);
  over.addEventListener("abort", cancel, { once: true });
  if (over.aborted) cancel();
  for (let part = await reader.read(); !part.done; part = await reader.read()) await write(part.value);
}

/** Starts to listen. Rejects with Node's error. */
export async function listenForHttp(options: HttpServerOptions) {
  const { maxBodyBytes, isBackground = false } = options;
  const requestTimeout = timerMs(options.bodyTimeoutMs);
  const headersTimeout = Math.min(timerMs(options.headersTimeoutMs), requestTimeout);
  /** Connections without a request yet, which Node does not take for idle. */
  const unused = new Set<Socket>();
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
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = "", url: target = "", rawHeaders, socket } = request;
    unused.delete(socket);
    const over = new AbortController();
    const leave = () => over.abort();
    request.on("error", ignore);
    response.on("error", ignore);
    // The response of a request that waits for another one does not notice a disconnect.
    socket.once("close", leave);
    response.once("close", () => {
      socket.off("close", leave);
      leave();
      if (!server.listening) server.closeIdleConnections();
    });
    const headers = new Headers();
    // Before Node 20.20.2, a header `__proto__` makes `headersDistinct` throw.
    for (let at = 0; at + 1 < rawHeaders.length; at += 2)
      headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string);
    const { localPort: port = 0 } = socket;
    const read = () => readBody(request, maxBodyBytes);
    const answer = await options.answer({ method, target, headers, port, over: over.signal, read });
    if (over.signal.aborted) return;
    const isRead = request.readableEnded;
    if (!isRead) response.setHeader("connection", "close");
    // Before its end: with the server, Node closes connections whose answers have ended but wait to be sent.
    await send(answer, response, over.signal);
    const end = () => response.end();
    if (isRead) return end();
    // The connection ends when the client has stopped sending, or after a while.
    setTimeout(end, lingerMs).unref();
    return request.once("end", end).once("close", end).resume();
  };

  // Node itself refuses what is not HTTP, too large or too slow, and asks for the body of a client that waits for that.
  server.on("connection", (socket: Socket) => {
    if (isBackground) socket.unref();
    // A client may send more than ten requests before it reads an answer.
    socket.setMaxListeners(0).once("close", () => unused.delete(socket));
    unused.add(socket);
  });
  if (isBackground) server.unref();
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (server.listening) handle(request, response).catch(() => request.socket.destroy());
  });

  server.listen({ host: options.host, port: options.port, exclusive: true });
  await once(server, "listening");
  // The client retries a connection that cannot be accepted for lack of file descriptors.
  server.on("error", ignore);

  return {
    port: (server.address() as AddressInfo).port,
    /** Accepts no more requests, and destroys the connections of unanswered ones after `graceMs`. */
    async close(graceMs: number): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of unused) socket.destroy();
      const grace = setTimeout(() => server.closeAllConnections(), timerMs(graceMs));
      await closed;
      clearTimeout(grace);
    },
  };
}
