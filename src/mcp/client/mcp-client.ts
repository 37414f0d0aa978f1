import { describeType, isRecord } from "../../data/parse-json.ts";
import { abortable, type CallStop } from "../../runtime/abort-listeners.ts";
import { hostVersion } from "../../version.ts";
import {
  capabilitiesKey,
  isModern,
  legacyRevisions,
  modernRevision,
  rpcCode,
  unsupportedRevision,
} from "../client-message.ts";
import { AnswerError, type JsonObject, own, readAnswer } from "./json-rpc.ts";
import type { ServerCallOptions } from "./server-calls.ts";

/** Which revisions of MCP a server speaks: up to 2025-11-25, with sessions, or later ones, without. */
export type Era = "legacy" | "modern";

/** What a client begins with. `auto` begins with `initialize` and becomes modern if the server refuses that. */
export type ServerProtocol = "auto" | Era;

/** The first request of each era. */
export const handshakeOf = { legacy: "initialize", modern: "server/discover" } as const;

/** What the handshake has found out about a server. */
export interface ServerFacts {
  era: Era;
  protocolVersion: string;
  /** `null` for a server that does not say. */
  serverInfo: { name: string; version: string } | null;
  capabilities: JsonObject;
  /** Instructions for models, if it has any. */
  instructions: string | undefined;
}

export interface OutgoingMessage {
  jsonrpc: "2.0";
  id?: unknown;
  method?: string;
  [key: string]: unknown;
}

/** What carries messages to a server and back. */
export interface MessageTransport {
  /**
   * Throws or rejects if the message is not sent, or a request is not answered; of one that was answered, that means nothing.
   * Aborting `requestSignal` closes the response stream of a request.
   */
  send(message: OutgoingMessage, options?: { requestSignal?: AbortSignal }): void | Promise<void>;
  /** Set by the client. Returns whether the value is a message of MCP. `requestId`: the request whose stream carries it. */
  onmessage?(message: unknown, requestId?: unknown): unknown;
  /** Whether each request has its own response stream. */
  hasPerRequestStream?: boolean | undefined;
  /** Called after the handshake with a legacy server. */
  setProtocolVersion?(version: string): void;
}

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
  onNotification(method: string, params: JsonObject, requestId: unknown): void;
  /** What servers are told that this client can do. */
  capabilities(era: Era): JsonObject;
  /** Answers a request; `undefined` for a method that it does not know. Rejects with `AnswerError` for an error answer. */
  onRequest(request: ServerRequest): Promise<JsonObject> | undefined;
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

/** What a call hears while it is open. */
export interface CallEars extends Pick<ServerCallOptions, "ask" | "onProgress" | "onLog"> {
  /** How often the server has asked, and whether it waits for an answer. */
  questions: number;
  isAsking: boolean;
  /** Aborted when the call has ended. */
  ended: CallStop;
}

/** A request that the server may work for. */
interface SentRequest {
  resolve(result: JsonObject): void;
  reject(error: unknown): void;
  /** `undefined` for a request that is not a call, and whose result cannot ask. */
  ears: CallEars | undefined;
  /** When a canceled request is forgotten; `undefined` for one that is open. */
  forgetting?: NodeJS.Timeout;
}

/** How long a server is taken to work for a canceled request that it does not answer. Milliseconds. */
const canceledMs = 600_000;

const clientInfo = { name: "trailblaze", version: hostVersion };

/** Whether a server refuses `initialize` because it is modern. */
function refusesInitialize(error: unknown): boolean {
  if (!(error instanceof AnswerError) || error.code === undefined) return false;
  if ([unsupportedRevision, rpcCode.method, rpcCode.header].includes(error.code)) return true;
  const supported = isRecord(error.data) ? own(error.data, "supported") : undefined;
  return Array.isArray(supported) && supported.some((one) => typeof one === "string" && isModern(one));
}

const isText = (value: unknown): value is string => typeof value === "string";

