import { describeType, isRecord } from "../../data/parse-json.ts";
import { abortable } from "../../runtime/abort-listeners.ts";
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
  /** Set by the client. Returns whether the value is a message of MCP. */
  onmessage?(message: unknown): unknown;
  /** Set by the owner of the client. Called when notifications arrive again, after which some may have been lost. */
  onresume?(): void;
  /** Whether each request has its own response stream. */
  hasPerRequestStream?: boolean | undefined;
  /** Called after the handshake with a legacy server. */
  setProtocolVersion?(version: string): void;
}

export interface OpenRequest {
  /**
   * Resolves with the result as the server sent it. Rejects with `AnswerError` for an error answer, for an invalid one and
   * after `cancel`; with the transport's error if the request is not sent; with another error when the client is closed.
   */
  readonly answer: Promise<JsonObject>;
  /** Cancels the request once, unless it is already answered. */
  cancel(reason: string): void;
}

interface Pending {
  resolve(result: JsonObject): void;
  reject(error: unknown): void;
  /** Whether any `resultType` is accepted. */
  isOpenEnded: boolean;
}

const clientInfo = { name: "trailblaze", version: hostVersion };

/** `_meta` of every modern request. */
const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": modernRevision,
  "io.modelcontextprotocol/clientInfo": clientInfo,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Whether a server refuses `initialize` because it is modern. */
function refusesInitialize(error: unknown): boolean {
  if (!(error instanceof AnswerError) || error.code === undefined) return false;
  if (error.code === unsupportedRevision || error.code === rpcCode.method) return true;
  const supported = isRecord(error.data) ? own(error.data, "supported") : undefined;
  return Array.isArray(supported) && supported.some((one) => typeof one === "string" && isModern(one));
}

/** Parameters as modern servers expect them. */
function addModernMeta(params: JsonObject): JsonObject {
  const meta = own(params, "_meta");
  return { ...params, _meta: { ...modernMeta, ...(isRecord(meta) ? meta : {}) } };
}

const describeValue = (value: unknown) =>
  typeof value === "string" ? JSON.stringify(value) : describeType(value);

/** A client of one server, of either era. It has no capabilities, and answers only `ping`. */
export class McpClient {
  readonly #transport: MessageTransport;
  readonly #onNotification: (notification: Extract<Incoming, { kind: "notification" }>) => void;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #era: Era = "legacy";

  /** Receives the messages of the transport, which is open. */
  constructor(
    transport: MessageTransport,
    onNotification: (notification: Extract<Incoming, { kind: "notification" }>) => void,
  ) {
    this.#transport = transport;
    this.#onNotification = onNotification;
    transport.onmessage = (message) => this.#receive(message);
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
    const params = { protocolVersion: legacyRevisions[0], capabilities: {}, clientInfo };
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
   * `complete` is an error, unless the result is `openEnded`.
   */
  request(method: string, params: JsonObject, { openEnded = false } = {}): OpenRequest {
    const id = ++this.#lastId;
    const answer = new Promise<JsonObject>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, isOpenEnded: openEnded || this.#era === "legacy" });
    });
    const isModernRequest = this.#era === "modern";
    const stream = isModernRequest && this.#transport.hasPerRequestStream ? new AbortController() : undefined;
    const sent = isModernRequest ? addModernMeta(params) : params;
    this.#send({ id, method, params: sent }, (error) => this.#settle(id)?.reject(error), stream?.signal);
    return {
      answer,
      cancel: (reason) => {
        const pending = this.#settle(id);
        if (pending === undefined) return;
        if (stream === undefined) {
          this.#notify({ method: "notifications/cancelled", params: { requestId: id, reason } });
        } else stream.abort();
        pending.reject(new AnswerError(reason));
      },
    };
  }

  #send(
    message: Omit<OutgoingMessage, "jsonrpc">,
    onFailure: (error: unknown) => void,
    requestSignal?: AbortSignal,
  ): void {
    try {
      const options = requestSignal === undefined ? undefined : { requestSignal };
      this.#transport.send({ jsonrpc: "2.0", ...message }, options)?.catch(onFailure);
    } catch (error) {
      onFailure(error);
    }
  }

  /** Sends a message without an answer. If it is lost, so is the next request, which then fails. */
  #notify(message: Omit<OutgoingMessage, "jsonrpc">): void {
    this.#send(message, () => {});
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #receive(message: unknown): boolean {
    const incoming = readIncoming(message, (id) => this.#pending.has(id));
    switch (incoming.kind) {
      case "reply":
        this.#onReply(incoming);
        break;
      case "request": {
        const { id, method } = incoming;
        const error = { code: rpcCode.method, message: "Method not found" };
        this.#notify(method === "ping" ? { id, result: {} } : { id, error });
        break;
      }
      case "notification":
        this.#onNotification(incoming);
    }
    return incoming.kind !== "noise";
  }

  #onReply({ id, reply }: Extract<Incoming, { kind: "reply" }>): void {
    const pending = this.#settle(id);
    if (pending === undefined) return;
    if ("fault" in reply) pending.reject(new AnswerError(reply.fault));
    else if ("error" in reply) {
      const { message, code, data } = reply.error;
      pending.reject(new AnswerError(message, code, data));
    } else {
      const type = pending.isOpenEnded ? undefined : own(reply.result, "resultType");
      if (type === undefined || type === "complete") pending.resolve(reply.result);
      else
        pending.reject(
          new AnswerError(`its answer has the unsupported \`resultType\` ${describeValue(type)}`),
        );
    }
  }

  /** Rejects all open requests. */
  close(): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(new Error("the connection is closed"));
  }
}
