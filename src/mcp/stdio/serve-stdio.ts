import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { stringifyExactly } from "../../data/exact-integers.ts";
import { atMost } from "../../runtime/abort-listeners.ts";
import { LineDecoder } from "../../runtime/line-decoder.mjs";
import {
  cancelledIdOf,
  parseMessage,
  type RequestId,
  requestIdOf,
  rpcCode,
  subscriptionOf,
} from "../client-message.ts";
import type { CreateProtocolServer } from "../protocol-server.ts";

/** Why the connection ended: its input ended, its output closed, or it was closed by us. */
type StdioEnd = "input" | "output" | "closed";

export interface ServeStdioOptions {
  input: Readable;
  /** The return value of `reserveStdout` if it is stdout. */
  output: Writable;
  /** Called once, after the server is closed. */
  onEnd?(end: StdioEnd): void;
  /** The longest message of a client, in bytes. Default: 10 MiB. */
  maxLineBytes?: number;
  /** How long answers may take after the input has ended. Default: `graceMs`. */
  drainMs?: number;
  /** How long the server may take to close. Default: 2 s. */
  graceMs?: number;
}

export interface ServedOverStdio {
  /**
   * Resolves when no request is open, at the latest after `limitMs`. After the end of the input, which has waited for them already, it
   * resolves at once.
   */
  drain(limitMs: number): Promise<void>;
  /** Ends it after sending the answers that are already written. Idempotent. */
  close(): Promise<void>;
}

/** Newline-delimited JSON over two streams. Lines that are no messages are skipped. */
class StdioTransport implements Transport {
  onmessage?: NonNullable<Transport["onmessage"]>;
  onclose?: () => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #lines: LineDecoder;
  readonly #isMessage: (value: unknown) => value is JSONRPCMessage;
  readonly #onEnd: (end: StdioEnd) => void;
  /** Requests that are neither answered nor canceled. */
  readonly #open = new Set<RequestId>();
  /** Lines that the stream does not have yet. */
  #unsent = "";
  #writing = 0;
  /** Called when every request is answered and every answer is written, or nothing can be written any more. */
  #whenSettled: (() => void)[] = [];
  #isClosed = false;
  #canWrite = true;

  /** `onEnd` may be called several times. */
  constructor(
    { input, output, maxLineBytes = 10 * 1024 * 1024 }: ServeStdioOptions,
    isMessage: (value: unknown) => value is JSONRPCMessage,
    onEnd: (end: StdioEnd) => void,
  ) {
    this.#input = input;
    this.#output = output;
    this.#isMessage = isMessage;
    this.#onEnd = onEnd;
    this.#lines = new LineDecoder(maxLineBytes, {
      onLine: (line) => this.#take(line),
      // Without an id, because the line is not kept.
      onTooLong: () => this.#refuse(null, `The message exceeds ${maxLineBytes} bytes.`),
    });
  }

  async start(): Promise<void> {
    this.#output.on("error", this.#outputGone).on("close", this.#outputGone);
    this.#input.on("data", this.#read).on("error", this.#inputEnded).on("close", this.#inputEnded);
    this.#input.on("end", this.#inputEnded);
    if (this.#input.readableEnded || this.#input.destroyed) this.#inputEnded();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    // A subscription lasts as long as the connection, so its answer must not be waited for.
    const id = "method" in message ? subscriptionOf(message) : message.id;
    if (id !== undefined) this.#open.delete(id);
    this.#write(message);
  }

  /** Resolves when every request is answered and written, at the latest after `limitMs`. */
  untilSettled(limitMs: number): Promise<void> {
    const settled = new Promise<void>((resolve) => this.#whenSettled.push(resolve));
    this.#settle();
    return atMost(settled, limitMs);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.off("data", this.#read).pause();
    this.#open.clear();
    this.#settle();
    this.onclose?.();
    this.#onEnd("closed");
  }

  readonly #read = (chunk: Buffer | string) => {
    this.#lines.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  };

  #take(line: Buffer): void {
    // The rest of a chunk whose beginning ended the connection.
    if (this.#isClosed || !this.#canWrite) return;
    const parsed = parseMessage(line);
    if (!("value" in parsed)) return;
    const { value } = parsed;
    const id = requestIdOf(value);
    if (!this.#isMessage(value)) {
      if (id !== undefined) this.#refuse(id, "The message is not valid JSON-RPC 2.0.");
      return;
    }
    if (id !== undefined) this.#open.add(id);
    this.onmessage?.(value);
    const cancelled = cancelledIdOf(value);
    if (cancelled !== undefined && this.#open.delete(cancelled)) this.#settle();
  }

  #refuse(id: RequestId | null, message: string): void {
    this.#write({ jsonrpc: "2.0", id, error: { code: rpcCode.request, message } });
  }

  /**
   * Answers of one turn of the event loop are written together: each write costs as much as making a short answer. Other messages
   * are written at once, because code of a pack may block the event loop after it has reported its progress.
   */
  #write(message: object): void {
    if (!this.#canWrite) return;
    this.#unsent += `${stringifyExactly(message)}\n`;
    if ("method" in message) this.#flush();
    else process.nextTick(this.#flush);
  }

  readonly #flush = (): void => {
    const lines = this.#unsent;
    if (lines === "") return;
    this.#unsent = "";
    this.#writing++;
    this.#output.write(lines, () => {
      this.#writing--;
      this.#settle();
    });
  };

  #settle(): void {
    if (this.#canWrite && (this.#open.size > 0 || this.#unsent !== "" || this.#writing > 0)) return;
    for (const settled of this.#whenSettled.splice(0)) settled();
  }

  readonly #inputEnded = (): void => this.#onEnd("input");

  readonly #outputGone = (): void => {
    this.#canWrite = false;
    this.#settle();
    this.#onEnd("output");
  };
}

/** Serves one client over the streams until the input ends. The session id is a UUID. */
export async function serveStdio(
  create: CreateProtocolServer,
  options: ServeStdioOptions,
): Promise<ServedOverStdio> {
  const { onEnd, graceMs = 2000, drainMs = graceMs } = options;
  const { isSpecType } = await import("@modelcontextprotocol/server");
  const server = create({ sessionId: randomUUID() });
  let hurry = () => {};
  const hurried = new Promise<void>((resolve) => {
    hurry = resolve;
  });
  let ending: Promise<void> | undefined;
  const finish = async (why: StdioEnd): Promise<void> => {
    // After the input has ended, the client still waits for answers; after `close`, it does not.
    if (why === "input") await Promise.race([transport.untilSettled(drainMs), hurried]);
    // A server that does not close must not block the exit.
    await atMost(server.close(), graceMs);
    await transport.close();
    await transport.untilSettled(graceMs);
    onEnd?.(why);
  };
  const end = (why: StdioEnd): Promise<void> => {
    // Deferred, because closing calls this again.
    ending ??= Promise.resolve(why).then(finish);
    return ending;
  };
  const transport = new StdioTransport(options, isSpecType.JSONRPCMessage, (why) => void end(why));
  await server.connect(transport);
  return {
    async drain(limitMs) {
      if (ending === undefined) await Promise.race([transport.untilSettled(limitMs), hurried]);
    },
    close: () => {
      hurry();
      return end("closed");
    },
  };
}
