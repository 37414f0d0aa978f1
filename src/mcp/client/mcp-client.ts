import { describeType, isRecord } from "../../data/parse-json.ts";
import { abortable } from "../../runtime/abort-listeners.ts";
import { OpenEntries } from "../../runtime/open-entries.ts";
import { hostVersion } from "../../version.ts";
import { rpcCode } from "../client-message.ts";
import { isModern, legacyRevisions, modernRevision, unsupportedRevision } from "../revisions.ts";
import { AnswerError } from "./answer-error.ts";
import {
  type Era,
  readDiscoverResult,
  readInitializeResult,
  type ServerFacts,
  type ServerProtocol,
} from "./handshake.ts";
import { type Incoming, type JsonObject, own, readIncoming } from "./incoming-message.ts";

export interface OutgoingMessage {
  jsonrpc: "2.0";
  id?: unknown;
  method?: string;
  [key: string]: unknown;
}

/** What carries messages to a server and back. Our channel to a process is one, and so are the SDKs' transports. */
export interface MessageTransport {
  /** Throws or rejects if the message is not sent. Aborting `requestSignal` closes the response stream of a request. */
  send(message: OutgoingMessage, options?: { requestSignal?: AbortSignal }): void | Promise<void>;
  /** Set by the client. Returns whether the value is a message of MCP. `requestId`: the request whose stream carries it. */
  onmessage?(message: unknown, requestId?: unknown): unknown;
  /** Set by the owner of the client. Called when notifications arrive again, after which some may have been lost. */
  onresume?(): void;
  /** Whether each request has its own response stream. */
  hasPerRequestStream?: boolean | undefined;
  /** Called after the handshake with a legacy server. */
  setProtocolVersion?(version: string): void;
}

type Notification = Extract<Incoming, { kind: "notification" }>;

/** A request of the server. */
export interface ServerRequest {
  method: string;
  params: JsonObject;
  /** The request on whose stream it arrived; `undefined` if all share one stream. */
  requestId: unknown;
  /** Aborts when the server cancels it, or the client is closed. */
  signal: AbortSignal;
}

export interface ClientOptions {
  /** What servers are told that this client can do. */
  capabilities(era: Era): JsonObject;
  /** Answers a request; `undefined` for a method that it does not know. Rejects with `AnswerError` for an error answer. */
  onRequest(request: ServerRequest): Promise<JsonObject> | undefined;
}

export interface OpenRequest {
  readonly id: number;
  /**
   * Resolves with the result as the server sent it. Rejects with `AnswerError` for an error answer, for an invalid one and
   * after `cancel`; with the transport's error if the request is not sent; with another error when the client is closed.
   */
  readonly answer: Promise<JsonObject>;
  /** Cancels the request once, unless it is already answered. */
  cancel(reason: string): void;
}

interface Pending {
  id: number;
  resolve(result: JsonObject): void;
  reject(error: unknown): void;
  /** The server does not work for the request any more. */
  release(): void;
  /** The values of `resultType` that are accepted besides `complete`; `undefined` for any. */
  resultTypes: readonly unknown[] | undefined;
}

/** How long a server is taken to work for a canceled request that it does not answer. Milliseconds. */
const canceledMs = 600_000;

const clientInfo = { name: "trailblaze", version: hostVersion };

/** Whether a server refuses `initialize` because it is modern. */
function refusesInitialize(error: unknown): boolean {
  if (!(error instanceof AnswerError) || error.code === undefined) return false;
  if (error.code === unsupportedRevision || error.code === rpcCode.method) return true;
  const supported = isRecord(error.data) ? own(error.data, "supported") : undefined;
  return Array.isArray(supported) && supported.some((one) => typeof one === "string" && isModern(one));
}

