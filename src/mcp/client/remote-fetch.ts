import { isRecord } from "../../data/parse-json.ts";
import { failure, formatSize, type TrailblazeError } from "../../problems/index.ts";
import { AnswerError } from "./answer-error.ts";
import { own } from "./incoming-message.ts";
import { nestsDeeper } from "./json-depth.ts";
import type { Redactor } from "./redact.ts";

/** No connection to a remote server, or one that was lost. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  /** Whether the server may have received the request. */
  readonly mayBeSent: boolean;
  constructor(message: string, mayBeSent: boolean) {
    super(message);
    this.mayBeSent = mayBeSent;
  }
}

/** The server does not know the session of a request. */
export class SessionLostError extends AnswerError {}

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
  limits: { frameBytes: number; depth: number };
  redactor: Redactor;
  /** The exchange that the current request belongs to; `undefined` for one that only receives notifications. */
  exchange(): Exchange | undefined;
  /** Bytes of an answer. */
  onBytes(count: number): void;
  onAnswer(): void;
  /** A stream of notifications, or one that resumes the answer to a request. */
  onStream(): void;
  onSessionLost(session: string): void;
  onConnectionError(error: ConnectionError): void;
}

const errorBytes = 1 << 20;
const redirects = [301, 302, 303, 307, 308];

