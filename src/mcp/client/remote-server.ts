import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Tool } from "@modelcontextprotocol/server";
import { findInteger, markIntegers, markText, readMarks, unmarkText } from "../../data/exact-integers.ts";
import { isDeeper } from "../../data/json-values.ts";
import { isRecord } from "../../data/parse-json.ts";
import { attempt } from "../../files/file-errors.ts";
import { readNpmConfiguration } from "../../files/npm-configuration.ts";
import { failure, formatSize, printable, TrailblazeError } from "../../problems/index.ts";
import { whenAborted } from "../../runtime/abort-listeners.ts";
import { createLineDecoder } from "../../runtime/line-decoder.ts";
import { createRedactor, type Redactor } from "../../runtime/redact.ts";
import { clock } from "../../runtime/time-limit.ts";
import { RpcError } from "../client-message.ts";
import type { JsonObject } from "./json-rpc.ts";
import { fetchThrough, findProxy, findReason, readStart, showProxy } from "./proxied-fetch.ts";
import type { Carrier } from "./server.ts";
import type { ServerLaunch } from "./server-calls.ts";
import { defaultLimits, type ServerLimits } from "./start-server.ts";

/** No connection to a remote server, or one that broke off. */
class ConnectionError extends Error {
  isUnreachable = false;
  /** What to do about it; `undefined` if only the URL may be wrong. */
  hint: string | undefined;
}

class SessionLostError extends RpcError {}

interface Exchange {
  /** The id of the request; `undefined` for a message without an answer. */
  id: unknown;
  /** Set when the answer begins: as a stream of events, or whole. */
  isStream: boolean;
  /** Why the answer broke off. The SDK resumes a stream if its events have ids. */
  fault?: Error;
  /** The request fails, unless it was answered. */
  fail(error?: Error): void;
}

type Tokens = { access_token: string; scope?: string | undefined } | undefined;

/** Where the tokens of requests are from, for a server without credentials in its own headers. */
export interface Authorization {
  /** Those for a request; `undefined` without any. */
  tokens(): Promise<Tokens>;
  /** Others after the server has refused one, or wants one. Rejects with the reason why there are none. */
  renew(refused: string | undefined, challenge: Response): Promise<Tokens>;
}

export interface RemoteLaunch
  extends Pick<ServerLaunch, "label" | "secrets" | "timeouts" | "protocol" | "canAsk" | "apps"> {
  url: URL;
  /** The URL for people. */
  shown: string;
  headers: Readonly<Record<string, string>>;
}

