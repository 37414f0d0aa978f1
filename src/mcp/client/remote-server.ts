import { parseExactly, stringifyExactly } from "../../data/exact-integers.ts";
import { isRecord } from "../../data/parse-json.ts";
import { readNpmConfiguration } from "../../files/npm-configuration.ts";
import { failure, formatSize, printable } from "../../problems/index.ts";
import { whenAborted } from "../../runtime/abort-listeners.ts";
import { LineDecoder } from "../../runtime/line-decoder.mjs";
import { type Clock, pause, systemClock } from "../../runtime/time-limit.ts";
import { claimedRevision, nestsDeeper } from "../client-message.ts";
import type { AdvertisedTool, ServerEvents, ServerLaunch } from "./connected-server.ts";
import { AnswerError, own } from "./json-rpc.ts";
import type { OutgoingMessage } from "./mcp-client.ts";
import {
  createMirrorHeaders,
  encodeHeader,
  findMirroredArguments,
  type MirroredArgument,
} from "./param-headers.ts";
import { fetchThrough, findProxy, ProxyRefusal, showProxy } from "./proxied-fetch.ts";
import { createRedactor, type Redactor } from "./redact.ts";
import { type Carrier, Server, type StartingServer } from "./server.ts";
import type { ListLimits } from "./server-lists.ts";
import { defaultLimits, type ServerLimits } from "./start-server.ts";

/** How to reach a remote server. */
export interface RemoteLaunch
  extends Pick<ServerLaunch, "label" | "secrets" | "timeouts" | "protocol" | "canAsk"> {
  url: URL;
  /** The URL for people. */
  shown: string;
  headers: Readonly<Record<string, string>>;
}

export interface RemoteOptions {
  limits?: Partial<ServerLimits>;
  clock?: Clock;
}

/** A stream that goes on after its answer is closed after this time. Milliseconds. */
const lingerMs = 1000;
/** Before a stream is opened again. Milliseconds. */
const reopenMs = 2000;
/** How long the server may take to end its session. Milliseconds. */
const closeMs = 1000;
/** How much of the body of an error is read, and for how long, and how much of it is shown. */
const errorBytes = 1 << 16;
const errorBodyMs = 2000;
const shownCharacters = 400;

/** No connection to a remote server, or one that broke off. */
class ConnectionError extends Error {
  /** Whether the server was not reached at all. */
  isUnreachable = false;
  /** What to do about it; `undefined` if only the URL may be wrong. */
  hint: string | undefined;
}

/** The server does not know the session of a request. */
class SessionLostError extends AnswerError {}

