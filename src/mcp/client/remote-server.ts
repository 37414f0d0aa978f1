import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { markIds, markIntegers, readMarks } from "../../data/exact-integers.ts";
import { isRecord } from "../../data/parse-json.ts";
import { describeExit, failure, TrailblazeError, type UnexpectedExit } from "../../problems/index.ts";
import { whenAborted } from "../../runtime/abort-listeners.ts";
import { type Clock, systemClock } from "../../runtime/time-limit.ts";
import { createMirrorHeaders, findMirroredArguments, type MirroredArgument } from "../param-headers.ts";
import { claimedRevision } from "../revisions.ts";
import { AnswerError } from "./answer-error.ts";
import {
  type AdvertisedTool,
  type ConnectedServer,
  ServerCallError,
  type ServerEvents,
  type ServerLaunch,
} from "./connected-server.ts";
import { own } from "./incoming-message.ts";
import type { MessageTransport, OutgoingMessage } from "./mcp-client.ts";
import { createRedactor, type Redactor } from "./redact.ts";
import {
  ConnectionError,
  type Exchange,
  isAbort,
  RemoteFetch,
  SessionLostError,
  StatusError,
} from "./remote-fetch.ts";
import { describeAnswer, describeMessage } from "./server-calls.ts";
import { ServerConnection } from "./server-connection.ts";
import { defaultLimits, type ServerLimits, type StartingServer } from "./start-server.ts";

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

interface TransportOptions {
  limits: ServerLimits;
  redactor: Redactor;
  clock: Clock;
  /** A request found no server, or none that knows its session. */
  onLost(reason: string): void;
}

/** A stream that goes on after its answer is closed after this time. Milliseconds. */
const lingerMs = 1000;
/** A server may ask to be asked again at once, forever. Milliseconds. */
const shortestReconnectMs = 1000;
/** The SDK's own. */
const delays = {
  initialReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1.5,
  maxReconnectionDelay: 30_000,
};

/** Of a message without an answer. */
const noExchange = (): Exchange => ({ id: undefined, isStream: false, fail() {} });

/** Whether a value is nested more than so many levels deep. */
const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

/**
 * Carries messages to a remote server, in both eras. Each message has a transport of the SDK of its own, so that it is known
 * which request a stream, a failure or a message of the server belongs to; that of `notifications/initialized` has the stream
 * of the server's notifications.
 */
class RemoteTransport implements MessageTransport {
  readonly hasPerRequestStream = true;
  onmessage?: (message: unknown, requestId?: unknown) => unknown;
  onresume?: () => void;
  readonly #launch: RemoteLaunch;
  readonly #options: TransportOptions;
  readonly #fetch: RemoteFetch;
  /** Close the transports that are in use, by the ids of their requests. */
  readonly #open = new Map<unknown, () => void>();
  #session: { sessionId?: string } = {};
  #version: { protocolVersion?: string } = {};
  #initialized: Promise<unknown> = Promise.resolve();
  #mirrored = new Map<string, readonly MirroredArgument[]>();
  #bytesRead = 0;
  #isReady = false;
  #isClosed = false;
  #closing: Promise<void> | undefined;
  /** Whether there was a stream of notifications. */
  #hasHadStream = false;

  constructor(launch: RemoteLaunch, options: TransportOptions) {
    this.#launch = launch;
    this.#options = options;
    const { label, url } = launch;
    const { limits, redactor } = options;
    const onBytes = (count: number) => {
      this.#bytesRead += count;
    };
    this.#fetch = new RemoteFetch({ label, url, redactor, frameBytes: limits.frameBytes, onBytes });
  }

  bytesRead = (): number => this.#bytesRead;

  setProtocolVersion(protocolVersion: string): void {
    this.#version = { protocolVersion };
  }

