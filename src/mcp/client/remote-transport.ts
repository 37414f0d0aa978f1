import { AsyncLocalStorage } from "node:async_hooks";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { markIds, markIntegers, readMarks } from "../../data/exact-integers.ts";
import { isRecord } from "../../data/parse-json.ts";
import { TrailblazeError } from "../../problems/index.ts";
import { abortable, whenAborted } from "../../runtime/abort-listeners.ts";
import type { Clock } from "../../runtime/clock.ts";
import { createMirrorHeaders, findMirroredArguments, type MirroredArgument } from "../param-headers.ts";
import { claimedRevision } from "../revisions.ts";
import { AnswerError } from "./answer-error.ts";
import { type AdvertisedTool, ServerCallError } from "./connected-server.ts";
import { own } from "./incoming-message.ts";
import type { MessageTransport, OutgoingMessage } from "./mcp-client.ts";
import type { Redactor } from "./redact.ts";
import { ConnectionError, type Exchange, isAbort, RemoteFetch, SessionLostError } from "./remote-fetch.ts";

export interface RemoteTransportOptions {
  label: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  limits: { frameBytes: number; depth: number };
  redactor: Redactor;
  clock: Clock;
  /** A request found no server, or none that knows its session. */
  onLost(reason: string): void;
}

/** A request that waits for its answer. */
interface OpenExchange extends Exchange {
  stop: AbortController;
  cancelLinger: () => void;
}

/** A stream that goes on after its answer is closed after this time. Milliseconds. */
const lingerMs = 1000;
/** A server may ask to be asked again at once, forever. Milliseconds. */
const shortestReconnectMs = 1000;
/** How often the stream of a request is resumed. */
const mostResumptions = 2;

/** The SDK's delays, but without its limit of attempts: the stream of notifications is opened again until it is. */
const reconnectionOptions = {
  initialReconnectionDelay: shortestReconnectMs,
  reconnectionDelayGrowFactor: 1.5,
  maxReconnectionDelay: 30_000,
  maxRetries: Number.POSITIVE_INFINITY,
};

const unanswered = () => new AnswerError("it did not answer the request");

/** Whether a value is nested more than so many levels deep. */
const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

/** Carries messages to a remote server over the SDK's transport, in both eras. */
export class RemoteTransport implements MessageTransport {
  readonly hasPerRequestStream = true;
  onmessage?: (message: unknown, requestId?: unknown) => unknown;
  onresume?: () => void;
  readonly #options: RemoteTransportOptions;
  readonly #fetch: RemoteFetch;
  readonly #transport: Promise<StreamableHTTPClientTransport>;
  readonly #closing = new AbortController();
  readonly #current = new AsyncLocalStorage<OpenExchange>();
  readonly #exchanges = new Map<unknown, OpenExchange>();
  #mirrored = new Map<string, readonly MirroredArgument[]>();
  #bytesRead = 0;
  #isReady = false;
  /** Whether there was a stream of notifications. */
  #hasHadStream = false;
  #initialized: Promise<void> = Promise.resolve();