/** Why there is no connection: Node's reason is in the causes. */
function findReason(error: unknown): { text: string; isBefore: boolean } {
  let reason = error;
  while (reason instanceof Error && reason.cause !== undefined) reason = reason.cause;
  if (reason instanceof AggregateError && reason.errors.length > 0) reason = reason.errors.at(-1);
  if (!(reason instanceof Error)) return { text: String(reason), isBefore: false };
  const { code, syscall } = reason as { code?: unknown; syscall?: unknown };
  const isBefore = syscall === "connect" || syscall === "getaddrinfo" || code === "UND_ERR_CONNECT_TIMEOUT";
  // OpenSSL's messages have addresses and source lines.
  const isTls = typeof code === "string" && code.startsWith("ERR_SSL_");
  return { text: isTls ? `TLS error ${code}` : reason.message, isBefore };
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

const isJson = (type: string) => type === "application/json";

/** The media type of an answer, in lower case without parameters. */
const readType = ({ headers }: Response): string =>
  (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";

/** Replaces line ends of any kind by LF: the SDK reads a line that ends with CR only when the next byte has arrived. */
function createLineEnds(): (chunk: Uint8Array) => Uint8Array {
  let isAfterReturn = false;
  return (chunk) => {
    const from = isAfterReturn && chunk[0] === 0x0a ? 1 : 0;
    if (chunk.length > 0) isAfterReturn = chunk.at(-1) === 0x0d;
    if (from === 0 && !chunk.includes(0x0d)) return chunk;
    const changed = new Uint8Array(chunk.length - from);
    let size = 0;
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (byte === 0x0a && at > 0 && chunk[at - 1] === 0x0d) continue;
      changed[size++] = byte === 0x0d ? 0x0a : byte;
    }
    return changed.subarray(0, size);
  };
}

/** Measures the events of a stream: their bytes, and how deep their JSON is nested. Events end with an empty line. */
function createEventMeter(): (chunk: Uint8Array) => { bytes: number; depth: number } {
  let size = 0;
  let depth = 0;
  let isLineEmpty = true;
  let isText = false;
  let isEscaped = false;
  return (chunk) => {
    const most = { bytes: 0, depth: 0 };
    for (const byte of chunk) {
      size++;
      if (byte === 0x0a) {
        if (isLineEmpty) size = depth = 0;
        isLineEmpty = true;
        isText = false;
      } else {
        isLineEmpty = false;
        if (isEscaped) isEscaped = false;
        else if (byte === 0x22) isText = !isText;
        else if (isText) isEscaped = byte === 0x5c;
        else if (byte === 0x5b || byte === 0x7b) depth++;
        else if (byte === 0x5d || byte === 0x7d) depth--;
      }
      if (size > most.bytes) most.bytes = size;
      if (depth > most.depth) most.depth = depth;
    }
    return most;
  };
}

/**
 * The requests of one remote server. Follows no redirect to another origin, refuses messages that are too large or too
 * deep, and explains failures: rejects with `ConnectionError`, `AnswerError`, or `TrailblazeError` for
 * `AuthorizationRequired` and `RemoteRedirect`.
 */
export class RemoteFetch {
  readonly #options: RemoteFetchOptions;

  constructor(options: RemoteFetchOptions) {
    this.#options = options;
  }

  readonly fetch = async (address: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(address instanceof Request ? address.url : address);
    const response = await this.#follow(url, init);
    const { status, headers } = response;
    if (status === 401 || status === 403) {
      await response.body?.cancel();
      const scheme = readScheme(headers);
      const { label } = this.#options;
      throw failure("AuthorizationRequired", { label, status, ...(scheme === undefined ? {} : { scheme }) });
    }
    const session = new Headers(init.headers).get("mcp-session-id");
    if (status === 404 && session !== null) {
      await response.body?.cancel();
      this.#options.onSessionLost(session);
      throw new SessionLostError("it no longer knows the session");
    }
    const exchange = this.#options.exchange();
    if (init.method !== "POST") {
      if (response.ok && response.body !== null) {
        this.#options.onStream();
        return this.#limitStream(response, undefined);
      }
      await response.body?.cancel();
      return new Response(null, { status, headers });
    }
    if (!response.ok) return this.#readError(response, exchange);
    if (exchange?.id === undefined) {
      await response.body?.cancel();
      return new Response(null, { status: 202, headers });
    }
    return this.#readAnswer(response, exchange);
  };

  async #request(url: URL, init: RequestInit): Promise<Response> {
    try {
      const response = await fetch(url, { ...init, redirect: "manual" });
      this.#options.onAnswer();
      return response;
    } catch (error) {
      if (init.signal?.aborted) throw error;
      const { text, isBefore } = findReason(error);
      throw this.#noteFailure(text, !isBefore);
    }
  }

  #noteFailure(reason: string, mayBeSent: boolean): ConnectionError {
    const error = new ConnectionError(
      mayBeSent ? `the connection failed: ${reason}` : `no connection: ${reason}`,
      mayBeSent,
    );
    this.#options.onConnectionError(error);
    return error;
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
    const bytes = isJson(readType(response)) ? await this.#readBody(response, errorBytes) : undefined;
    if (bytes === undefined) await response.body?.cancel();
    const message = bytes === undefined ? undefined : this.#parse(bytes);
    const error = isRecord(message) ? own(message, "error") : undefined;
    if (exchange?.id !== undefined && isRecord(error) && Number.isSafeInteger(own(error, "code"))) {
      return answerWith({ jsonrpc: "2.0", id: exchange.id, error }, headers);
    }
    throw new AnswerError(`it answered with HTTP status ${status}`);
  }

  async #readAnswer(response: Response, exchange: Exchange): Promise<Response> {
    const type = readType(response);
    if (type === "text/event-stream" && response.body !== null) {
      exchange.isStream = true;
      return this.#limitStream(response, exchange);
    }
    if (!isJson(type)) {
      await response.body?.cancel();
      const found = type === "" ? "no content" : `the content type ${type}`;
      throw new AnswerError(`it answered with ${found} instead of MCP messages; check the URL`);
    }
    const { frameBytes } = this.#options.limits;
    const message = this.#parse(await this.#readBody(response, frameBytes));
    if (message === undefined) throw new AnswerError("its answer is not valid JSON");
    return answerWith(message, response.headers);
  }

  #parse(bytes: Buffer): unknown {
    const { depth } = this.#options.limits;
    if (nestsDeeper(bytes, depth)) throw tooDeep(depth);
    try {
      return JSON.parse(bytes.toString("utf8"));
    } catch {
      return undefined;
    }
  }

  async #readBody({ body }: Response, limit: number): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    if (body === null) return Buffer.alloc(0);
    try {
      for await (const chunk of body) {
        size += chunk.length;
        this.#options.onBytes(chunk.length);
        // Leaving the loop closes the connection.
        if (size > limit) throw tooLarge(limit);
        chunks.push(chunk);
      }
    } catch (error) {
      if (error instanceof AnswerError || isAbort(error)) throw error;
      throw this.#noteFailure(findReason(error).text, true);
    }
    return Buffer.concat(chunks);
  }

  /** The same events, in a stream that fails at one that is too large. */
  #limitStream(response: Response, exchange: Exchange | undefined): Response {
    const { status, headers } = response;
    const { frameBytes, depth } = this.#options.limits;
    const unify = createLineEnds();
    const measure = createEventMeter();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          this.#options.onBytes(value.length);
          const lines = unify(value);
          const most = measure(lines);
          if (most.bytes <= frameBytes && most.depth <= depth) return controller.enqueue(lines);
          const error = most.bytes > frameBytes ? tooLarge(frameBytes) : tooDeep(depth);
          exchange?.fail(error);
          controller.error(error);
          await reader.cancel();
        } catch (error) {
          const fault = isAbort(error) ? (error as Error) : this.#noteFailure(findReason(error).text, true);
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

const tooLarge = (limit: number) => new AnswerError(`it sent a message of more than ${formatSize(limit)}`);

const tooDeep = (limit: number) =>
  new AnswerError(`it sent a message that is nested more than ${limit} levels deep`);

/** A response with a message that is already parsed. */
function answerWith(message: unknown, headers: Headers): Response {
  const response = new Response(null, { status: 200, headers });
  response.headers.set("content-type", "application/json");
  return Object.assign(response, { json: async () => message });
}