/** Why there is no connection: Node's reason is in the causes. `isBefore`: nothing was sent. */
function findReason(error: unknown): { text: string; isBefore: boolean } {
  let reason = error;
  while (reason instanceof Error && reason.cause !== undefined) reason = reason.cause;
  if (reason instanceof AggregateError && reason.errors.length > 0) reason = reason.errors.at(-1);
  if (!(reason instanceof Error)) return { text: String(reason), isBefore: false };
  const { code, syscall } = reason as { code?: unknown; syscall?: unknown };
  const isBefore = syscall === "connect" || syscall === "getaddrinfo" || code === "UND_ERR_CONNECT_TIMEOUT";
  // OpenSSL's messages have addresses and source lines.
  const isTls = typeof code === "string" && code.startsWith("ERR_SSL_");
  const text = isTls ? `TLS error ${code}` : reason.message;
  return { text, isBefore };
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

const isAbort = (error: unknown) => error instanceof Error && error.name === "AbortError";

function readRpcError(body: string): object | undefined {
  try {
    const message: unknown = JSON.parse(body);
    const error = isRecord(message) ? own(message, "error") : undefined;
    return isRecord(error) && Number.isSafeInteger(own(error, "code")) ? error : undefined;
  } catch {
    return undefined;
  }
}

/** What must not be printed: headers, the credentials in them, and what is not shown of the URL. */
function findSecrets({ url, shown, headers }: RemoteLaunch): string[] {
  const values = Object.values(headers);
  const credentials = values.map((value) => value.replace(/^\S+\s+/, ""));
  const hidden = url.pathname.split("/").filter((segment) => !shown.includes(segment));
  return [...values, ...credentials, ...hidden, ...url.searchParams.values()];
}

/** How far a stream of events was read. */
type StreamPlace = { lastEventId?: string };

/** Carries messages to a remote server, in both eras: each is a POST, whose answer is JSON or a stream of events. */
class RemoteCarrier implements Carrier {
  readonly hasPerRequestStream = true;
  readonly redactor: Redactor;
  readonly limits: ListLimits;
  readonly #frameBytes: number;
  readonly #depth: number;
  onmessage?: (message: unknown, requestId?: unknown) => unknown;
  readonly #launch: RemoteLaunch;
  readonly #clock: Clock;
  readonly #onLost: (reason: string) => void;
  /** Not the project's .npmrc: a change in it must not lead requests, whose URL was approved, elsewhere. */
  readonly #npm = readNpmConfiguration({ projectDirectory: undefined, env: process.env });
  /** What is under way, by the ids of the requests. */
  readonly #open = new Map<unknown, AbortController>();
  #sessionId: string | undefined;
  #protocolVersion: string | undefined;
  #initialized: Promise<unknown> = Promise.resolve();
  #mirrored = new Map<string, readonly MirroredArgument[]>();
  #bytesRead = 0;
  #isReady = false;
  #isClosed = false;
  #ending: Promise<void> | undefined;

  /** `onLost`: a request found no server, or none that knows its session. */
  constructor(launch: RemoteLaunch, options: RemoteOptions, onLost: (reason: string) => void) {
    const limits = { ...defaultLimits, ...options.limits };
    const secrets = findSecrets(launch);
    this.redactor = createRedactor(() => [...secrets, ...launch.secrets()]);
    this.limits = limits.list;
    this.#frameBytes = limits.frameBytes;
    this.#depth = limits.depth;
    this.#launch = launch;
    this.#clock = options.clock ?? systemClock;
    this.#onLost = onLost;
  }

  bytesRead = (): number => this.#bytesRead;

  setProtocolVersion(protocolVersion: string): void {
    this.#protocolVersion = protocolVersion;
  }

  onReady(tools: readonly AdvertisedTool[]): void {
    this.#isReady = true;
    this.#mirrored = new Map(
      tools.map(({ name, inputSchema }) => [name, findMirroredArguments(inputSchema)]),
    );
  }

  send(message: OutgoingMessage, { requestSignal }: { requestSignal?: AbortSignal } = {}): Promise<void> {
    const sent = this.#exchange(message, requestSignal).catch((error) => this.#fail(error, message));
    // Some servers refuse requests until they have it.
    if (message.method === "notifications/initialized") this.#initialized = sent.catch(() => {});
    return sent;
  }

  /** Settles when a request was answered or can no longer be, unless it is canceled; for other messages when they are sent. */
  async #exchange(message: OutgoingMessage, signal?: AbortSignal): Promise<void> {
    const { id, method, params } = message;
    const isRequest = method !== undefined && id !== undefined;
    if (isRequest) await this.#initialized;
    signal?.throwIfAborted();
    if (this.#isClosed) throw new Error("the connection is closed");
    const stop = new AbortController();
    const key = isRequest ? id : stop;
    const release = signal === undefined ? undefined : whenAborted(signal, () => stop.abort());
    this.#open.set(key, stop);
    whenAborted(stop.signal, () => {
      this.#open.delete(key);
      release?.();
    });
    try {
      const headers = this.#createHeaders(message);
      const response = await this.#request("POST", headers, stop.signal, stringifyExactly(message));
      if (method === "initialize") this.#sessionId = response.headers.get("mcp-session-id") || undefined;
      if (isRequest) return await this.#receive(response, id, stop);
      if (!response.ok) throw await this.#explainStatus(response);
      await response.body?.cancel();
      stop.abort();
    } catch (error) {
      stop.abort();
      throw error;
    }
    if (method === "notifications/initialized") void this.#listen();
    if (method === "notifications/cancelled" && isRecord(params)) this.#open.get(params.requestId)?.abort();
  }

  /** Headers that repeat parts of a modern request, for what reads only them. */
  #createHeaders(message: OutgoingMessage): Record<string, string> {
    const { id, method = "", params } = message;
    const revision = claimedRevision(message);
    const json = { "content-type": "application/json" };
    if (id === undefined || typeof revision !== "string" || !isRecord(params)) return json;
    const name = params.name ?? params.uri;
    const mirrored = method === "tools/call" ? this.#mirrored.get(String(name)) : undefined;
    return {
      ...json,
      ...createMirrorHeaders(mirrored ?? [], params.arguments),
      "mcp-protocol-version": revision,
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": encodeHeader(name) }),
    };
  }

  /** Reads the answer to a request. */
  async #receive(response: Response, id: unknown, stop: AbortController): Promise<void> {
    const type = readType(response);
    if (response.ok && type === "text/event-stream")
      return new Promise((resolve, reject) => {
        const onAnswer = () => {
          setTimeout(() => stop.abort(), lingerMs).unref();
          resolve();
        };
        this.#readAnswer(response, id, stop.signal, onAnswer)
          .catch(reject)
          .finally(() => stop.abort());
      });
    if (!response.ok) {
      const start = await this.#readStart(response);
      // A JSON-RPC error is the answer to the request.
      const error = readRpcError(start);
      if (error === undefined) throw await this.#explainStatus(response, start);
      this.#take(JSON.stringify({ jsonrpc: "2.0", id, error }), id);
    } else if (type === "application/json") {
      const isAnswer = this.#take(await this.#readAll(response), id);
      if (!isAnswer) throw new AnswerError("it did not answer the request");
    } else {
      await response.body?.cancel();
      const found = type === "" ? "no content" : `the content type ${type}`;
      throw new AnswerError(`it answered with ${found} instead of MCP messages; check the URL`);
    }
    stop.abort();
  }

  /** Reads a stream to its end, and, if it ends before the answer and its events have ids, the rest of them in another one. */
  async #readAnswer(first: Response, id: unknown, stop: AbortSignal, onAnswer: () => void): Promise<void> {
    const place: StreamPlace = {};
    let isAnswered = false;
    for (let response = first; ; ) {
      const onMessage = (text: string) => {
        if (!this.#take(text, id) || isAnswered) return;
        isAnswered = true;
        onAnswer();
      };
      const fault = await this.#readStream(response, place, onMessage).catch((error: unknown) => error);
      if (isAnswered || stop.aborted) return;
      const isResumed = fault === undefined || fault instanceof ConnectionError;
      if (!isResumed || place.lastEventId === undefined)
        throw fault ?? new AnswerError("it did not answer the request");
      await pause(this.#clock, reopenMs, stop);
      response = await this.#request("GET", { "last-event-id": place.lastEventId }, stop);
      if (!response.ok) throw await this.#explainStatus(response);
    }
  }

  /** Reads the stream of a legacy server's notifications, if it has one, again after it has ended. */
  async #listen(): Promise<void> {
    const stop = new AbortController();
    this.#open.set(stop, stop);
    const place: StreamPlace = {};
    for (let isOffered = false; !stop.signal.aborted; ) {
      try {
        const response = await this.#request("GET", { "last-event-id": place.lastEventId }, stop.signal);
        if (!response.ok) throw await this.#explainStatus(response);
        isOffered = true;
        await this.#readStream(response, place, (text) => this.#take(text, undefined));
      } catch (error) {
        // A server that never had such a stream may answer 404 for it.
        if (!isOffered) break;
        if (error instanceof SessionLostError) return this.#lose(error);
      }
      await pause(this.#clock, reopenMs, stop.signal);
    }
    this.#open.delete(stop);
  }

  /** Hands out the messages of a JSON text. Returns whether one is the answer to the request. */
  #take(text: string, requestId: unknown): boolean {
    if (nestsDeeper(Buffer.from(text), this.#depth))
      throw new AnswerError(`it sent a message that is nested more than ${this.#depth} levels deep`);
    let value: unknown;
    try {
      value = parseExactly(text);
    } catch {
      throw new AnswerError("its answer is not valid JSON");
    }
    // MCP 2025-03-26 has batches.
    const messages: unknown[] = Array.isArray(value) ? value : [value];
    for (const message of messages)
      if (this.onmessage?.(message, requestId) === false)
        throw new AnswerError("its answer is not a message of MCP");
    return messages.some(
      (message) =>
        isRecord(message) &&
        own(message, "method") === undefined &&
        String(own(message, "id")) === String(requestId),
    );
  }

  /**
   * A request, through a proxy if there is one for the URL. Follows a redirect within the origin. Rejects with `ConnectionError`,
   * `SessionLostError`, or `TrailblazeError` for `AuthorizationRequired` and `RemoteRedirect`.
   */
  async #request(
    method: "POST" | "GET" | "DELETE",
    more: Readonly<Record<string, string | undefined>>,
    signal: AbortSignal,
    body: string | null = null,
  ): Promise<Response> {
    const { label, url, headers: chosen } = this.#launch;
    const headers = new Headers(chosen);
    const ours = {
      accept: method === "GET" ? "text/event-stream" : "application/json, text/event-stream",
      "mcp-session-id": this.#sessionId,
      "mcp-protocol-version": this.#protocolVersion,
      ...more,
    };
    for (const [name, value] of Object.entries(ours)) if (value !== undefined) headers.set(name, value);
    const init = { method, headers, body, signal };
    let response = await this.#fetch(url, init);
    const target = this.#findRedirect(url, response);
    if (target !== undefined) {
      await response.body?.cancel();
      response = await this.#fetch(target, init);
      this.#findRedirect(target, response);
    }
    const { status } = response;
    if (status === 401 || status === 403) {
      const start = this.redactor.redactCut(await this.#readStart(response));
      const reason = summarize(start, readType(response)) || undefined;
      const challenge = response.headers.get("www-authenticate")?.trim() ?? "";
      const [scheme] = /^[A-Za-z0-9._-]{1,40}/.exec(challenge) ?? [];
      throw failure("AuthorizationRequired", { label, status, scheme, reason });
    }
    if (status === 404 && this.#sessionId !== undefined) {
      await response.body?.cancel();
      throw new SessionLostError("it no longer knows the session");
    }
    return response;
  }

  async #fetch(url: URL, init: RequestInit): Promise<Response> {
    const proxy = findProxy(url, this.#npm, process.env);
    try {
      if (proxy !== undefined) return await fetchThrough(proxy, url, init);
      return await fetch(url, { ...init, redirect: "manual" });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      const through = proxy === undefined ? "" : ` through the proxy ${showProxy(proxy)}`;
      const { text, isBefore } = findReason(error);
      const isUnreachable = isBefore || error instanceof ProxyRefusal;
      const start = isUnreachable ? `no connection${through}` : `the connection${through} failed`;
      const hint =
        proxy &&
        `Check the proxy in the environment or in npm's configuration, or add ${url.hostname} to NO_PROXY.`;
      throw Object.assign(new ConnectionError(`${start}: ${text}`), { isUnreachable, hint });
    }
  }

  /** Where a redirect leads to that is followed: the first, within the origin, and one that keeps the method and the body. */
  #findRedirect(url: URL, { status, headers }: Response): URL | undefined {
    const location = headers.get("location");
    if (![301, 302, 303, 307, 308].includes(status) || location === null) return undefined;
    if (!URL.canParse(location, url.href)) return undefined;
    const target = new URL(location, url);
    const isOther = target.origin !== url.origin || target.username !== "" || target.password !== "";
    const isSecond = url !== this.#launch.url || target.href === url.href;
    const isKept = status === 307 || status === 308;
    if (!isOther && isKept && !isSecond) return target;
    const cause = isOther ? "origin" : isSecond ? "second" : "status";
    const shown = `${target.origin}${target.pathname}${target.search === "" ? "" : "?…"}`;
    const args = { label: this.#launch.label, status, target: this.redactor.redact(shown), cause } as const;
    throw failure("RemoteRedirect", args);
  }

  async #explainStatus(response: Response, start?: string): Promise<AnswerError> {
    const text = this.redactor.redactCut(start ?? (await this.#readStart(response)));
    const summary = summarize(text, readType(response));
    return new AnswerError(
      `it answered with HTTP status ${response.status}${summary === "" ? "" : `: ${summary}`}`,
    );
  }

  /** What arrives. Throws if the connection breaks off. */
  async *#read(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body ?? []) {
        this.#bytesRead += chunk.length;
        yield chunk;
      }
    } catch (error) {
      if (isAbort(error)) throw error;
      throw new ConnectionError(`the connection failed: ${findReason(error).text}`);
    }
  }

  /** Throws if a message has more bytes than the limit. */
  #checkSize(bytes: number): void {
    if (bytes > this.#frameBytes)
      throw new AnswerError(`it sent a message of more than ${formatSize(this.#frameBytes)}`);
  }

  async #readAll({ body }: Response): Promise<string> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of this.#read(body)) {
      size += chunk.length;
      this.#checkSize(size);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString("utf8");
  }

  /** The start of an error's body, as far as it arrives in time. */
  async #readStart({ body }: Response): Promise<string> {
    const signal = AbortSignal.timeout(errorBodyMs);
    const chunks: Uint8Array[] = [];
    let left = errorBytes;
    try {
      const limited = body?.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal });
      for await (const chunk of this.#read(limited ?? null)) {
        chunks.push(chunk.subarray(0, left));
        left -= chunk.length;
        // Leaving the loop closes the connection.
        if (left <= 0) break;
      }
    } catch {
      // What has arrived says enough.
    }
    return Buffer.concat(chunks).toString("utf8");
  }

  /** Hands out the messages of a stream of events as they arrive. */
  async #readStream(
    { body }: Response,
    place: StreamPlace,
    onMessage: (text: string) => void,
  ): Promise<void> {
    let [data, type] = ["", "message"];
    /** Of the lines of the event so far. */
    let size = 0;
    const decoder = new LineDecoder(this.#frameBytes, {
      onLine: (line) => {
        size += line.length;
        this.#checkSize(size);
        const [, field, value = ""] = /^([^:]+)(?:: ?(.*))?$/s.exec(line.toString("utf8")) ?? [];
        if (field === "data") data += `${value}\n`;
        if (field === "event") type = value;
        if (field === "id") place.lastEventId = value;
        if (line.length > 0) return;
        if (type === "message" && data.trim() !== "") onMessage(data);
        [data, type, size] = ["", "message", 0];
      },
      onTooLong: () => this.#checkSize(Number.POSITIVE_INFINITY),
    });
    for await (const chunk of this.#read(body))
      decoder.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  }

  #fail(error: unknown, { method }: OutgoingMessage): never {
    const isUnreachable = error instanceof ConnectionError && error.isUnreachable;
    // A subscription is repeated.
    if (error instanceof SessionLostError || (isUnreachable && method !== "subscriptions/listen"))
      this.#lose(error);
    throw error;
  }

  #lose({ message }: Error): void {
    if (!this.#isReady || this.#isClosed) return;
    this.#close();
    this.#onLost(this.redactor.redact(message));
  }

  #close(): void {
    this.#isClosed = true;
    for (const stop of this.#open.values()) stop.abort();
  }

  end(): Promise<void> {
    this.#ending ??= this.#isClosed ? Promise.resolve() : this.#endSession();
    return this.#ending;
  }

  /** Closes every connection, and ends the session on the server, within the time. */
  async #endSession(): Promise<void> {
    this.#close();
    if (this.#sessionId === undefined) return;
    const stop = new AbortController();
    const cancel = this.#clock.after(closeMs, () => stop.abort());
    await this.#request("DELETE", {}, stop.signal).then(
      (response) => response.body?.cancel(),
      () => {},
    );
    cancel();
  }

  async explain(error: unknown): Promise<{ hint: string }> {
    const found = error instanceof ConnectionError ? error.hint : undefined;
    return { hint: found ?? `Check that ${this.#launch.shown} is the URL of a streamable HTTP server.` };
  }
}

/** Connects to a server immediately; `ready` resolves when its tools are known. */
export function startRemoteServer(
  launch: RemoteLaunch,
  events: Omit<ServerEvents, "onStdoutNoise">,
  options: RemoteOptions = {},
): StartingServer {
  const carrier = new RemoteCarrier(launch, options, (reason) =>
    server.lose({ exitCode: null, signal: null, reason, isLost: true, stderrTail: "" }),
  );
  const server = new Server(launch, events, carrier, options.clock);
  return server;
}
