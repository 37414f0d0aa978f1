import { AsyncLocalStorage } from "node:async_hooks";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
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
import { Reachability } from "./reachability.ts";
import type { Redactor } from "./redact.ts";
import { ConnectionError, type Exchange, isAbort, RemoteFetch, SessionLostError } from "./remote-fetch.ts";

export interface RemoteTransportOptions {
  label: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  limits: { frameBytes: number; depth: number };
  redactor: Redactor;
  clock: Clock;
  /** How long the server may be unreachable. Milliseconds. */
  unreachableMs: number;
  /** How long the handshake of a new session may take. Milliseconds. */
  handshakeMs: number;
  /** The server has been unreachable for too long. Called once. */
  onLost(reason: string): void;
}

/** A request that waits for its answer. */
interface OpenExchange extends Exchange {
  stop: AbortController;
  cancelLinger: () => void;
  /** It was sent again in a new session. */
  isRepeated: boolean;
  /** Takes the answer instead of the client. */
  onReply?: ((message: unknown) => void) | undefined;
}

/** A stream that goes on after its answer is closed after this time. Milliseconds. */
const lingerMs = 1000;
/** A server may ask to be asked again at once, forever; the time doubles with each attempt that fails. Milliseconds. */
const shortestReconnectMs = 250;
const longestReconnectMs = 30_000;
/** How often the stream of a request is resumed. */
const mostResumptions = 2;

/** The SDK's delays, but without its limit of attempts. */
const reconnectionOptions = {
  initialReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1.5,
  maxReconnectionDelay: longestReconnectMs,
  maxRetries: Number.POSITIVE_INFINITY,
};

const unanswered = () => new AnswerError("it did not answer the request");

/** Loads the SDK's transport, which takes about 100 ms. */
async function loadTransport() {
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  return StreamableHTTPClientTransport;
}

/**
 * Carries messages to a remote server over the SDK's transport, in both eras. Once `keepTrying` was called, a request
 * that was not sent is sent when the server is reachable again. A request in a session that the server has lost is sent
 * once more in a new one.
 */
export class RemoteTransport implements MessageTransport {
  readonly hasPerRequestStream = true;
  onmessage?: (message: unknown, requestId?: unknown) => unknown;
  onresume?: () => void;
  readonly #options: RemoteTransportOptions;
  readonly #fetch: RemoteFetch;
  readonly #reachability: Reachability;
  readonly #transport: Promise<StreamableHTTPClientTransport>;
  readonly #closing = new AbortController();
  readonly #current = new AsyncLocalStorage<OpenExchange>();
  readonly #exchanges = new Map<unknown, OpenExchange>();
  #mirrored = new Map<string, readonly MirroredArgument[]>();
  #bytesRead = 0;
  #keepsTrying = false;
  /** The handshake of a legacy session, to repeat it. */
  #initialize: OutgoingMessage | undefined;
  #sessions = 0;
  /** The last session that the server did not know. */
  #lostSession: string | undefined;
  /** Whether there was a stream of notifications. */
  #hasHadStream = false;
  #renewal: Promise<void> | undefined;
  #initialized: Promise<void> = Promise.resolve();