/** Reads the keys of the result of a handshake that are used here. Throws `AnswerError`. */
function readHandshake(era: Era, result: JsonObject): ServerFacts {
  const answered = `it answered \`${handshakeOf[era]}\` with`;
  const check = (isValid: boolean, key: string, expected: string, value: unknown) => {
    if (isValid) return;
    const fault = `\`${key}\` must be ${expected}, but is ${describeType(value)}`;
    throw new AnswerError(`${answered} an invalid result: ${fault}`);
  };
  const isModern = era === "modern";
  const { protocolVersion, supportedVersions, capabilities, instructions, _meta } = result;
  const inMeta = isRecord(_meta) ? _meta["io.modelcontextprotocol/serverInfo"] : undefined;
  const info = (isModern ? inMeta : result.serverInfo) ?? null;
  const { name, version } = isRecord(info) ? info : ({} as JsonObject);
  if (!isModern) check(isText(protocolVersion), "protocolVersion", "a string", protocolVersion);
  const versions = isModern ? supportedVersions : [protocolVersion];
  check(Array.isArray(versions), "supportedVersions", "an array of strings", versions);
  check(isRecord(capabilities), "capabilities", "an object", capabilities);
  check(info === null || isText(name), "serverInfo.name", "a string", name);
  check(info === null || isText(version), "serverInfo.version", "a string", version);
  const ours = isModern ? [modernRevision] : legacyRevisions;
  const offered = (versions as unknown[]).filter(isText);
  const spoken = offered.find((one) => ours.includes(one));
  if (spoken === undefined)
    throw new AnswerError(`${answered} unsupported protocol versions: ${offered.join(", ")}`);
  return {
    era,
    protocolVersion: spoken,
    serverInfo: info === null ? null : { name: String(name), version: String(version) },
    capabilities: capabilities as JsonObject,
    instructions: isText(instructions) ? instructions : undefined,
  };
}

/** Parameters as modern servers expect them. */
function addModernMeta(params: JsonObject, capabilities: JsonObject): JsonObject {
  const meta = own(params, "_meta");
  const modernMeta = {
    "io.modelcontextprotocol/protocolVersion": modernRevision,
    "io.modelcontextprotocol/clientInfo": clientInfo,
    [capabilitiesKey]: capabilities,
  };
  return { ...params, _meta: { ...modernMeta, ...(isRecord(meta) ? meta : {}) } };
}

/** Our ids are numbers; some servers return them as strings. */
const readId = (id: unknown): number =>
  typeof id === "string" && /^\d{1,15}$/.test(id) ? Number(id) : typeof id === "number" ? id : Number.NaN;

const describeValue = (value: unknown) =>
  typeof value === "string" ? JSON.stringify(value) : describeType(value);

/** A client of one server, of either era. */
export class McpClient {
  readonly #transport: MessageTransport;
  readonly #options: ClientOptions;
  readonly #sent = new Map<number, SentRequest>();
  /** The requests of the server that are not answered yet. */
  readonly #asked = new Map<unknown, AbortController>();
  #lastId = 0;
  #era: Era = "legacy";

  /** Receives the messages of the transport, which is open. */
  constructor(transport: MessageTransport, options: ClientOptions) {
    this.#options = options;
    this.#transport = transport;
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
    const facts = readHandshake("legacy", result);
    this.#transport.setProtocolVersion?.(facts.protocolVersion);
    this.#notify({ method: "notifications/initialized" });
    return facts;
  }

