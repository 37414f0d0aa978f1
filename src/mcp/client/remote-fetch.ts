import { markText, unmarkText } from "../../data/exact-integers.ts";
import { isRecord } from "../../data/parse-json.ts";
import { readNpmConfiguration } from "../../files/npm-configuration.ts";
import { failure, formatSize, printable, type TrailblazeError } from "../../problems/index.ts";
import { AnswerError } from "./answer-error.ts";
import { own } from "./incoming-message.ts";
import { fetchThrough, findProxy, ProxyRefusal, showProxy } from "./proxied-fetch.ts";
import type { Redactor } from "./redact.ts";

/** No connection to a remote server, or one that broke off. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  /** Whether the server was not reached at all. */
  readonly isUnreachable: boolean;
  /** What to do about it; `undefined` if only the URL may be wrong. */
  readonly hint: string | undefined;
  constructor(message: string, isUnreachable: boolean, hint?: string) {
    super(message);
    this.isUnreachable = isUnreachable;
    this.hint = hint;
  }
}

/** The server does not know the session of a request. */
export class SessionLostError extends AnswerError {}

/** An answer with an error status that is no message of MCP. */
export class StatusError extends AnswerError {
  readonly status: number;
  constructor(status: number, body: string) {
    super(`it answered with HTTP status ${status}${body === "" ? "" : `: ${body}`}`);
    this.status = status;
  }
}

/** One request and its answer. */
export interface Exchange {
  /** The id of the request; `undefined` for a message without an answer. */
  id: unknown;
  /** Set when the answer begins: as a stream of events, or whole. */
  isStream: boolean;
  /** What happened to the stream. It may be resumed, so this is the reason of a failure only if it ends unanswered. */
  streamFault?: Error;
  /** Ends the request with an error, unless it is answered. */
  fail(error: unknown): void;
}

export interface RemoteFetchOptions {
  label: string;
  frameBytes: number;
  redactor: Redactor;
  /** The exchange that the current request belongs to; `undefined` for one that only receives notifications. */
  exchange(): Exchange | undefined;
  /** Bytes of an answer. */
  onBytes(count: number): void;
  /** A stream of notifications, or one that resumes the answer to a request. */
  onStream(): void;
}

const errorBytes = 1 << 16;
/** How much of the body of an error is shown. */
const shownCharacters = 400;
/** How long the search for an older transport may take. Milliseconds. */
const probeMs = 3000;
const redirects = [301, 302, 303, 307, 308];

/** Codes of certificates that are not signed by an authority that Node knows. */
const unknownAuthority = /SELF_SIGNED_CERT|^UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF)|^CERT_UNTRUSTED$/;

/** Why there is no connection: Node's reason is in the causes. `isBefore`: nothing was sent. */
function findReason(error: unknown): { text: string; isBefore: boolean; isUntrusted: boolean } {
  let reason = error;
  while (reason instanceof Error && reason.cause !== undefined) reason = reason.cause;
  if (reason instanceof AggregateError && reason.errors.length > 0) reason = reason.errors.at(-1);
  if (!(reason instanceof Error)) return { text: String(reason), isBefore: false, isUntrusted: false };
  const { code, syscall } = reason as { code?: unknown; syscall?: unknown };
  const isBefore = syscall === "connect" || syscall === "getaddrinfo" || code === "UND_ERR_CONNECT_TIMEOUT";
  // OpenSSL's messages have addresses and source lines.
  const isTls = typeof code === "string" && code.startsWith("ERR_SSL_");
  const text = isTls ? `TLS error ${code}` : reason.message;
  return { text, isBefore, isUntrusted: unknownAuthority.test(String(code)) };
}

/** The scheme of `WWW-Authenticate`, such as Bearer. */
function readScheme(headers: Headers): string | undefined {
  const [scheme] = /^[A-Za-z0-9._-]{1,40}/.exec(headers.get("www-authenticate")?.trim() ?? "") ?? [];
  return scheme;
}

/** A URL for people, without its parameters. */
function describeUrl({ origin, pathname, search }: URL): string {
  return `${origin}${pathname}${search === "" ? "" : "?…"}`;
}

function parseLocation(location: string | null, base: URL): URL | undefined {
  if (location === null || !URL.canParse(location, base.href)) return undefined;
  return new URL(location, base);
}