  /** The server is ready. These are the tools whose arguments may have to be repeated in headers. */
  useTools(tools: readonly AdvertisedTool[]): void {
    this.#isReady = true;
    this.#mirrored = new Map(
      tools.map(({ name, inputSchema }) => [name, findMirroredArguments(inputSchema)]),
    );
  }

  /** Whether the server speaks the transport before streamable HTTP. */
  servesOldTransport(): Promise<boolean> {
    return this.#fetch.servesOldTransport(this.#launch.headers);
  }

  /** The SDK takes about 100 ms to load. */
  async #create(exchange: Exchange, onAnswer?: () => void): Promise<StreamableHTTPClientTransport> {
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    if (this.#isClosed) throw new Error("the connection is closed");
    const { url, headers } = this.#launch;
    const isRequest = exchange.id !== undefined;
    const transport = new StreamableHTTPClientTransport(url, {
      fetch: async (address, init = {}) => {
        const response = await this.#fetch.fetch(address, init, exchange);
        if (!isRequest && init.method === "GET" && response.ok) {
          if (this.#hasHadStream) this.onresume?.();
          this.#hasHadStream = true;
        }
        return response;
      },
      requestInit: { headers: { ...headers } },
      ...this.#session,
      ...this.#version,
      // The stream of notifications is opened again until it is.
      reconnectionOptions: { ...delays, maxRetries: isRequest ? 2 : Number.POSITIVE_INFINITY },
      reconnectionScheduler: (reconnect, delayMs) =>
        this.#options.clock.after(Math.max(delayMs, shortestReconnectMs), reconnect),
    });
    transport.onmessage = (raw) => {
      const { sessionId } = transport;
      if (sessionId !== undefined) this.#session = { sessionId };
      const message = markIds(readMarks(raw));
      const isAnswer = isRecord(message) && own(message, "method") === undefined;
      const { depth } = this.#options.limits;
      if (!isDeeper(message, depth)) this.onmessage?.(message, exchange.id);
      else if (isAnswer)
        exchange.fail(new AnswerError(`it sent a message that is nested more than ${depth} levels deep`));
      if (isAnswer && own(message, "id") === exchange.id) onAnswer?.();
    };
    transport.onerror = (error) => {
      // A server that never had a stream of notifications may answer 404 for it.
      if (error instanceof SessionLostError && this.#hasHadStream) this.#lose(error);
    };
    await transport.start();
    return transport;
  }

  async send(
    message: OutgoingMessage,
    { requestSignal }: { requestSignal?: AbortSignal } = {},
  ): Promise<void> {
    const isRequest = message.method !== undefined && message.id !== undefined;
    try {
      await (isRequest ? this.#request(message, requestSignal) : this.#notify(message));
    } catch (error) {
      const isUnreachable = error instanceof ConnectionError && error.isUnreachable;
      // A subscription is repeated.
      if (error instanceof SessionLostError || (isUnreachable && message.method !== "subscriptions/listen"))
        this.#lose(error);
      throw this.#explain(error);
    }
  }

  async #notify(message: OutgoingMessage): Promise<void> {
    const { method, params } = message;
    const sent = this.#create(noExchange()).then((transport) => {
      if (method === "notifications/initialized") this.#open.set(undefined, () => void transport.close());
      return transport.send(markIntegers(message) as never);
    });
    // Some servers refuse requests until they have it.
    if (method === "notifications/initialized") this.#initialized = sent.catch(() => {});
    try {
      await sent;
    } finally {
      if (method === "notifications/cancelled" && isRecord(params)) this.#open.get(params.requestId)?.();
    }
  }

  /** Settles when the request was answered or can no longer be, unless it is canceled. */
  async #request(message: OutgoingMessage, signal?: AbortSignal): Promise<void> {
    const { id } = message;
    await this.#initialized;
    signal?.throwIfAborted();
    let release = () => {};
    let end = () => {};
    try {
      await new Promise<void>((resolve, reject) => {
        const exchange: Exchange = { id, isStream: false, fail: reject };
        const fail = () => reject(exchange.fault ?? new AnswerError("it did not answer the request"));
        const send = async () => {
          const transport = await this.#create(exchange, resolve);
          end = () => {
            this.#open.delete(id);
            void transport.close();
          };
          this.#open.set(id, end);
          if (signal !== undefined) release = whenAborted(signal, end);
          const headers = this.#mirror(message);
          await transport.send(markIntegers(message) as never, { headers, onRequestStreamEnd: fail });
          if (!exchange.isStream) fail();
        };
        send().catch(reject);
      });
      setTimeout(end, lingerMs).unref();
    } catch (error) {
      end();
      throw error;
    } finally {
      release();
    }
  }

  #mirror(message: OutgoingMessage): Record<string, string> {
    const { method, params } = message;
    if (method !== "tools/call" || !isRecord(params) || claimedRevision(message) === undefined) return {};
    return createMirrorHeaders(this.#mirrored.get(String(params.name)) ?? [], params.arguments);
  }

  #lose({ message }: Error): void {
    if (this.#isReady) this.#options.onLost(message);
  }

  /** Ends the session on the server, within the time, and closes every connection. */
  close(limitMs: number): Promise<void> {
    this.#closing ??= this.#end(limitMs);
    return this.#closing;
  }

  async #end(limitMs: number): Promise<void> {
    const hasSession = this.#session.sessionId !== undefined && limitMs > 0;
    const transport = hasSession ? await this.#create(noExchange()) : undefined;
    this.#isClosed = true;
    for (const end of this.#open.values()) end();
    const cancel = this.#options.clock.after(limitMs, () => void transport?.close());
    await transport?.terminateSession().catch(() => {});
    cancel();
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

/** How long the server may take to end its session. Milliseconds. */
const closeMs = 1000;

/** What must not be printed: headers, the credentials in them, and what is not shown of the URL. */
function findSecrets({ url, shown, headers }: RemoteLaunch): string[] {
  const values = Object.values(headers);
  const credentials = values.map((value) => value.replace(/^\S+\s+/, ""));
  const hidden = url.pathname.split("/").filter((segment) => !shown.includes(segment));
  return [...values, ...credentials, ...hidden, ...url.searchParams.values()];
}

class RemoteServer implements StartingServer {
  readonly label: string;
  readonly ready: Promise<ConnectedServer>;
  readonly #launch: RemoteLaunch;
  readonly #redactor: Redactor;
  readonly #transport: RemoteTransport;
  readonly #connection: ServerConnection;
  #end: ServerCallError | undefined;
  #resolveExit: (exit: UnexpectedExit) => void = () => {};
  readonly #exit = new Promise<UnexpectedExit>((resolve) => {
    this.#resolveExit = resolve;
  });

  constructor(
    launch: RemoteLaunch,
    events: Omit<ServerEvents, "onStdoutNoise">,
    { clock = systemClock, ...options }: RemoteOptions,
  ) {
    const { label, timeouts, protocol, canAsk } = launch;
    this.label = label;
    this.#launch = launch;
    const limits = { ...defaultLimits, ...options.limits };
    const secrets = findSecrets(launch);
    this.#redactor = createRedactor(() => [...secrets, ...launch.secrets()]);
    this.#transport = new RemoteTransport(launch, {
      limits,
      redactor: this.#redactor,
      clock,
      onLost: (reason) => this.#lose(reason),
    });
    this.#connection = new ServerConnection(this.#transport, {
      label,
      events,
      timeouts,
      protocol,
      canAsk,
      clock,
      redactor: this.#redactor,
      limits: limits.list,
      bytesRead: this.#transport.bytesRead,
      findEnd: () => this.#end,
    });
    this.ready = this.#connect().catch((error) => this.#fail(error));
    // A caller that starts several servers stops at the first failure and never handles the others.
    this.ready.catch(() => {});
  }

  async #connect(): Promise<ConnectedServer> {
    const open = await this.#connection.open();
    if (this.#end !== undefined) throw this.#end;
    this.#transport.useTools(open.tools);
    const { label, close } = this;
    return { label, ...open, exit: this.#exit, close };
  }

  async #fail(error: unknown): Promise<never> {
    const { label } = this;
    const wasClosed = this.#end !== undefined;
    const isOld = error instanceof StatusError && (await this.#isOld(error));
    await this.close();
    if (error instanceof TrailblazeError) throw error;
    const describe = () => {
      if (wasClosed) return "it was closed before it was ready";
      if (isOld)
        return "it speaks only HTTP+SSE, which streamable HTTP replaced in the revision 2025-03-26 of MCP";
      if (error instanceof AnswerError) return describeAnswer(error, this.#redactor);
      return describeMessage(error instanceof Error ? error.message : String(error), this.#redactor);
    };
    const reason = describe();
    const own = error instanceof ConnectionError ? error.hint : undefined;
    const hint = isOld
      ? `Use the server's URL for streamable HTTP, which often ends with /mcp, instead of ${this.#launch.shown}.`
      : (own ?? `Check that ${this.#launch.shown} is the URL of a streamable HTTP server.`);
    throw failure("ServerStartFailed", { label, reason, hint }, {}, { cause: new Error(reason) });
  }

  /** A server without streamable HTTP refuses the method, or does not find the path. */
  async #isOld({ status }: StatusError): Promise<boolean> {
    return [400, 404, 405].includes(status) && this.#transport.servesOldTransport();
  }

  #lose(reason: string): void {
    if (this.#end !== undefined) return;
    const described = this.#redactor.redact(reason);
    const exit = { exitCode: null, signal: null, reason: described, isLost: true, stderrTail: "" };
    this.#stop(new ServerCallError("exited", `Server "${this.label}" ${describeExit(exit)}.`, exit));
    void this.#transport.close(0);
    this.#resolveExit(exit);
  }

  #stop(why: ServerCallError): void {
    this.#end ??= why;
    this.#connection.close();
  }

  readonly close = (): Promise<void> => {
    this.#stop(new ServerCallError("closed", `Server "${this.label}" is closed.`));
    return this.#transport.close(closeMs);
  };
}

/** Connects to a server immediately; `ready` resolves when its tools are known. */
export function startRemoteServer(
  launch: RemoteLaunch,
  events: Omit<ServerEvents, "onStdoutNoise">,
  options: RemoteOptions = {},
): StartingServer {
  return new RemoteServer(launch, events, options);
}
