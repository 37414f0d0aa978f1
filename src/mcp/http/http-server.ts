// The only HTTP listener, for clients and for callbacks, and what both check before the body of a request.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import { unmarkBytes } from "../../data/exact-integers.ts";
import { timerMs } from "../../runtime/abort-listeners.ts";

/** A request before its body is read. */
export interface RequestHead {
  readonly method: string;
  /** Path and query as in the request line, not decoded. */
  readonly target: string;
  /** A header that is repeated has all its values, with commas between them, which no single one of those that are checked has. */
  readonly headers: Headers;
  /** Aborts when the answer is sent, or the client has disconnected. */
  readonly over: AbortSignal;
}

/** Why a request is refused before its body is handled. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers a request after its body has arrived. */
export type Handler = (body: Uint8Array) => Promise<Response>;

export interface HttpServerOptions {
  /** A name or an address; IPv6 without brackets. */
  host: string;
  /** 0 selects a free port. */
  port: number;
  /** Checks a request before its body is read. One that is refused ends the connection. Must not throw. */
  admit(head: RequestHead, port: number): Refusal | Handler;
  /** The answer to a request that is refused. */
  formatRefusal(refusal: Refusal, head: RequestHead): Response;
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

/** How long a refused client may keep sending: destroying the connection now could discard the answer. Milliseconds. */
const lingerMs = 1000;
const ignore = () => {};

export function checkPath({ target }: RequestHead, path: string): Refusal | undefined {
  if (target.split("?", 1)[0] === path) return undefined;
  return { status: 404, message: `Not found. The only path is ${path}.` };
}

export function checkMethod({ method }: RequestHead, methods: readonly string[]): Refusal | undefined {
  if (methods.includes(method)) return undefined;
  const allow = methods.join(", ");
  return { status: 405, message: `Method not allowed. Use ${allow}.`, headers: { allow } };
}

export function checkEncoding({ headers }: RequestHead): Refusal | undefined {
  if ((headers.get("content-encoding") ?? "identity").toLowerCase() === "identity") return undefined;
  const message = "Compressed bodies are not supported.";
  return { status: 415, message, headers: { "accept-encoding": "identity" } };
}

/** What a bearer token allows, or why it is refused. `find` takes the same time for each token. */
export function checkToken<Access>(
  { headers }: RequestHead,
  find: (token: string) => Access | undefined,
  messages: { missing: string; invalid: string },
): { access: Access } | { refusal: Refusal } {
  const sent = headers.get("authorization");
  const [, token] = /^Bearer +([\x21-\x7e]+)$/i.exec(sent ?? "") ?? [];
  const access = token === undefined ? undefined : find(token);
  if (access !== undefined) return { access };
  return { refusal: refuseToken(sent === null ? messages.missing : messages.invalid, sent !== null) };
}

/** `isTried`: the request has a token, but an invalid one. */
export function refuseToken(message: string, isTried: boolean): Refusal {
  const challenge = `Bearer realm="trailblaze"${isTried ? ', error="invalid_token"' : ""}`;
  return { status: 401, message, headers: { "www-authenticate": challenge } };
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
}

/** Sends an answer but for its end. */
async function send(answer: Response, response: ServerResponse, over: AbortSignal): Promise<void> {
  const { status, headers, body } = answer;
  // Node manages the connection itself.
  headers.delete("connection");
  headers.set("x-content-type-options", "nosniff");
  if (body !== null && headers.get("content-type")?.startsWith("text/event-stream")) {
    response.writeHead(status, Object.fromEntries(headers));
    return sendStream(response, body, over);
  }
  const bytes = unmarkBytes(Buffer.from(await answer.arrayBuffer()));
  headers.set("cache-control", "no-store");
  if (status !== 204) headers.set("content-length", String(bytes.length));
  response.writeHead(status, Object.fromEntries(headers)).write(bytes);
}

/** Starts to listen. Rejects with Node's error. */
export async function listenForHttp(options: HttpServerOptions): Promise<HttpServer> {
  const { admit, formatRefusal, maxBodyBytes, isBackground = false } = options;
  const requestTimeout = timerMs(options.bodyTimeoutMs);
  const headersTimeout = Math.min(timerMs(options.headersTimeoutMs), requestTimeout);
  /** The connections, each with what cancels its requests that are not answered yet. */
  const connections = new Map<Socket, Set<AbortController>>();
  let closing: Promise<void> | undefined;
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

  const handle = async (head: RequestHead, request: IncomingMessage, response: ServerResponse) => {
    const admitted = admit(head, port());
    const isAnnounced = Number(request.headers["content-length"]) > maxBodyBytes;
    const body =
      typeof admitted === "function" && !isAnnounced ? await readBody(request, maxBodyBytes) : undefined;
    if (typeof admitted === "function" && body !== undefined) {
      const answer = await admitted(body);
      if (!head.over.aborted) await send(answer, response, head.over);
      return response.end();
    }
    const tooLarge = { status: 413, message: `The body exceeds ${maxBodyBytes} bytes.` };
    response.setHeader("connection", "close");
    await send(formatRefusal("status" in admitted ? admitted : tooLarge, head), response, head.over);
    // The connection ends when the client has stopped sending, or after a while.
    const end = () => response.end();
    setTimeout(end, lingerMs).unref();
    if (request.readableEnded) end();
    else request.once("end", end).once("close", end).resume();
  };

  // Node itself refuses what is not HTTP, too large or too slow, and asks for the body of a client that waits for that.
  server.on("connection", (socket: Socket) => {
    if (isBackground) socket.unref();
    const open = new Set<AbortController>();
    connections.set(socket, open);
    // The response of a request that waits for another one does not notice a disconnect.
    socket.once("close", () => {
      connections.delete(socket);
      for (const over of open) over.abort();
    });
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { socket, method = "", url: target = "" } = request;
    const open = connections.get(socket);
    if (open === undefined || closing !== undefined) return;
    const over = new AbortController();
    open.add(over);
    request.on("error", ignore);
    response.on("error", ignore);
    response.once("close", () => {
      open.delete(over);
      over.abort();
      if (open.size === 0 && closing !== undefined) socket.destroySoon();
    });
    const headers = new Headers();
    // Before Node 20.20.2, a header `__proto__` makes `headersDistinct` throw.
    const { rawHeaders } = request;
    for (let at = 0; at + 1 < rawHeaders.length; at += 2)
      headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string);
    const head = { method, target, headers, over: over.signal };
    void handle(head, request, response).catch(() => socket.destroy());
  });

  server.listen({ host: options.host, port: options.port, exclusive: true });
  await once(server, "listening");
  // The client retries a connection that cannot be accepted for lack of file descriptors.
  server.on("error", ignore);
  if (isBackground) server.unref();

  const close = async (graceMs: number) => {
    // Node's HTTP server would destroy connections to which an answer is still being sent.
    const closed = new Promise<void>((resolve) => {
      NetServer.prototype.close.call(server, () => resolve());
    });
    for (const [socket, open] of connections) if (open.size === 0) socket.destroy();
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