/** The media type of an answer, in lower case without parameters. */
const readType = ({ headers }: Response): string =>
  (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";

/** The text of an error's body on one line, of a page without its tags. */
function summarize(body: string, type: string): string {
  const text = type.includes("html")
    ? body.replace(/<(style|script)\b[\s\S]*?<\/\1>/gi, " ").replace(/<[^>]*>/g, " ")
    : body;
  const line = text.replace(/\s+/g, " ").trim();
  return printable(line.length > shownCharacters ? `${line.slice(0, shownCharacters)}…` : line);
}

/** Measures the events of a stream, which end with an empty line. Returns the bytes of the largest one so far in a chunk. */
function createEventMeter(): (chunk: Uint8Array) => number {
  let size = 0;
  let isLineEmpty = true;
  return (chunk) => {
    let most = 0;
    for (const byte of chunk) {
      size++;
      if (size > most) most = size;
      if (byte === 0x0a) {
        if (isLineEmpty) size = 0;
        isLineEmpty = true;
      } else if (byte !== 0x0d) isLineEmpty = false;
    }
    return most;
  };
}

/** Measures a body of one message. */
function createBodyMeter(): (chunk: Uint8Array) => number {
  let size = 0;
  return (chunk) => {
    size += chunk.length;
    return size;
  };
}

/**
 * Marks integers in the bytes of a JSON body, or in the data of a stream of events. The end of a line that is not complete
 * is held back: neither strings nor numbers of JSON continue on the next one.
 */
function createMarker(isStream: boolean) {
  let held: Uint8Array[] = [];
  const mark = (bytes: Buffer): Uint8Array => {
    // Each byte is a character, and of the bytes beyond ASCII none matters.
    const text = bytes.toString("latin1");
    const marked = isStream ? text.replace(/^data:.*/gm, markText) : markText(text);
    return marked === text ? bytes : Buffer.from(marked, "latin1");
  };
  return {
    push(chunk: Uint8Array): Uint8Array | undefined {
      const end = Math.max(chunk.lastIndexOf(0x0a), chunk.lastIndexOf(0x0d)) + 1;
      held.push(chunk.subarray(0, end === 0 ? chunk.length : end));
      if (end === 0) return undefined;
      const lines = Buffer.concat(held);
      held = [chunk.subarray(end)];
      return mark(lines);
    },
    end: (): Uint8Array => mark(Buffer.concat(held)),
  };
}

/**
 * The requests of one remote server. Obeys proxies, follows no redirect to another origin, refuses messages that are too
 * large, and explains failures: rejects with `ConnectionError`, `AnswerError`, or `TrailblazeError` for
 * `AuthorizationRequired` and `RemoteRedirect`.
 */
export class RemoteFetch {
  readonly #options: RemoteFetchOptions;
  /** Not the project's .npmrc: a change in it must not lead requests, whose URL was approved, elsewhere. */
  readonly #npm = readNpmConfiguration({ projectDirectory: undefined, env: process.env });

  constructor(options: RemoteFetchOptions) {
    this.#options = options;
  }

  readonly fetch = async (address: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(address instanceof Request ? address.url : address);
    const { body } = init;
    const sent = typeof body === "string" ? { ...init, body: unmarkText(body) } : init;
    const response = await this.#follow(url, sent);
    const { status, headers } = response;
    if (status === 401 || status === 403) {
      const { label, redactor } = this.#options;
      const body = redactor.redact(await this.#readStart(response));
      const reason = summarize(body, readType(response)) || undefined;
      throw failure("AuthorizationRequired", { label, status, scheme: readScheme(headers), reason });
    }
    if (status === 404 && new Headers(init.headers).has("mcp-session-id")) {
      await response.body?.cancel();
      throw new SessionLostError("it no longer knows the session");
    }
    if (init.method !== "POST") {
      if (!response.ok || response.body === null) {
        await response.body?.cancel();
        return new Response(null, { status, headers });
      }
      this.#options.onStream();
      return this.#limit(response, undefined);
    }
    const exchange = this.#options.exchange();
    if (!response.ok) return this.#readError(response, exchange);
    if (exchange?.id === undefined) {
      await response.body?.cancel();
      return new Response(null, { status: 202, headers });
    }
    const type = readType(response);
    exchange.isStream = type === "text/event-stream";
    if (exchange.isStream || type === "application/json") return this.#limit(response, exchange);
    await response.body?.cancel();
    const found = type === "" ? "no content" : `the content type ${type}`;
    throw new AnswerError(`it answered with ${found} instead of MCP messages; check the URL`);
  };

  /** Whether the URL is that of a server of the transport before streamable HTTP, which begins a stream with an address. */
  async servesOldTransport(url: URL, headers: Readonly<Record<string, string>>): Promise<boolean> {
    try {
      const init = { headers: { ...headers, accept: "text/event-stream" }, redirect: "manual" as const };
      const response = await this.#send(url, {
        ...init,
        method: "GET",
        signal: AbortSignal.timeout(probeMs),
      });
      const reader = response.body?.getReader();
      if (readType(response) !== "text/event-stream" || reader === undefined) return false;
      const { value } = await reader.read();
      await reader.cancel();
      return /^event: ?endpoint\r?$/m.test(new TextDecoder().decode(value?.subarray(0, 1024)));
    } catch {
      return false;
    }
  }

  #send(url: URL, init: RequestInit): Promise<Response> {
    const proxy = findProxy(url, this.#npm, process.env);
    return proxy === undefined ? fetch(url, init) : fetchThrough(proxy, url, init);
  }

  async #request(url: URL, init: RequestInit): Promise<Response> {
    try {
      return await this.#send(url, { ...init, redirect: "manual" });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      const proxy = findProxy(url, this.#npm, process.env);
      const through = proxy === undefined ? "" : ` through the proxy ${showProxy(proxy)}`;
      const { text, isBefore, isUntrusted } = findReason(error);
      const isUnreachable = isBefore || error instanceof ProxyRefusal;
      const start = isUnreachable ? `no connection${through}` : `the connection${through} failed`;
      const hint = isUntrusted
        ? "If you trust the authority that signed the certificate, pass its file to Node.js in NODE_EXTRA_CA_CERTS."
        : proxy &&
          `Check the proxy in the environment or in npm's configuration, or add ${url.hostname} to NO_PROXY.`;
      throw new ConnectionError(`${start}: ${text}`, isUnreachable, hint);
    }
  }

  /** Follows one redirect within the origin that keeps the method and the body. */
  async #follow(url: URL, init: RequestInit): Promise<Response> {
    const response = await this.#request(url, init);
    const target = parseLocation(response.headers.get("location"), url);
    if (!redirects.includes(response.status) || target === undefined) return response;
    await response.body?.cancel();
    const isOther = target.origin !== url.origin || target.username !== "" || target.password !== "";
    if (isOther) throw this.#refuse(response.status, target, "origin");
    if (response.status !== 307 && response.status !== 308) {
      throw this.#refuse(response.status, target, "status");
    }
    const second = await this.#request(target, init);
    const next = parseLocation(second.headers.get("location"), target);
    if (!redirects.includes(second.status) || next === undefined) return second;
    await second.body?.cancel();
    throw this.#refuse(second.status, next, next.origin === url.origin ? "second" : "origin");
  }

  #refuse(status: number, target: URL, cause: "origin" | "status" | "second"): TrailblazeError {
    const { label, redactor } = this.#options;
    return failure("RemoteRedirect", { label, status, target: redactor.redact(describeUrl(target)), cause });
  }

  /** A JSON-RPC error in an answer with an error status is the answer to the request. */
  async #readError(response: Response, exchange: Exchange | undefined): Promise<Response> {
    const { status, headers } = response;
    const type = readType(response);
    const body = await this.#readStart(response);
    const error = type === "application/json" ? readRpcError(body) : undefined;
    if (exchange?.id === undefined || error === undefined)
      throw new StatusError(status, summarize(this.#options.redactor.redact(body), type));
    return Response.json({ jsonrpc: "2.0", id: exchange.id, error }, { headers });
  }

  /** The start of a body, as far as it arrives. */
  async #readStart({ body }: Response): Promise<string> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const chunk of body ?? []) {
        this.#options.onBytes(chunk.length);
        chunks.push(chunk.subarray(0, errorBytes - size));
        size += chunk.length;
        // Leaving the loop closes the connection.
        if (size >= errorBytes) break;
      }
    } catch {}
    return Buffer.concat(chunks).toString("utf8");
  }

  /** The same body, which fails at a message that is too large. */
  #limit(response: Response, exchange: Exchange | undefined): Response {
    const { status, headers } = response;
    const { frameBytes, onBytes } = this.#options;
    const isStream = exchange?.isStream !== false;
    const measure = isStream ? createEventMeter() : createBodyMeter();
    const marker = createMarker(isStream);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          // Without a new chunk, this would not be called again.
          for (;;) {
            const { done, value } = await reader.read();
            if (done) {
              const rest = marker.end();
              if (rest.length > 0) controller.enqueue(rest);
              return controller.close();
            }
            onBytes(value.length);
            if (measure(value) > frameBytes) break;
            const lines = marker.push(value);
            if (lines !== undefined) return controller.enqueue(lines);
          }
          const error = new AnswerError(`it sent a message of more than ${formatSize(frameBytes)}`);
          exchange?.fail(error);
          controller.error(error);
          await reader.cancel();
        } catch (error) {
          const fault = isAbort(error)
            ? (error as Error)
            : new ConnectionError(`the connection failed: ${findReason(error).text}`, false);
          if (exchange !== undefined) exchange.streamFault = fault;
          controller.error(fault);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    });
    return new Response(body, { status, headers });
  }
}

export const isAbort = (error: unknown) => error instanceof Error && error.name === "AbortError";

function readRpcError(body: string): object | undefined {
  try {
    const message: unknown = JSON.parse(body);
    const error = isRecord(message) ? own(message, "error") : undefined;
    return isRecord(error) && Number.isSafeInteger(own(error, "code")) ? error : undefined;
  } catch {
    return undefined;
  }
}
