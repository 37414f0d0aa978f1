import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { stringifyExactly } from "../../data/exact-integers.ts";
import { LineDecoder } from "../../runtime/line-decoder.mjs";
import {
  cancelledIdOf,
  isMessage,
  parseMessage,
  type RequestId,
  requestIdOf,
  rpcCode,
  subscriptionOf,
} from "../client-message.ts";

/** What a line of input holds: a message, a request that only an error can answer, or nothing to answer. */
type ReadLine =
  | { message: JSONRPCMessage }
  | { refused: { id: RequestId; error: { code: number; message: string } } }
  | undefined;

/** The id of a request that is JSON but cannot be handled. */
function findId(line: Buffer): RequestId | undefined {
  try {
    return requestIdOf(JSON.parse(line.toString()));
  } catch {
    return undefined;
  }
}

function readLine(line: Buffer): ReadLine {
  const parsed = parseMessage(line);
  if ("value" in parsed && isMessage(parsed.value)) return { message: parsed.value };
  const id = "value" in parsed ? requestIdOf(parsed.value) : findId(line);
  if (id === undefined) return undefined;
  const [code, message] =
    "fault" in parsed
      ? [parsed.code, parsed.fault]
      : [rpcCode.request, "The message is not valid JSON-RPC 2.0."];
  return { refused: { id, error: { code, message } } };
}

/** Why the connection ended: its input ended, its output closed, or it was closed by us. */
export type StdioEnd = "input" | "output" | "closed";

/** How many characters of answers may wait for the end of a turn. */
const mostJoined = 64 * 1024;

/**
 * Newline-delimited JSON over two streams. Lines that are no messages are skipped.
 * While the client does not read its answers, its further input is held back, up to the limit of one message; reading
 * goes on, because the end of the input must be noticed even then.
 */
export class StdioTransport implements Transport {
  readonly sessionId: string;
  onmessage?: NonNullable<Transport["onmessage"]>;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #onEnd: (end: StdioEnd) => void;
  readonly #lines: LineDecoder;
  /** Requests that are neither answered nor canceled. */
  readonly #open = new Set<RequestId>();
  /** Called when no request is open, or none can be answered. */
  #whenSettled: (() => void)[] = [];
  #unwritten = 0;
  /** Lines that the stream does not have yet, and what to call when it has taken them. */
  #unsent = "";
  #whenWritten: (() => void)[] = [];
  readonly #maxHeldBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #isReading = false;
  #canWrite = true;
  #isClosed = false;