/** Parameters as modern servers expect them. */
function addModernMeta(params: JsonObject, capabilities: JsonObject): JsonObject {
  const meta = own(params, "_meta");
  const modernMeta = {
    "io.modelcontextprotocol/protocolVersion": modernRevision,
    "io.modelcontextprotocol/clientInfo": clientInfo,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  return { ...params, _meta: { ...modernMeta, ...(isRecord(meta) ? meta : {}) } };
}

const describeValue = (value: unknown) =>
  typeof value === "string" ? JSON.stringify(value) : describeType(value);

/** A client of one server, of either era. Without options it has no capabilities, and answers only `ping`. */
export class McpClient {
  readonly #transport: MessageTransport;
  readonly #onNotification: (notification: Notification, requestId: unknown) => void;
  readonly #options: ClientOptions;
  readonly #pending = new OpenEntries<number, Pending>();
  /** The canceled requests that the server may still work for, by ID. */
  readonly #canceled = new Map<number, () => void>();
  /** The requests of the server that are not answered yet. */
  readonly #asked = new Map<unknown, AbortController>();
  #lastId = 0;
  #era: Era = "legacy";

  /** Receives the messages of the transport, which is open. */
  constructor(
    transport: MessageTransport,
    onNotification: (notification: Notification, requestId: unknown) => void,
    options: ClientOptions = { capabilities: () => ({}), onRequest: () => undefined },
  ) {
    this.#options = options;
    this.#transport = transport;
    this.#onNotification = onNotification;
    transport.onmessage = (message, requestId) => this.#receive(message, requestId);
  }

  /**
   * The handshake, which decides the era: `initialize` and `notifications/initialized`, or `server/discover`. Rejects as
   * requests do, or with the reason of `signal`.
   */
  async connect(protocol: ServerProtocol, signal: AbortSignal): Promise<ServerFacts> {
    if (protocol === "modern") return this.#discover(signal);
    try {
      return await this.#initialize(signal);
    } catch (error) {
      if (protocol === "legacy" || !refusesInitialize(error)) throw error;
      return this.#discover(signal);
    }
  }

  async #initialize(signal: AbortSignal): Promise<ServerFacts> {
    const capabilities = this.#options.capabilities("legacy");
    const params = { protocolVersion: legacyRevisions[0], capabilities, clientInfo };
    // A client must not cancel `initialize`.
    const result = await abortable(signal, () => this.request("initialize", params).answer);
    const facts = readInitializeResult(result);
    this.#transport.setProtocolVersion?.(facts.protocolVersion);
    this.#notify({ method: "notifications/initialized" });
    return facts;
  }

  async #discover(signal: AbortSignal): Promise<ServerFacts> {
    this.#era = "modern";
    return readDiscoverResult(await abortable(signal, () => this.request("server/discover", {}).answer));
  }

  /** `legacy` before the handshake. */
  get era(): Era {
    return this.#era;
  }

  /**
   * Sends a request. A modern one carries `_meta` of this client, unless `params` has its own. A `resultType` other than
   * `complete` and those given is an error, unless the result is `openEnded`. `onReleased` is called once, when the server does
   * not work for the request any more: of a canceled one when it is answered after all, at the latest after ten minutes.
   */
  request(
    method: string,
    params: JsonObject,
    {
      openEnded = false,
      resultTypes = [],
      onReleased = () => {},
    }: { openEnded?: boolean; resultTypes?: readonly string[]; onReleased?: () => void } = {},
  ): OpenRequest {
    const id = ++this.#lastId;
    const isModernRequest = this.#era === "modern";
    const answer = new Promise<JsonObject>((resolve, reject) => {
      const accepted = openEnded || !isModernRequest ? undefined : resultTypes;
      this.#pending.add({ id, resolve, reject, release: onReleased, resultTypes: accepted });
    });
    const stream = isModernRequest && this.#transport.hasPerRequestStream ? new AbortController() : undefined;
    const sent = isModernRequest ? addModernMeta(params, this.#options.capabilities("modern")) : params;
    this.#send(
      { jsonrpc: "2.0", id, method, params: sent },
      (error) => this.#settle(id)?.reject(error),
      stream?.signal,
    );
    return {
      id,
      answer,
      cancel: (reason) => {
        const pending = this.#pending.remove(id);
        if (pending === undefined) return;
        this.#keepCanceled(pending);
        if (stream === undefined) {
          this.#notify({ method: "notifications/cancelled", params: { requestId: id, reason } });
        } else stream.abort();
        pending.reject(new AnswerError(reason));
      },
    };
  }

  #send(message: OutgoingMessage, onFailure: (error: unknown) => void, requestSignal?: AbortSignal): void {
    try {
      const options = requestSignal === undefined ? undefined : { requestSignal };
      this.#transport.send(message, options)?.catch(onFailure);
    } catch (error) {
      onFailure(error);
    }
  }

  /** Sends a message without an answer. If it is lost, so is the next request, which then fails. */
  #notify(message: Omit<OutgoingMessage, "jsonrpc">): void {
    this.#send({ jsonrpc: "2.0", ...message }, () => {});
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.remove(id);
    pending?.release();
    return pending;
  }

  #keepCanceled({ id, release }: Pending): void {
    const forget = () => {
      clearTimeout(timer);
      if (this.#canceled.delete(id)) release();
    };
    const timer = setTimeout(forget, canceledMs).unref();
    this.#canceled.set(id, forget);
  }

  #receive(message: unknown, requestId: unknown): boolean {
    const incoming = readIncoming(
      message,
      (id) => this.#pending.find(id) !== undefined || this.#canceled.has(id),
    );
    switch (incoming.kind) {
      case "reply":
        this.#onReply(incoming);
        break;
      case "request":
        void this.#answer(incoming, requestId);
        break;
      case "notification":
        if (incoming.method === "notifications/cancelled")
          this.#asked.get(own(incoming.params, "requestId"))?.abort();
        this.#onNotification(incoming, requestId);
    }
    return incoming.kind !== "noise";
  }

  async #answer(request: Extract<Incoming, { kind: "request" }>, requestId: unknown): Promise<void> {
    const { id, method, params = {} } = request;
    if (method === "ping") {
      this.#notify({ id, result: {} });
      return;
    }
    const cancel = new AbortController();
    this.#asked.set(id, cancel);
    try {
      const { signal } = cancel;
      const result = await this.#options.onRequest({ method, params, requestId, signal });
      if (result === undefined) throw new AnswerError("Method not found", rpcCode.method);
      // The server does not expect an answer to what it has canceled.
      if (!signal.aborted) this.#notify({ id, result });
    } catch (error) {
      if (cancel.signal.aborted) return;
      const code = (error instanceof AnswerError ? error.code : undefined) ?? rpcCode.internal;
      const message = error instanceof Error ? error.message : String(error);
      this.#notify({ id, error: { code, message } });
    } finally {
      if (this.#asked.get(id) === cancel) this.#asked.delete(id);
    }
  }

  #onReply({ id, reply }: Extract<Incoming, { kind: "reply" }>): void {
    const pending = this.#settle(id);
    if (pending === undefined) {
      this.#canceled.get(id)?.();
      return;
    }
    if ("fault" in reply) pending.reject(new AnswerError(reply.fault));
    else if ("error" in reply) {
      const { message, code, data } = reply.error;
      pending.reject(new AnswerError(message, code, data));
    } else {
      const { resultTypes } = pending;
      const type = own(reply.result, "resultType");
      const isAccepted = type === undefined || type === "complete" || resultTypes?.includes(type);
      if (isAccepted || resultTypes === undefined) pending.resolve(reply.result);
      else
        pending.reject(
          new AnswerError(`its answer has the unsupported \`resultType\` ${describeValue(type)}`),
        );
    }
  }

  /** Rejects all open requests. */
  close(): void {
    for (const { id } of this.#pending.all()) this.#settle(id)?.reject(new Error("the connection is closed"));
    for (const forget of this.#canceled.values()) forget();
    for (const cancel of this.#asked.values()) cancel.abort();
  }
}
