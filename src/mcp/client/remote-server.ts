import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Tool } from "@modelcontextprotocol/server";
import { findInteger, markIntegers, readMarks } from "../../data/exact-integers.ts";
import { isRecord } from "../../data/parse-json.ts";
import { TrailblazeError } from "../../problems/index.ts";
import { whenAborted } from "../../runtime/abort-listeners.ts";
import { type Clock, systemClock } from "../../runtime/time-limit.ts";
import { claimedRevision } from "../client-message.ts";
import { AnswerError, own } from "./json-rpc.ts";
import type { OutgoingMessage } from "./mcp-client.ts";
import { createRedactor, type Redactor } from "./redact.ts";
import {
  type Authorization,
  ConnectionError,
  type Exchange,
  isAbort,
  RemoteFetch,
  SessionLostError,
} from "./remote-fetch.ts";
import { type Carrier, Server } from "./server.ts";
import type { ServerEvents, ServerLaunch } from "./server-calls.ts";
import type { ListLimits } from "./server-lists.ts";
import { defaultLimits, type ServerLimits } from "./start-server.ts";

/** How to reach a remote server. */
export interface RemoteLaunch
  extends Pick<ServerLaunch, "label" | "secrets" | "timeouts" | "protocol" | "canAsk" | "apps"> {
  url: URL;
  /** The URL for people. */
  shown: string;
  headers: Readonly<Record<string, string>>;
}