  /** `onEnd` is called once, when no more input can arrive. */
  constructor(
    sessionId: string,
    streams: { input: Readable; output: Writable },
    maxLineBytes: number,
    onEnd: (end: StdioEnd) => void,
  ) {
    this.sessionId = sessionId;
    this.#input = streams.input;
    this.#output = streams.output;
    this.#maxHeldBytes = maxLineBytes;
    this.#lines = new LineDecoder(maxLineBytes, {
      onLine: (line) => this.#take(line),
      onTooLong: () => this.#refuseLong(maxLineBytes),
    });
    let hasEnded = false;
    this.#onEnd = (end) => {
      if (!hasEnded) onEnd(end);
      hasEnded = true;
    };
  }

  async start(): Promise<void> {
    this.#isReading = true;
    this.#output.on("error", this.#outputGone).on("close", this.#outputGone).on("drain", this.#resume);
    this.#input.on("data", this.#read).on("error", this.#inputEnded).on("close", this.#inputEnded);
    this.#input.on("end", this.#inputEnded);
    if (this.#input.readableEnded || this.#input.destroyed) this.#inputEnded();
  }

  /** Resolves when the stream has taken the message, or is closed. */
  send(message: JSONRPCMessage): Promise<void> {
    if ("result" in message || "error" in message) {
      const { id } = message as { id?: RequestId };
      if (id !== undefined) this.#open.delete(id);
    } else {
      // A subscription lasts as long as the connection, so its answer must not be waited for.
      const subscription = subscriptionOf(message);
      if (subscription !== undefined) this.#open.delete(subscription);
    }
    return this.#write(message).then(() => this.#settle());
  }

  /** Resolves when every request is answered and written, at the latest after `graceMs`. */
  untilAnswered(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, graceMs);
      this.#whenSettled.push(() => {
        clearTimeout(timer);
        resolve();
      });
      this.#settle();
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopReading();
    this.#input.pause();
    this.#output.off("drain", this.#resume);
    this.#open.clear();
    this.#settle();
    this.onclose?.();
    this.#onEnd("closed");
  }

  /**
   * Answers of one turn of the event loop are written together: each write costs as much as making a short answer. Other messages
   * are written at once, because code of a pack may block the event loop after it has reported its progress.
   */
  #write(message: object): Promise<void> {
    if (!this.#canWrite) return Promise.resolve();
    return new Promise((resolve) => {
      this.#unsent += `${stringifyExactly(message)}\n`;
      this.#unwritten++;
      this.#whenWritten.push(resolve);
      if ("method" in message || this.#unsent.length > mostJoined) this.#flush();
      else if (this.#whenWritten.length === 1) process.nextTick(this.#flush);
    });
  }

  readonly #flush = (): void => {
    const written = this.#whenWritten;
    if (written.length === 0) return;
    const lines = this.#unsent;
    this.#whenWritten = [];
    this.#unsent = "";
    this.#output.write(lines, () => {
      this.#unwritten -= written.length;
      for (const resolve of written) resolve();
      this.#settle();
    });
  };

  #settle(): void {
    if (this.#canWrite && (this.#open.size > 0 || this.#unwritten > 0)) return;
    for (const settled of this.#whenSettled.splice(0)) settled();
  }

  #take(line: Buffer): void {
    // The rest of a chunk whose beginning ended the connection.
    if (!this.#isReading) return;
    const read = readLine(line);
    if (read === undefined) return;
    if ("refused" in read) {
      this.onerror?.(new Error(read.refused.error.message));
      void this.#write({ jsonrpc: "2.0", ...read.refused });
    } else {
      const id = requestIdOf(read.message);
      if (id !== undefined) this.#open.add(id);
      this.onmessage?.(read.message);
      const cancelled = cancelledIdOf(read.message);
      if (cancelled !== undefined && this.#open.delete(cancelled)) this.#settle();
    }
  }

  #stopReading(): void {
    this.#isReading = false;
    this.#held = [];
    this.#heldBytes = 0;
    this.#input.off("data", this.#read);
  }

  readonly #read = (data: Buffer | string): void => {
    const chunk = typeof data === "string" ? Buffer.from(data) : data;
    if (!this.#output.writableNeedDrain && this.#held.length === 0) {
      this.#lines.push(chunk);
      return;
    }
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes >= this.#maxHeldBytes) this.#input.pause();
  };

  /** Answers without an id, because the line is not kept. */
  #refuseLong(maxLineBytes: number): void {
    if (!this.#isReading) return;
    const message = `The message exceeds ${maxLineBytes} bytes.`;
    this.onerror?.(new Error(message));
    void this.#write({ jsonrpc: "2.0", id: null, error: { code: rpcCode.request, message } });
  }

  /** Processes the input that was held back, as long as `mayGoOn` returns true. */
  #release(mayGoOn: () => boolean): void {
    while (this.#isReading && mayGoOn()) {
      const chunk = this.#held.shift();
      if (chunk === undefined) return;
      this.#heldBytes -= chunk.length;
      this.#lines.push(chunk);
    }
  }

  readonly #resume = (): void => {
    this.#release(() => !this.#output.writableNeedDrain);
    if (this.#isReading && this.#heldBytes < this.#maxHeldBytes) this.#input.resume();
  };

  readonly #inputEnded = (): void => {
    this.#release(() => true);
    if (!this.#isReading) return;
    this.#stopReading();
    this.#onEnd("input");
  };

  readonly #outputGone = (): void => {
    if (!this.#canWrite) return;
    this.#canWrite = false;
    this.#stopReading();
    this.#settle();
    this.#onEnd("output");
  };
}