  constructor(options: RemoteTransportOptions) {
    this.#options = options;
    const { label, limits, redactor } = options;
    this.#fetch = new RemoteFetch({
      label,
      frameBytes: limits.frameBytes,
      redactor,
      exchange: () => this.#current.getStore(),
      onBytes: (count) => {
        this.#bytesRead += count;
      },
      onStream: () => this.#onStream(),
    });
    this.#transport = this.#open();
    this.#transport.catch(() => {});
  }

  /** Loads the SDK's transport, which takes about 100 ms. */
  async #open(): Promise<StreamableHTTPClientTransport> {
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const { url, headers } = this.#options;
    const transport = new StreamableHTTPClientTransport(url, {
      fetch: this.#fetch.fetch,
      requestInit: { headers: { ...headers } },
      reconnectionOptions,
      reconnectionScheduler: (reconnect, delayMs, attempt) => {
        const exchange = this.#current.getStore();
        if (exchange === undefined || attempt < mostResumptions)
          return this.#options.clock.after(Math.max(delayMs, shortestReconnectMs), reconnect);
        exchange.fail(exchange.streamFault ?? unanswered());
        return undefined;
      },
    });
    transport.onmessage = (message) => this.#receive(markIds(readMarks(message)));
    transport.onerror = (error) => {
      // A server that never had a stream of notifications may answer 404 for it.
      if (error instanceof SessionLostError && this.#hasHadStream) this.#lose(error);
    };
    await transport.start();
    return transport;
  }

  #onStream(): void {
    if (this.#current.getStore() !== undefined) return;
    if (this.#hasHadStream) this.onresume?.();
    this.#hasHadStream = true;
  }

  bytesRead = (): number => this.#bytesRead;

  /** The server is ready. These are the tools whose arguments may have to be repeated in headers. */
  useTools(tools: readonly AdvertisedTool[]): void {
    this.#isReady = true;
    this.#mirrored = new Map(
      tools.map(({ name, inputSchema }) => [name, findMirroredArguments(inputSchema)]),
    );
  }

  /** Whether the server speaks the transport before streamable HTTP. */
  servesOldTransport(): Promise<boolean> {
    return this.#fetch.servesOldTransport(this.#options.url, this.#options.headers);
  }

  #receive(message: unknown): void {
    const id = isRecord(message) && own(message, "method") === undefined ? own(message, "id") : undefined;
    const exchange = id === undefined ? undefined : this.#exchanges.get(id);
    const { depth } = this.#options.limits;
    if (isDeeper(message, depth)) {
      exchange?.fail(new AnswerError(`it sent a message that is nested more than ${depth} levels deep`));
      return;
    }
    if (exchange !== undefined) {
      this.#exchanges.delete(id);
      exchange.cancelLinger = this.#options.clock.after(lingerMs, () => exchange.stop.abort());
    }
    // On whose stream a message of the server arrives says which call it belongs to.
    this.onmessage?.(message, this.#current.getStore()?.id);
  }

  async send(
    message: OutgoingMessage,
    { requestSignal }: { requestSignal?: AbortSignal } = {},
  ): Promise<void> {
    this.#closing.signal.throwIfAborted();
    const { id, method } = message;
    if (method === undefined || id === undefined) return this.#notify(message);
    const stop = new AbortController();
    const release = requestSignal && whenAborted(requestSignal, () => stop.abort());
    try {
      await this.#request(message, stop);
    } catch (error) {
      const isUnreachable = error instanceof ConnectionError && error.isUnreachable;
      // A subscription is repeated.
      if (error instanceof SessionLostError || (isUnreachable && method !== "subscriptions/listen"))
        this.#lose(error);
      throw this.#explain(error);
    } finally {
      release?.();
    }
  }

  async #notify(message: OutgoingMessage): Promise<void> {
    const { method, params } = message;
    const sent = this.#transport.then((transport) =>
      this.#current.exit(() => transport.send(markIntegers(message) as never)),
    );
    // Some servers refuse requests until they have it.
    if (method === "notifications/initialized") this.#initialized = sent.catch(() => {});
    try {
      await sent;
    } finally {
      if (method === "notifications/cancelled" && isRecord(params)) {
        this.#exchanges.get(params.requestId)?.stop.abort();
        this.#exchanges.delete(params.requestId);
      }
    }
  }

  /** Settles when the request was answered or can no longer be. */
  async #request(message: OutgoingMessage, stop: AbortController): Promise<void> {
    const { id } = message;
    const exchange: OpenExchange = { id, stop, isStream: false, fail() {}, cancelLinger() {} };
    this.#exchanges.set(id, exchange);
    const release = whenAborted(this.#closing.signal, () => stop.abort());
    try {
      await abortable(stop.signal, () => this.#initialized);
      await this.#post(message, exchange);
      if (this.#exchanges.has(id)) throw exchange.streamFault ?? unanswered();
    } finally {
      release();
      exchange.cancelLinger();
      this.#exchanges.delete(id);
    }
  }

  /** Resolves when the answer was received, or ended without one. */
  async #post(message: OutgoingMessage, exchange: OpenExchange): Promise<void> {
    const transport = await this.#transport;
    await new Promise<void>((resolve, reject) => {
      exchange.fail = reject;
      const sent = this.#current.run(exchange, () =>
        transport.send(markIntegers(message) as never, {
          requestSignal: exchange.stop.signal,
          headers: this.#mirror(message),
          onRequestStreamEnd: resolve,
        }),
      );
      sent.then(() => {
        if (!exchange.isStream) resolve();
      }, reject);
    });
  }

  #mirror(message: OutgoingMessage): Record<string, string> {
    const { method, params } = message;
    if (method !== "tools/call" || !isRecord(params) || claimedRevision(message) === undefined) return {};
    return createMirrorHeaders(this.#mirrored.get(String(params.name)) ?? [], params.arguments);
  }

  #lose({ message }: Error): void {
    if (this.#isReady) this.#options.onLost(message);
  }

  async setProtocolVersion(version: string): Promise<void> {
    (await this.#transport).setProtocolVersion(version);
  }

  /** Ends the session on the server, within the time, and closes every connection. */
  async close(limitMs: number): Promise<void> {
    if (this.#closing.signal.aborted) return;
    for (const { stop } of this.#exchanges.values()) stop.abort();
    this.#exchanges.clear();
    const transport = await this.#transport.catch(() => undefined);
    if (transport?.sessionId !== undefined && limitMs > 0) {
      const cancel = this.#options.clock.after(limitMs, () => void transport.close());
      await transport.terminateSession().catch(() => {});
      cancel();
    }
    this.#closing.abort();
    await transport?.close();
  }

  /** An error that a client can report. Of the SDK's, it is only known that the answer is invalid. */
  #explain(error: unknown): unknown {
    if (error instanceof TrailblazeError)
      return this.#isReady ? new ServerCallError("protocol", error.message) : error;
    if (error instanceof AnswerError || error instanceof ConnectionError || isAbort(error)) return error;
    const isJson = !(error instanceof SyntaxError);
    return new AnswerError(isJson ? "its answer is not a message of MCP" : "its answer is not valid JSON");
  }
}