export interface RemoteOptions {
  /** Has the tokens of a server that is signed in to. */
  authorization?: Authorization | undefined;
  limits?: Partial<ServerLimits>;
  clock?: Clock;
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
/** How long the server may take to end its session. Milliseconds. */
const closeMs = 1000;

const headerToken = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** A value for a header, encoded if a header cannot contain it. */
function encodeHeader(text: string): string {
  const isPlain = /^[\t\x20-\x7e]*$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

/** The headers that repeat arguments, those whose schemas have `x-mcp-header`. */
export function mirrorArguments(schema: unknown, args: unknown): Record<string, string> {
  const properties = isRecord(schema) && isRecord(schema.properties) ? schema.properties : {};
  const headers: Record<string, string> = {};
  for (const [key, property] of Object.entries(properties)) {
    if (!isRecord(property) || !isRecord(args) || !Object.hasOwn(args, key)) continue;
    const value = findInteger(args, key) ?? args[key];
    const name = String(property["x-mcp-header"] ?? "");
    if (headerToken.test(name) && ["string", "number", "boolean"].includes(typeof value))
      headers[`mcp-param-${name.toLowerCase()}`] = encodeHeader(String(value));
    Object.assign(headers, mirrorArguments(property, value));
  }
  return headers;
}

/** Whether a value is nested more than so many levels deep. */
const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

/** What must not be printed: headers, the credentials in them, and what is not shown of the URL. */
function findSecrets({ url, shown, headers }: RemoteLaunch): string[] {
  const values = Object.values(headers);
  const credentials = values.map((value) => value.replace(/^\S+\s+/, ""));
  const hidden = url.pathname.split("/").filter((segment) => !shown.includes(segment));
  return [...values, ...credentials, ...hidden, ...url.searchParams.values()];
}

/**
 * Carries messages to a remote server, in both eras. Each message has a transport of the SDK of its own, so that it is known
 * which request a stream, a failure or a message of the server belongs to; that of `notifications/initialized` has the stream
 * of the server's notifications.
 */
class RemoteCarrier implements Carrier {
  readonly hasPerRequestStream = true;
  readonly redactor: Redactor;
  readonly limits: ListLimits;
  readonly #depth: number;
  onmessage?: (message: unknown, requestId?: unknown) => unknown;
  readonly #launch: RemoteLaunch;
  readonly #clock: Clock;
  readonly #onLost: (reason: string) => void;
  readonly #fetch: RemoteFetch;
  /** Close the transports that are in use, by the ids of their requests. */
  readonly #open = new Map<unknown, () => void>();
  #sessionId: string | undefined;
  #protocolVersion: string | undefined;
  #initialized: Promise<unknown> = Promise.resolve();
  #schemas = new Map<string, unknown>();
  #isReady = false;
  #isClosed = false;
  #ending: Promise<void> | undefined;
  /** Whether there was a stream of notifications. */
  #hasHadStream = false;

  /** `onLost`: a request found no server, or none that knows its session. */
  constructor(launch: RemoteLaunch, options: RemoteOptions, onLost: (reason: string) => void) {
    const limits = { ...defaultLimits, ...options.limits };
    const secrets = findSecrets(launch);
    this.redactor = createRedactor(() => [...secrets, ...launch.secrets()]);
    this.limits = limits.list;
    this.#depth = limits.depth;
    this.#launch = launch;
    this.#clock = options.clock ?? systemClock;
    this.#onLost = onLost;
    const { label, url } = launch;
    const { redactor } = this;
    const { frameBytes } = limits;
    this.#fetch = new RemoteFetch({ label, url, frameBytes, redactor, authorization: options.authorization });
  }

  bytesRead = (): number => this.#fetch.bytesRead;

  setProtocolVersion(protocolVersion: string): void {
    this.#protocolVersion = protocolVersion;
  }

  onReady(tools: readonly Tool[]): void {
    this.#isReady = true;
    this.#schemas = new Map(tools.map(({ name, inputSchema }) => [name, inputSchema]));
  }

  /** A transport for one message. The SDK takes about 100 ms to load. */
  async #create(exchange: Exchange): Promise<StreamableHTTPClientTransport> {
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    if (this.#isClosed) throw new Error("the connection is closed");
    const { url, headers } = this.#launch;
    const isRequest = exchange.id !== undefined;
    const transport = new StreamableHTTPClientTransport(url, {
      fetch: async (address, init = {}) => {
        const response = await this.#fetch.fetch(address, init, exchange);
        this.#hasHadStream ||= !isRequest && init.method === "GET" && response.ok;
        return response;
      },
      requestInit: { headers: { ...headers } },
      sessionId: this.#sessionId,
      protocolVersion: this.#protocolVersion,
      // The stream of notifications is opened again until it is.
      reconnectionOptions: { ...delays, maxRetries: isRequest ? 2 : Number.POSITIVE_INFINITY },
      reconnectionScheduler: (reconnect, delayMs) =>
        this.#clock.after(Math.max(delayMs, shortestReconnectMs), reconnect),
    });
    transport.onmessage = (raw) => {
      this.#sessionId = transport.sessionId ?? this.#sessionId;
      const message = readMarks(raw);
      const isAnswer = isRecord(message) && own(message, "method") === undefined;
      // The parsed message, because an event may have its text in several lines.
      if (!isDeeper(message, this.#depth)) this.onmessage?.(message, exchange.id);
      else if (isAnswer)
        exchange.fail(
          new AnswerError(`it sent a message that is nested more than ${this.#depth} levels deep`),
        );
      const isOurs = isAnswer && String(own(message, "id")) === String(exchange.id);
      if (isOurs && exchange.isStream) setTimeout(exchange.fail, lingerMs).unref();
    };
    transport.onerror = (error) => {
      // A server that never had a stream of notifications may answer 404 for it.
      if (error instanceof SessionLostError && this.#hasHadStream) this.#lose(error);
    };
    await transport.start();
    return transport;
  }

  send(message: OutgoingMessage, { requestSignal }: { requestSignal?: AbortSignal } = {}): Promise<void> {
    const sent = this.#exchange(message, requestSignal).catch((error) => this.#fail(error, message));
    // Some servers refuse requests until they have it.
    if (message.method === "notifications/initialized") this.#initialized = sent.catch(() => {});
    return sent;
  }

  /** Rejects when a request can no longer be answered, also if it was. Of other messages, settles when they are sent. */
  async #exchange(message: OutgoingMessage, signal?: AbortSignal): Promise<void> {
    const { id, method, params } = message;
    const isRequest = method !== undefined && id !== undefined;
    if (isRequest) await this.#initialized;
    signal?.throwIfAborted();
    const exchange: Exchange = { id: isRequest ? id : undefined, isStream: false, fail() {} };
    const broken = new Promise<never>((_resolve, reject) => {
      exchange.fail = reject;
    });
    broken.catch(() => {});
    const transport = await this.#create(exchange);
    const end = () => {
      this.#open.delete(id);
      void transport.close();
    };
    if (isRequest || method === "notifications/initialized") this.#open.set(id, end);
    const release = signal === undefined ? undefined : whenAborted(signal, end);
    const fail = () => exchange.fail(exchange.fault ?? new AnswerError("it did not answer the request"));
    try {
      const headers = this.#mirror(message);
      await transport.send(markIntegers(message) as never, { headers, onRequestStreamEnd: fail });
      if (!isRequest) return;
      if (!exchange.isStream) fail();
      await broken;
    } finally {
      if (isRequest) end();
      release?.();
      if (method === "notifications/cancelled" && isRecord(params)) this.#open.get(params.requestId)?.();
    }
  }

  #fail(error: unknown, { method }: OutgoingMessage): never {
    const isUnreachable = error instanceof ConnectionError && error.isUnreachable;
    // A subscription is repeated.
    if (error instanceof SessionLostError || (isUnreachable && method !== "subscriptions/listen"))
      this.#lose(error);
    const isKnown = [AnswerError, ConnectionError, TrailblazeError].some((type) => error instanceof type);
    if (isKnown || isAbort(error)) throw error;
    // Of the SDK's errors, it is only known that the answer is invalid.
    const isJson = !(error instanceof SyntaxError);
    throw new AnswerError(isJson ? "its answer is not a message of MCP" : "its answer is not valid JSON");
  }

  #mirror(message: OutgoingMessage): Record<string, string> {
    const { method, params } = message;
    if (method !== "tools/call" || !isRecord(params) || claimedRevision(message) === undefined) return {};
    return mirrorArguments(this.#schemas.get(String(params.name)), params.arguments);
  }

  #lose({ message }: Error): void {
    if (!this.#isReady || this.#isClosed) return;
    this.#close();
    this.#onLost(this.redactor.redact(message));
  }

  #close(): void {
    this.#isClosed = true;
    for (const end of this.#open.values()) end();
  }

  end(): Promise<void> {
    this.#ending ??= this.#isClosed ? Promise.resolve() : this.#endSession();
    return this.#ending;
  }

  /** Ends the session on the server, within the time, and closes every connection. */
  async #endSession(): Promise<void> {
    const exchange = { id: undefined, isStream: false, fail() {} };
    const transport = this.#sessionId === undefined ? undefined : await this.#create(exchange);
    this.#close();
    const cancel = this.#clock.after(closeMs, () => void transport?.close());
    await transport?.terminateSession().catch(() => {});
    cancel();
  }

  explain(error: unknown): { hint: string } {
    const found = error instanceof ConnectionError ? error.hint : undefined;
    return { hint: found ?? `Check that ${this.#launch.shown} is the URL of a streamable HTTP server.` };
  }
}

/** Connects to a server immediately; `ready` resolves when its tools are known. */
export function startRemoteServer(
  launch: RemoteLaunch,
  events: Omit<ServerEvents, "onStdoutNoise">,
  options: RemoteOptions = {},
): Server {
  const carrier = new RemoteCarrier(launch, options, (reason) =>
    server.lose({ exitCode: null, signal: null, reason, isLost: true, stderrTail: "" }),
  );
  const server = new Server(launch, events, carrier, options.clock);
  return server;
}
