import { markText, unmarkText } from "../../data/exact-integers.ts";
import { isRecord } from "../../data/parse-json.ts";
import { readNpmConfiguration } from "../../files/npm-configuration.ts";
import { failure, formatSize, printable } from "../../problems/index.ts";
import { LineDecoder } from "../../runtime/line-decoder.ts";
import { AnswerError, own } from "./json-rpc.ts";
import { fetchThrough, findProxy, ProxyRefusal, showProxy } from "./proxied-fetch.ts";
import type { Redactor } from "./redact.ts";

/** No connection to a remote server, or one that broke off. */
export class ConnectionError extends Error {
  /** Whether the server was not reached at all. */
  isUnreachable = false;
  /** What to do about it; `undefined` if only the URL may be wrong. */
  hint: string | undefined;
}

/** The server does not know the session of a request. */
export class SessionLostError extends AnswerError {}

/** One message to the server, and what comes back. */
export interface Exchange {
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

/** What is known of a remote server. */
export interface RemoteFacts {
  label: string;
  url: URL;
  frameBytes: number;
  redactor: Redactor;
  authorization?: Authorization | undefined;
}

/** How much of the body of an error is shown. */
const shownCharacters = 400;
/** How much of the body of an error is read, and for how long. */
const errorBytes = 1 << 16;
const errorBodyMs = 2000;

/** Why there is no connection: Node's reason is in the causes. `isBefore`: nothing was sent. */
export function findReason(error: unknown): { text: string; isBefore: boolean } {
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

/** The start of a body, as far as it arrives in time. `isWhole`: rejects if that is not all of it. */
export async function readStart(
  { body }: Response,
  mostBytes: number,
  limitMs: number,
  isWhole = false,
): Promise<Buffer> {
  const signal = AbortSignal.timeout(limitMs);
  const chunks: Uint8Array[] = [];
  let left = mostBytes;
  try {
    for await (const chunk of body?.pipeThrough(new TransformStream<Uint8Array>(), { signal }) ?? []) {
      chunks.push(chunk.subarray(0, left));
      left -= chunk.length;
      // Leaving the loop closes the connection.
      if (left < 0) break;
    }
  } catch (error) {
    // What has arrived says enough.
    if (isWhole) throw error;
  }
  if (isWhole && left < 0) throw new Error(`an answer has more than ${mostBytes} bytes`);
  return Buffer.concat(chunks);
}

/** The start of the text of an error. */
const readErrorText = async (response: Response) =>
  (await readStart(response, errorBytes, errorBodyMs)).toString();

/**
 * The requests of one remote server, for the SDK's transport. Obeys proxies, refuses redirects to other origins and messages
 * that are too large, and explains failures: rejects with `ConnectionError`, `AnswerError`, or `TrailblazeError` for
 * `AuthorizationRequired` and `RemoteRedirect`.
 */
export class RemoteFetch {
  readonly #facts: RemoteFacts;
  /** Of answers, in total. */
  bytesRead = 0;
  /** Not the project's .npmrc: a change in it must not lead requests, whose URL was approved, elsewhere. */
  readonly #npm = readNpmConfiguration({ projectDirectory: undefined, env: process.env });

  constructor(facts: RemoteFacts) {
    this.#facts = facts;
  }

  async fetch(address: string | URL, init: RequestInit, exchange: Exchange): Promise<Response> {
    const url = new URL(address);
    const { label, redactor } = this.#facts;
    const { body } = init;
    const { response, tokens, fault } = await this.#authorize(
      url,
      typeof body === "string" ? { ...init, body: unmarkText(body) } : init,
    );
    const { status, headers } = response;
    const type = readType(response);
    // The SDK follows what is left.
    if (this.#checkRedirect(url, response)) return response;
    if (status === 401 || status === 403) {
      const said = summarize(redactor.redactCut(await readErrorText(response)), type);
      const reason = (fault === undefined ? said : printable(redactor.redact(fault))) || undefined;
      const [scheme] = /^[A-Za-z0-9._-]{1,40}/.exec(headers.get("www-authenticate")?.trim() ?? "") ?? [];
      const hasHeader = new Headers(init.headers).has("authorization");
      const scopes = status === 403 && !hasHeader ? await findScopes(response, tokens) : {};
      const more = { ...(hasHeader && { hasHeader }), ...scopes };
      throw failure("AuthorizationRequired", { label, status, scheme, reason, ...more });
    }
    if (status === 404 && new Headers(init.headers).has("mcp-session-id")) {
      await response.body?.cancel();
      throw new SessionLostError("it no longer knows the session");
    }
    if (!response.ok && init.method === "POST") {
      const text = await readErrorText(response);
      // A JSON-RPC error is the answer to the request.
      const error = exchange.id === undefined ? undefined : readRpcError(text);
      if (error !== undefined) return Response.json({ jsonrpc: "2.0", id: exchange.id, error }, { headers });
      const summary = summarize(redactor.redactCut(text), type);
      throw new AnswerError(`it answered with HTTP status ${status}${summary === "" ? "" : `: ${summary}`}`);
    }
    if (!response.ok) {
      await response.body?.cancel();
      return new Response(null, { status, headers });
    }
    exchange.isStream = type === "text/event-stream";
    if (exchange.isStream || (exchange.id !== undefined && type === "application/json"))
      return new Response(ReadableStream.from(this.#readLines(response, exchange)), { status, headers });
    await response.body?.cancel();
    if (exchange.id === undefined) return new Response(null, { status, headers });
    const found = type === "" ? "no content" : `the content type ${type}`;
    throw new AnswerError(`it answered with ${found} instead of MCP messages; check the URL`);
  }

  /** Sends a request with a token, and once more with another if the server refuses it. */
  async #authorize(
    url: URL,
    init: RequestInit,
  ): Promise<{ response: Response; tokens?: Tokens; fault?: string | undefined }> {
    const { authorization } = this.#facts;
    if (authorization === undefined) return { response: await this.#send(url, init) };
    const send = async (tokens: Tokens) => {
      const headers = new Headers(init.headers);
      if (tokens !== undefined) headers.set("authorization", `Bearer ${tokens.access_token}`);
      return { tokens, response: await this.#send(url, { ...init, headers }) };
    };
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

  async #send(url: URL, init: RequestInit): Promise<Response> {
    const proxy = findProxy(url, this.#npm, process.env);
    try {
      return await fetchThrough(proxy, url, init);
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

  /** Whether the answer is a redirect to follow: the first, within the origin, and one that keeps the method and the body. */
  #checkRedirect(url: URL, { status, headers }: Response): boolean {
    const location = headers.get("location");
    if (![301, 302, 303, 307, 308].includes(status) || location === null) return false;
    if (!URL.canParse(location, url.href)) return false;
    const target = new URL(location, url);
    const { label, redactor, url: first } = this.#facts;
    const isOther = target.origin !== url.origin || target.username !== "" || target.password !== "";
    const isFirst = url.href === first.href && target.href !== url.href;
    if (!isOther && isFirst && (status === 307 || status === 308)) return true;
    const shown = `${target.origin}${target.pathname}${target.search === "" ? "" : "?…"}`;
    throw failure("RemoteRedirect", { label, status, target: redactor.redact(shown) });
  }

  /**
   * The lines of an answer as they arrive, with marks in place of integers that a number cannot hold. Throws if a message has
   * more bytes than the limit, or if the connection breaks off.
   */
  async *#readLines({ body }: Response, exchange: Exchange): AsyncGenerator<Uint8Array> {
    const { frameBytes } = this.#facts;
    let lines = "";
    /** Of the message so far. */
    let size = 0;
    const refuse = () => {
      throw new AnswerError(`it sent a message of more than ${formatSize(frameBytes)}`);
    };
    const decoder = new LineDecoder(frameBytes, {
      onLine: (line) => {
        size = line.length === 0 ? 0 : size + line.length;
        if (size > frameBytes) refuse();
        // Each byte is a character, and of the bytes beyond ASCII none matters.
        const text = line.toString("latin1");
        lines += exchange.isStream ? `${text.replace(/^data:.*/, markText)}\n` : markText(text);
      },
      onTooLong: refuse,
    });
    try {
      for await (const chunk of body ?? []) {
        this.bytesRead += chunk.length;
        // A whole answer is one line, however many its white space makes.
        const line = exchange.isStream ? chunk : chunk.map((byte: number) => (byte === 0x0a ? 0x20 : byte));
        decoder.push(Buffer.from(line.buffer, line.byteOffset, line.byteLength));
        if (lines !== "") yield Buffer.from(lines, "latin1");
        lines = "";
      }
      // The rest of a stream that was cut is no event.
      if (!exchange.isStream) decoder.push(Buffer.from("\n"));
      yield Buffer.from(lines, "latin1");
    } catch (error) {
      const isOurs = error instanceof AnswerError || isAbort(error);
      exchange.fault = isOurs
        ? (error as Error)
        : new ConnectionError(`the connection failed: ${findReason(error).text}`);
      // Resumed after an error of ours, the stream would bring the same message again.
      if (isOurs) exchange.fail(exchange.fault);
      throw exchange.fault;
    }
  }
}

export const isAbort = (error: unknown) => error instanceof Error && error.name === "AbortError";

function readRpcError(body: string): object | undefined {
  try {
    const message: unknown = JSON.parse(body);
    const error = isRecord(message) ? own(message, "error") : undefined;
    return isRecord(error) && Number.isSafeInteger(own(error, "code")) ? error : undefined;
  } catch {
    return undefined;
  }
}

/** The scopes that a server asks for beside those of the token, and all of them. Those with characters of shells are left out. */
async function findScopes(
  response: Response,
  tokens: Tokens,
): Promise<{ missing?: string; scopes?: string }> {
  const { computeScopeUnion, extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
  const { error, scope = "" } = extractWWWAuthenticateParams(response);
  if (error !== "insufficient_scope") return {};
  const isPlain = (one: string) => /^[\x23\x25-\x5b\x5d-\x5f\x61-\x7e]{1,200}$/.test(one);
  const granted = (tokens?.scope ?? "").split(/\s+/).filter(isPlain);
  const asked = scope.split(/\s+/).filter(isPlain).slice(0, 50);
  const missing = asked.filter((one) => !granted.includes(one)).join(" ");
  return { missing, scopes: computeScopeUnion(...granted, ...asked) ?? "" };
}
