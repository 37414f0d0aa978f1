import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import { unmarkBytes, unmarkText } from "../../data/exact-integers.ts";
import { timerMs } from "../../runtime/abort-listeners.ts";

/** A request before its body is read. */
export interface RequestHead {
  readonly method: string;
  /** Path and query as in the request line, not decoded. */
  readonly target: string;
  /** The IP address of the other end of the connection, which may be a proxy. */
  readonly address: string;
  /** Every value of the header with this lower-case name, in order. */
  headerValues(name: string): readonly string[];
}

/** The values of the headers with these names. A client that accepts anything accepts what the protocol needs. */
export const headersIn = (head: RequestHead, names: readonly string[]): [string, string][] =>
  names.flatMap((name) => {
    const values = head.headerValues(name);
    const takesAll = name === "accept" && (values.length === 0 || values.join().includes("*/*"));
    const read = takesAll ? ["application/json, text/event-stream"] : values;
    return read.map((value): [string, string] => [name, value]);
  });

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
  readonly onSent?: OnSent;
}

/** Called once, when this process has handed over the whole answer, or the client is gone. */
type OnSent = () => void;

/** Why a request fails as HTTP, as a status. 503: the server is closing. */
export type Refusal = 400 | 405 | 408 | 413 | 431 | 503;

/** The error for a request that Node cannot parse. */
export function refusalOf(error: Error): Refusal {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "HPE_HEADER_OVERFLOW") return 431;
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return 413;
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
}

/** An answer that lasts as long as its stream. */
export interface StreamedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly stream: ReadableStream<Uint8Array>;
  /** Called once, when the stream is read to its end or the client has disconnected. */
  onEnd(): void;
  readonly onSent?: OnSent;
}

/** A response of an SDK as an answer. `onEnd` is called for a stream only, once. */
export async function toAnswer(response: Response, onEnd: () => void): Promise<Answer | StreamedAnswer> {
  // Node manages the connection itself.
  response.headers.delete("connection");
  const { status } = response;
  const headers = Object.fromEntries(response.headers);
  const isStream = headers["content-type"]?.startsWith("text/event-stream") === true;
  if (!isStream || response.body === null)
    return { status, headers, body: unmarkText(await response.text()) };
  return { status, headers, stream: response.body as ReadableStream<Uint8Array>, onEnd };
}

function headersOf({ headers, body, status }: Answer): Record<string, string> {
  return {
    ...(body === "" ? {} : { "content-type": "application/json" }),
    ...(status === 204 ? {} : { "content-length": String(Buffer.byteLength(body)) }),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...headers,
  };
}

/** An answer as text, for a connection without a response object. */
export function formatRaw(answer: Answer): string {
  const headers = Object.entries({ ...headersOf(answer), connection: "close" });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ""}\r\n${lines}\r\n${answer.body}`;
}

export function sendWhole(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, headersOf(answer));
  response.end(answer.body);
}

/** Sends the answer, and ends the connection when the client has stopped sending, or after `lingerMs`. */
export function writeRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  lingerMs: number,
): void {
  response.writeHead(answer.status, { ...headersOf(answer), connection: "close" });
  response.write(answer.body);
  const timer = setTimeout(() => response.end(), lingerMs).unref();
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  if (request.readableEnded) end();
  else request.once("end", end).once("close", end).resume();
}

/** Resolves when the response can take more, or is closed. */
const untilDrained = (response: ServerResponse, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const finish = () => {
      response.off("drain", finish);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    response.once("drain", finish);
    signal.addEventListener("abort", finish, { once: true });
    if (signal.aborted) finish();
  });

/** Sends the stream as fast as the client reads, and cancels it when the client disconnects. */
export async function sendStream(
  response: ServerResponse,
  { status, headers, stream, onEnd }: StreamedAnswer,
  signal: AbortSignal,
): Promise<void> {
  const reader = stream.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  try {
    if (signal.aborted) cancel();
    else {
      response.writeHead(status, { "x-content-type-options": "nosniff", ...headers });
      // Show that the stream is open before its first event.
      response.flushHeaders();
    }
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) break;
      // A chunk of an SDK is a whole event.
      if (!response.write(unmarkBytes(value))) await untilDrained(response, signal);
    }
    response.end();
  } finally {
    signal.removeEventListener("abort", cancel);
    onEnd();
  }
}

/** `gone` if the client disconnects before the end. */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  timeoutMs: number,
): Promise<Uint8Array | 408 | 413 | "gone"> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const finish = (result: Uint8Array | 408 | 413 | "gone") => {
      clearTimeout(timer);
      request.off("data", take);
      resolve(result);
    };
    const take = (chunk: Uint8Array) => {
      size += chunk.length;
      if (size > maxBytes) finish(413);
      else chunks.push(chunk);
    };
    const timer = setTimeout(finish, timerMs(timeoutMs), 408).unref();
    request.on("data", take);
    request.once("end", () => finish(Buffer.concat(chunks, size)));
    request.once("close", () => finish("gone"));
  });
}