  constructor(options: RemoteTransportOptions) {
    this.#options = options;
    const { label, url, headers, limits, redactor, clock, unreachableMs, onLost } = options;
    this.#reachability = new Reachability({
      ...{ clock, onLost, limitMs: unreachableMs },
      probe: async (signal) => {
        const stop = AbortSignal.any([signal, this.#closing.signal]);
        await this.#fetch.fetch(url, { method: "HEAD", headers: { ...headers }, signal: stop });
      },
    });
    this.#fetch = new RemoteFetch({
      label,
      limits,
      redactor,
      exchange: () => this.#current.getStore(),
      onBytes: (count) => {
        this.#bytesRead += count;
      },
      onAnswer: () => this.#reachability.noteAnswer(),
      onStream: () => this.#onStream(),
      onSessionLost: (session) => {
        this.#lostSession = session;
      },
      onConnectionError: ({ message }) => {
        if (this.#keepsTrying) this.#reachability.noteFailure(message);
      },
    });
    this.#transport = this.#open(url, headers);
    this.#transport.catch(() => {});
  }

  async #open(url: URL, headers: Readonly<Record<string, string>>): Promise<StreamableHTTPClientTransport> {
    const Transport = await loadTransport();
    const transport: StreamableHTTPClientTransport = new Transport(url, {
      fetch: this.#fetch.fetch,
      requestInit: { headers: { ...headers } },
      reconnectionOptions,
      reconnectionScheduler: (reconnect, delayMs, attempt) =>
        this.#scheduleReconnection(transport, reconnect, delayMs, attempt),
    });
    transport.onmessage = (message) => this.#receive(message);
    await transport.start();
    return transport;
  }

  /**
   * Opens a stream again that has ended. The SDK's `attempt` counts those that failed since. The stream of a request fails
   * after a few. The stream of notifications is opened again until it is, if necessary in a new session.
   */
  #scheduleReconnection(
    { sessionId }: StreamableHTTPClientTransport,
    reconnect: () => void,
    delayMs: number,
    attempt: number,
  ): (() => void) | undefined {
    const exchange = this.#current.getStore();
    if (exchange !== undefined && attempt >= mostResumptions) {
      exchange.fail(exchange.streamFault ?? unanswered());
      return undefined;
    }
    const session = this.#sessions;
    if (exchange === undefined && attempt > 0 && sessionId !== undefined && sessionId === this.#lostSession) {
      void this.#renew(session).catch(() => {});
    }
    const shortestMs = Math.min(shortestReconnectMs * 2 ** attempt, longestReconnectMs);
    return this.#options.clock.after(Math.max(delayMs, shortestMs), async () => {
      // No attempt is spent on a server that is unreachable.
      await this.#reachability.wait();
      if (exchange !== undefined) this.#current.run(exchange, reconnect);
      // A new session has its own stream.
      else if (session === this.#sessions) this.#current.exit(reconnect);
    });
  }

  #onStream(): void {
    if (this.#current.getStore() !== undefined) return;
    if (this.#hasHadStream) this.onresume?.();
    this.#hasHadStream = true;
  }

  bytesRead = (): number => this.#bytesRead;

  /** From now on, requests wait while the server is unreachable. */
  keepTrying(): void {
    this.#keepsTrying = true;
  }

  /** The tools whose arguments may have to be repeated in headers. */
  useTools(tools: readonly AdvertisedTool[]): void {
    this.#mirrored = new Map(
      tools.map(({ name, inputSchema }) => [name, findMirroredArguments(inputSchema)]),
    );
  }

  #receive(message: unknown): void {
    const id = isRecord(message) && own(message, "method") === undefined ? own(message, "id") : undefined;
    const exchange = id === undefined ? undefined : this.#exchanges.get(id);
    if (exchange !== undefined) {
      this.#exchanges.delete(id);
      exchange.cancelLinger = this.#options.clock.after(lingerMs, () => exchange.stop.abort());
    }
    // On whose stream a message of the server arrives says which call it belongs to.
    if (exchange?.onReply === undefined) this.onmessage?.(message, this.#current.getStore()?.id);
    else exchange.onReply(message);
  }

  async send(
    message: OutgoingMessage,
    { requestSignal }: { requestSignal?: AbortSignal } = {},
  ): Promise<void> {
    this.#closing.signal.throwIfAborted();
    const { id, method } = message;
    if (method === undefined || id === undefined) return this.#notify(message);
    if (method === "initialize") this.#initialize = message;
    const stop = new AbortController();
    const release = requestSignal && whenAborted(requestSignal, () => stop.abort());
    try {
      await this.#request(message, stop);
    } catch (error) {
      throw this.#explain(error);
    } finally {
      release?.();
    }
  }

  async #notify(message: OutgoingMessage): Promise<void> {
    const { method, params } = message;
    const sent = this.#transport.then((transport) =>
      this.#current.exit(() => transport.send(message as never)),
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
  async #request(
    message: OutgoingMessage,
    stop: AbortController,
    onReply?: OpenExchange["onReply"],
  ): Promise<void> {
    const { id } = message;
    const exchange: OpenExchange = {
      ...{ id, stop, onReply, isStream: false, isRepeated: false },
      fail() {},
      cancelLinger() {},
    };
    this.#exchanges.set(id, exchange);
    const release = whenAborted(this.#closing.signal, () => stop.abort());
    try {
      await this.#deliver(message, exchange);
      if (this.#exchanges.has(id)) {
        throw exchange.streamFault ?? unanswered();
      }
    } finally {
      release();
      exchange.cancelLinger();
      this.#exchanges.delete(id);
    }
  }

  async #deliver(message: OutgoingMessage, exchange: OpenExchange): Promise<void> {
    const { signal } = exchange.stop;
    for (;;) {
      const session = this.#sessions;
      try {
        await abortable(signal, () => this.#initialized);
        return await this.#post(message, exchange);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof SessionLostError && !exchange.isRepeated) {
          exchange.isRepeated = true;
          await abortable(signal, () => this.#renew(session));
        } else if (error instanceof ConnectionError && !error.mayBeSent && this.#keepsTrying) {
          await abortable(signal, () => this.#reachability.wait());
        } else throw error;
      }
    }
  }

  /** Sends the request once. Resolves when its answer was received, or ended without one. */
  async #post(message: OutgoingMessage, exchange: OpenExchange): Promise<void> {
    const transport = await this.#transport;
    await new Promise<void>((resolve, reject) => {
      exchange.fail = reject;
      const sent = this.#current.run(exchange, () =>
        transport.send(message as never, {
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

  /** Opens a new session in place of the one with this number, once for all its requests. */
  async #renew(session: number): Promise<void> {
    if (session !== this.#sessions) return;
    this.#renewal ??= this.#initializeAgain().finally(() => {
      this.#renewal = undefined;
    });
    await this.#renewal;
  }

  async #initializeAgain(): Promise<void> {
    const initialize = this.#initialize;
    if (initialize === undefined) throw new AnswerError("it no longer knows the session");
    const stop = new AbortController();
    const { clock, handshakeMs } = this.#options;
    let isLate = false;
    const cancel = clock.after(handshakeMs, () => {
      isLate = true;
      stop.abort();
    });
    let reply: unknown;
    try {
      await this.#request({ ...initialize, id: `session-${this.#sessions + 1}` }, stop, (message) => {
        reply = message;
      });
    } catch (error) {
      if (!isLate) throw error;
      throw new AnswerError(`it lost the session and did not answer \`initialize\` within ${handshakeMs} ms`);
    } finally {
      cancel();
    }
    const result = isRecord(reply) ? own(reply, "result") : undefined;
    const protocolVersion = isRecord(result) ? own(result, "protocolVersion") : undefined;
    if (typeof protocolVersion !== "string") {
      throw new AnswerError("it lost the session and refused a new one");
    }
    await this.setProtocolVersion(protocolVersion);
    await this.#notify({ jsonrpc: "2.0", method: "notifications/initialized" });
    this.#sessions += 1;
  }

  async setProtocolVersion(version: string): Promise<void> {
    (await this.#transport).setProtocolVersion(version);
  }

  /** Ends the session on the server, within the time, and closes every connection. */
  async close(limitMs: number): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const wasReachable = this.#reachability.isReachable;
    this.#reachability.close();
    for (const { stop } of this.#exchanges.values()) stop.abort();
    this.#exchanges.clear();
    const transport = await this.#transport.catch(() => undefined);
    if (transport?.sessionId !== undefined && wasReachable) {
      const cancel = this.#options.clock.after(limitMs, () => void transport.close());
      await transport.terminateSession().catch(() => {});
      cancel();
    }
    this.#closing.abort();
    await transport?.close();
  }

  /** An error that a client can report. Of the SDK's, it is only known that the answer is invalid. */
  #explain(error: unknown): unknown {
    if (error instanceof TrailblazeError) {
      return this.#keepsTrying ? new ServerCallError("protocol", error.message) : error;
    }
    const isKnown = error instanceof AnswerError || error instanceof ConnectionError || isAbort(error);
    return isKnown ? error : new AnswerError("its answer is not a message of MCP");
  }
}