  async #discover(signal: AbortSignal): Promise<ServerFacts> {
    this.#era = "modern";
    return readHandshake("modern", await abortable(signal, () => this.request("server/discover", {}).answer));
  }

  /** `legacy` before the handshake. */
  get era(): Era {
    return this.#era;
  }

  /** Whether the server works for no call. A canceled one counts until it is answered, at most ten minutes. */
  get isIdle(): boolean {
    return [...this.#sent.values()].every(({ ears }) => ears === undefined);
  }

  /** The open calls, the oldest first. */
  calls(): { id: number; ears: CallEars }[] {
    return [...this.#sent].flatMap(([id, { ears, forgetting }]) =>
      ears === undefined || forgetting ? [] : [{ id, ears }],
    );
  }

  /** Sends a request. A modern one carries `_meta` of this client, unless `params` has its own. */
  request(method: string, params: JsonObject, ears?: CallEars): OpenRequest {
    const id = ++this.#lastId;
    const isModernRequest = this.#era === "modern";
    const answer = new Promise<JsonObject>((resolve, reject) => {
      this.#sent.set(id, { resolve, reject, ears });
    });
    const stream = isModernRequest && this.#transport.hasPerRequestStream ? new AbortController() : undefined;
    const meta =
      ears?.onProgress === undefined ? {} : { _meta: { ...(params._meta as object), progressToken: id } };
    const asked = { ...params, ...meta };
    const sent = isModernRequest ? addModernMeta(asked, this.#options.capabilities("modern")) : asked;
    this.#send(
      { jsonrpc: "2.0", id, method, params: sent },
      (error) => {
        // The server may still work for a canceled request.
        const request = this.#sent.get(id);
        if (request === undefined || request.forgetting !== undefined) return;
        this.#sent.delete(id);
        request.reject(error);
      },
      stream?.signal,
    );
    return {
      answer,
      cancel: (reason) => {
        const request = this.#sent.get(id);
        if (request === undefined || request.forgetting !== undefined) return;
        request.forgetting = setTimeout(() => this.#sent.delete(id), canceledMs).unref();
        if (stream === undefined) {
          this.#notify({ method: "notifications/cancelled", params: { requestId: id, reason } });
        } else stream.abort();
        request.reject(new AnswerError(reason));
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

  /** Returns whether the value is a message of MCP. */
  #receive(message: unknown, requestId: unknown): boolean {
    if (!isRecord(message)) return false;
    const id = own(message, "id");
    const method = own(message, "method");
    const isProtocol = own(message, "jsonrpc") === "2.0";
    if (typeof method === "string" && isProtocol) {
      const given = own(message, "params");
      const params = isRecord(given) ? given : {};
      if (id === undefined) this.#onNotification(method, params, requestId);
      else if (typeof id === "string" || Number.isSafeInteger(id))
        void this.#answer(id as string | number, { method, params, requestId });
      return true;
    }
    const isAnswer = isProtocol || Object.hasOwn(message, "result") || Object.hasOwn(message, "error");
    const answered = readId(id);
    const request = method === undefined && isAnswer ? this.#sent.get(answered) : undefined;
    if (request === undefined) return isProtocol;
    this.#sent.delete(answered);
    // Of a canceled request, the rest changes nothing any more.
    clearTimeout(request.forgetting);
    try {
      request.resolve(this.#checkType(readAnswer(message), request));
    } catch (error) {
      request.reject(error);
    }
    return true;
  }

  /** Throws `AnswerError` for a `resultType` that a modern server must not send; legacy servers have none. */
  #checkType(result: JsonObject, { ears }: SentRequest): JsonObject {
    const type = own(result, "resultType");
    const isKnown = type === undefined || type === "complete" || (type === "input_required" && ears);
    if (isKnown || this.#era === "legacy") return result;
    throw new AnswerError(`its answer has the unsupported \`resultType\` ${describeValue(type)}`);
  }

  #onNotification(method: string, params: JsonObject, requestId: unknown): void {
    if (method === "notifications/cancelled") this.#asked.get(own(params, "requestId"))?.abort();
    this.#options.onNotification(method, params, requestId);
  }

  async #answer(id: string | number, request: Omit<ServerRequest, "signal">): Promise<void> {
    const { method } = request;
    if (method === "ping") {
      this.#notify({ id, result: {} });
      return;
    }
    const cancel = new AbortController();
    this.#asked.set(id, cancel);
    try {
      const { signal } = cancel;
      const result = await this.#options.onRequest({ ...request, signal });
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

  /** Rejects all open requests. */
  close(): void {
    const open = [...this.#sent.values()];
    this.#sent.clear();
    for (const { reject, forgetting } of open) {
      clearTimeout(forgetting);
      reject(new Error("the connection is closed"));
    }
    for (const cancel of this.#asked.values()) cancel.abort();
  }
}