export interface RemoteOptions {
  authorization?: Authorization | undefined;
  limits?: Partial<ServerLimits>;
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

const shownCharacters = 400;
/** How much of the body of an error is read, and for how long. */
const errorBytes = 1 << 16;
const errorBodyMs = 2000;

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

/** What must not be printed: headers, the credentials in them, and what is not shown of the URL. */
function findSecrets({ url, shown, headers }: RemoteLaunch): string[] {
  const values = Object.values(headers);
  const credentials = values.map((value) => value.replace(/^\S+\s+/, ""));
  const hidden = url.pathname.split("/").filter((segment) => !shown.includes(segment));
  return [...values, ...credentials, ...hidden, ...url.searchParams.values()];
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
  const message: unknown = attempt(() => JSON.parse(body));
  const error = isRecord(message) ? message.error : undefined;
  return isRecord(error) && Number.isSafeInteger(error.code) ? error : undefined;
}

/** The scopes that a server asks for beside those of the token, and all of them. Those with characters of shells are left out. */
async function findScopes(response: Response, tokens: Tokens) {
  const { computeScopeUnion, extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
  const { error, scope = "" } = extractWWWAuthenticateParams(response);
  if (error !== "insufficient_scope") return {};
  const isPlain = (one: string) => /^[\x23\x25-\x5b\x5d-\x5f\x61-\x7e]{1,200}$/.test(one);
  const granted = (tokens?.scope ?? "").split(/\s+/).filter(isPlain);
  const asked = scope.split(/\s+/).filter(isPlain).slice(0, 50);
  const missing = asked.filter((one) => !granted.includes(one)).join(" ");
  return { missing, scopes: computeScopeUnion(...granted, ...asked) ?? "" };
}

/**
 * Carries messages to a remote server, in both eras. Each message has a transport of the SDK of its own, so that it is known
 * which request a stream, a failure or a message of the server belongs to; that of `notifications/initialized` has the stream
 * of the server's notifications.
 */
export class RemoteCarrier implements Carrier {
  readonly hasPerRequestStream = true;
  readonly redactor: Redactor;
  readonly limits: ServerLimits;
  readonly #authorization: Authorization | undefined;
  onmessage?: Carrier["onmessage"];
  onlost?: Carrier["onlost"];
  readonly #launch: RemoteLaunch;
  bytesRead = 0;
  /** Not the project's .npmrc: a change in it must not lead requests, whose URL was approved, elsewhere. */
  readonly #npm = readNpmConfiguration({ env: process.env });
  /** Close the transports that are in use, by the ids of their requests. */
  readonly #open = new Map<unknown, () => void>();
  #sessionId: string | undefined;
  protocolVersion: string | undefined;
  #schemas = new Map<string, unknown>();
  #isReady = false;
  #isClosed = false;
  #ending: Promise<void> | undefined;
  /** Whether there was a stream of notifications. */
  #hasHadStream = false;

  constructor(launch: RemoteLaunch, options: RemoteOptions) {
    const secrets = findSecrets(launch);
    this.redactor = createRedactor(() => [...secrets, ...launch.secrets()]);
    this.limits = { ...defaultLimits, ...options.limits };
    this.#authorization = options.authorization;
    this.#launch = launch;
  }

  onReady(tools: readonly Tool[]): void {
    this.#isReady = true;
    // Only modern servers compare headers with arguments.
    if (this.protocolVersion === undefined)
      this.#schemas = new Map(tools.map(({ name, inputSchema }) => [name, inputSchema]));
  }

  /** A transport for one message. The SDK takes about 100 ms to load. */
  async #create(exchange: Exchange): Promise<StreamableHTTPClientTransport> {
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    if (this.#isClosed) throw new Error("the connection is closed");
    const { url, headers } = this.#launch;
    const isRequest = exchange.id !== undefined;
    const transport = new StreamableHTTPClientTransport(url, {
      fetch: (address, init = {}) => this.#fetch(address, init, exchange),
      requestInit: { headers: { ...headers } },
      sessionId: this.#sessionId,
      protocolVersion: this.protocolVersion,
      // The stream of notifications is opened again until it is.
      reconnectionOptions: { ...delays, maxRetries: isRequest ? 2 : Number.POSITIVE_INFINITY },
      reconnectionScheduler: (reconnect, delayMs) =>
        clock.after(Math.max(delayMs, shortestReconnectMs), reconnect),
    });
    transport.onmessage = (raw) => {
      this.#sessionId = transport.sessionId ?? this.#sessionId;
      const message = readMarks(raw);
      const isAnswer = isRecord(message) && message.method === undefined;
      // The parsed message, because an event may have its text in several lines.
      if (!isDeeper(message, this.limits.depth)) this.onmessage?.(message, exchange.id);
      else if (isAnswer)
        exchange.fail(
          new RpcError(`it sent a message that is nested more than ${this.limits.depth} levels deep`),
        );
      const isOurs = isAnswer && String(message.id) === String(exchange.id);
      if (isOurs && exchange.isStream) setTimeout(exchange.fail, lingerMs).unref();
    };
    transport.onerror = (error) => {
      // A server that never had a stream of notifications may answer 404 for it.
      if (error instanceof SessionLostError && this.#hasHadStream) this.#lose(error);
    };
    await transport.start();
    return transport;
  }

  /**
   * A request of a transport. Obeys proxies, refuses redirects to other origins and messages that are too large, and explains
   * failures: rejects with `ConnectionError`, `RpcError`, or `TrailblazeError` for `AuthorizationRequired` and `RemoteRedirect`.
   */
  async #fetch(address: string | URL, init: RequestInit, exchange: Exchange): Promise<Response> {
    const url = new URL(address);
    const { redactor } = this;
    const { body } = init;
    const { response, tokens, fault } = await this.#authorize(
      url,
      typeof body === "string" ? { ...init, body: unmarkText(body) } : init,
    );
    const { status, headers } = response;
    const type = readType(response);
    // The SDK follows what is left.
    if (this.#checkRedirect(url, response)) return response;
    if (status === 404 && new Headers(init.headers).has("mcp-session-id")) {
      await response.body?.cancel();
      throw new SessionLostError("it no longer knows the session");
    }
    const isRefused = status === 401 || status === 403;
    if (isRefused || (!response.ok && init.method === "POST")) {
      const text = (await readStart(response, errorBytes, errorBodyMs)).toString();
      const said = summarize(redactor.redactCut(text), type);
      // A JSON-RPC error is the answer to the request.
      const error = isRefused || exchange.id === undefined ? undefined : readRpcError(text);
      if (error !== undefined) return Response.json({ jsonrpc: "2.0", id: exchange.id, error }, { headers });
      if (!isRefused)
        throw new RpcError(`it answered with HTTP status ${status}${said === "" ? "" : `: ${said}`}`);
      const { label } = this.#launch;
      const reason = (fault === undefined ? said : printable(redactor.redact(fault))) || undefined;
      const [scheme] = /^[A-Za-z0-9._-]{1,40}/.exec(headers.get("www-authenticate")?.trim() ?? "") ?? [];
      const hasHeader = new Headers(init.headers).has("authorization");
      const scopes = status === 403 && !hasHeader ? await findScopes(response, tokens) : {};
      const more = { ...(hasHeader && { hasHeader }), ...scopes };
      throw failure("AuthorizationRequired", { label, status, scheme, reason, ...more });
    }
    exchange.isStream = response.ok && type === "text/event-stream";
    this.#hasHadStream ||= exchange.isStream && exchange.id === undefined && init.method === "GET";
    if (exchange.isStream || (response.ok && exchange.id !== undefined && type === "application/json"))
      return new Response(ReadableStream.from(this.#readLines(response, exchange)), { status, headers });
    await response.body?.cancel();
    if (!response.ok || exchange.id === undefined) return new Response(null, { status, headers });
    const found = type === "" ? "no content" : `the content type ${type}`;
    throw new RpcError(`it answered with ${found} instead of MCP messages; check the URL`);
  }

  /** Sends a request with a token, and once more with another if the server refuses it. */
  async #authorize(url: URL, init: RequestInit) {
    const authorization = this.#authorization;
    const send = async (tokens: Tokens, fault?: string) => {
      const headers = new Headers(init.headers);
      if (tokens !== undefined) headers.set("authorization", `Bearer ${tokens.access_token}`);
      return { tokens, fault, response: await this.#request(url, { ...init, headers }) };
    };
    if (authorization === undefined) return send(undefined);
    const first = await send(await authorization.tokens());
    const refused = first.tokens?.access_token;
    if (first.response.status !== 401) return first;
    let fault: string | undefined;
    const others = await authorization.renew(refused, first.response).catch((error) => {
      fault = findReason(error).text;
    });
    if (!others || others.access_token === refused) return { ...first, fault };
    await first.response.body?.cancel();
    return send(others);
  }

  async #request(url: URL, init: RequestInit): Promise<Response> {
    const proxy = findProxy(url, this.#npm, process.env);
    try {
      return await fetchThrough(proxy, url, init);
    } catch (error) {
      if (init.signal?.aborted) throw error;
      const through = proxy === undefined ? "" : ` through the proxy ${showProxy(proxy)}`;
      const { text, isBefore: isUnreachable } = findReason(error);
      const start = isUnreachable ? `no connection${through}` : `the connection${through} failed`;
      const hint =
        proxy &&
        `Check the proxy in the environment or in npm's configuration, or add ${url.hostname} to NO_PROXY.`;
      throw Object.assign(new ConnectionError(`${start}: ${text}`), { isUnreachable, hint });
    }
  }

  /** Whether the answer is a redirect to follow: the first, within the origin, and one that keeps the method and the body. */
  #checkRedirect(url: URL, { status, headers }: Response): boolean {
    const location = headers.get("location");
    if (![301, 302, 303, 307, 308].includes(status) || location === null) return false;
    if (!URL.canParse(location, url.href)) return false;
    const target = new URL(location, url);
    const { label, url: first } = this.#launch;
    const isOther = target.origin !== url.origin || target.username !== "" || target.password !== "";
    const isFirst = url.href === first.href && target.href !== url.href;
    if (!isOther && isFirst && (status === 307 || status === 308)) return true;
    const shown = `${target.origin}${target.pathname}${target.search === "" ? "" : "?…"}`;
    throw failure("RemoteRedirect", { label, status, target: this.redactor.redact(shown) });
  }

  /** With marks in place of integers that a number cannot hold. Throws for a message beyond the limit, and if it breaks off. */
  async *#readLines({ body }: Response, exchange: Exchange): AsyncGenerator<Uint8Array> {
    const { frameBytes } = this.limits;
    let lines = "";
    /** Of the message so far. */
    let size = 0;
    const refuse = () => {
      throw new RpcError(`it sent a message of more than ${formatSize(frameBytes)}`);
    };
    const onLine = (line: Buffer) => {
      size = line.length === 0 ? 0 : size + line.length;
      if (size > frameBytes) refuse();
      // Each byte is a character, and of the bytes beyond ASCII none matters.
      const text = line.toString("latin1");
      lines += exchange.isStream ? `${text.replace(/^data:.*/, markText)}\n` : markText(text);
    };
    const decode = createLineDecoder(frameBytes, onLine, refuse);
    try {
      for await (const chunk of body ?? []) {
        this.bytesRead += chunk.length;
        // A whole answer is one line, however many its white space makes.
        const line = exchange.isStream ? chunk : chunk.map((byte: number) => (byte === 0x0a ? 0x20 : byte));
        decode(Buffer.from(line.buffer, line.byteOffset, line.byteLength));
        if (lines !== "") yield Buffer.from(lines, "latin1");
        lines = "";
      }
      // The rest of a stream that was cut is no event.
      if (!exchange.isStream) decode(Buffer.from("\n"));
      yield Buffer.from(lines, "latin1");
    } catch (error) {
      const isOurs = error instanceof RpcError || isAbort(error);
      exchange.fault = isOurs
        ? (error as Error)
        : new ConnectionError(`the connection failed: ${findReason(error).text}`);
      // Resumed after an error of ours, the stream would bring the same message again.
      if (isOurs) exchange.fail(exchange.fault);
      throw exchange.fault;
    }
  }

  send(message: JsonObject, requestSignal?: AbortSignal): Promise<void> {
    return this.#exchange(message, requestSignal).catch((error) => this.#fail(error, message));
  }

  /** Rejects when a request can no longer be answered, also if it was. Of other messages, settles when they are sent. */
  async #exchange(message: JsonObject, signal?: AbortSignal): Promise<void> {
    const { id, method, params } = message;
    const isRequest = method !== undefined && id !== undefined;
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
    const fail = () => exchange.fail(exchange.fault ?? new RpcError("it did not answer the request"));
    try {
      const { name, arguments: args } = isRecord(params) ? params : ({} as JsonObject);
      const schema = method === "tools/call" ? this.#schemas.get(String(name)) : undefined;
      const headers = mirrorArguments(schema, args);
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

  #fail(error: unknown, { method }: JsonObject): never {
    const isUnreachable = error instanceof ConnectionError && error.isUnreachable;
    // A subscription is repeated.
    if (error instanceof SessionLostError || (isUnreachable && method !== "subscriptions/listen"))
      this.#lose(error);
    const isKnown = [RpcError, ConnectionError, TrailblazeError].some((type) => error instanceof type);
    if (isKnown || isAbort(error)) throw error;
    // Of the SDK's errors, it is only known that the answer is invalid.
    const isJson = !(error instanceof SyntaxError);
    throw new RpcError(isJson ? "its answer is not a message of MCP" : "its answer is not valid JSON");
  }

  /** A request found no server, or none that knows its session. */
  #lose({ message }: Error): void {
    if (!this.#isReady || this.#isClosed) return;
    this.#close();
    const reason = this.redactor.redact(message);
    this.onlost?.({ exitCode: null, signal: null, reason, isLost: true, stderrTail: "" });
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
    const cancel = clock.after(closeMs, () => void transport?.close());
    await transport?.terminateSession().catch(() => {});
    cancel();
  }

  explain(error: unknown): { hint: string } {
    const found = error instanceof ConnectionError ? error.hint : undefined;
    return { hint: found ?? `Check that ${this.#launch.shown} is the URL of a streamable HTTP server.` };
  }
}
