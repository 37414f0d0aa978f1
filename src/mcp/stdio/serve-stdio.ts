import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { isSpecType, type Transport } from "@modelcontextprotocol/server";
import { stringifyExactly } from "../../data/exact-integers.ts";
import { atMost } from "../../runtime/abort-listeners.ts";
import { createLineDecoder } from "../../runtime/line-decoder.ts";
import {
  cancelledIdOf,
  parseMessage,
  type RequestId,
  requestIdOf,
  subscriptionOf,
} from "../client-message.ts";
import type { CreateProtocolServer } from "../served-server.ts";

/** Why the connection ended: its input ended, its output closed, or it was closed by us. */
type StdioEnd = "input" | "output" | "closed";

export interface ServeStdioOptions {
  input: Readable;
  /** The return value of `reserveStdout` if it is stdout. */
  output: Writable;
  /** Called with the first message, or without one at the end of the input. Messages wait until it resolves. */
  onFirst?: ((message?: unknown) => Promise<unknown>) | undefined;
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
  /** Resolves when no request is open, at the latest after `limitMs`; after the end of the input at once. */
  drain(limitMs: number): Promise<void>;
  /** Ends it after sending the answers that are already written. Idempotent. */
  close(): Promise<void>;
}

/** Serves one client over lines of JSON until the input ends. Lines that are not messages are skipped. */
export async function serveStdio(
  create: CreateProtocolServer,
  options: ServeStdioOptions,
): Promise<ServedOverStdio> {
  const {
    input,
    output,
    onEnd,
    onFirst = async () => {},
    maxLineBytes = 10 * 1024 * 1024,
    graceMs = 2000,
    drainMs = graceMs,
  } = options;
  const server = create({ sessionId: randomUUID() });
  /** Requests that are neither answered nor canceled. */
  const open = new Set<RequestId>();
  let writing = 0;
  let isClosed = false;
  const waits = new EventEmitter();
  const isSettled = () => open.size === 0 && writing === 0;
  const settle = () => isSettled() && waits.emit("end");
  /** When all requests are answered in full, or the client waits no more, at the latest after `limitMs`. */
  const untilSettled = async (limitMs: number) => isSettled() || atMost(once(waits, "end"), limitMs);
  let begun: Promise<unknown> | undefined;
  const takeLine = (line: Buffer) => {
    // The rest of a chunk whose beginning ended the connection.
    if (isClosed || !output.writable) return;
    const parsed = parseMessage(line);
    if (!("value" in parsed)) return;
    const { value } = parsed;
    if (!isSpecType.JSONRPCMessage(value)) return;
    const id = requestIdOf(value);
    if (id !== undefined) open.add(id);
    begun ??= onFirst(value);
    void begun.then(() => {
      if (!isClosed) transport.onmessage?.(value);
      const cancelled = cancelledIdOf(value);
      if (cancelled !== undefined && open.delete(cancelled)) settle();
    });
  };
  const decode = createLineDecoder(maxLineBytes, takeLine, () => {});
  const read = (chunk: Buffer | string) => decode(Buffer.from(chunk));
  const onInputEnd = () => {
    begun ??= onFirst();
    void end("input");
  };
  const onOutputGone = () => void end("output");
  const transport: Transport = {
    async start() {
      output.on("error", onOutputGone).on("close", onOutputGone);
      input.on("data", read).on("error", onInputEnd).on("close", onInputEnd).on("end", onInputEnd);
      if (input.readableEnded || input.destroyed) onInputEnd();
    },
    async send(message) {
      // A subscription lasts as long as the connection, so its answer must not be waited for.
      const id = "method" in message ? subscriptionOf(message) : message.id;
      if (id !== undefined) open.delete(id);
      // Answers of one turn of the event loop are written together: each write costs as much as making a short answer. Other
      // messages are written at once, because code of a pack may block the event loop after it has reported its progress.
      if (!("method" in message) && output.writableCorked === 0) {
        output.cork();
        process.nextTick(() => output.uncork());
      }
      writing++;
      output.write(`${stringifyExactly(message)}\n`, () => {
        writing--;
        settle();
      });
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      input.off("data", read).pause();
      open.clear();
      settle();
      transport.onclose?.();
      void end("closed");
    },
  };
  const finish = async (why: StdioEnd): Promise<void> => {
    // After the input has ended, the client still waits for answers; in other cases, it does not.
    if (why === "input") await untilSettled(drainMs);
    // A server that does not close must not block the exit.
    await atMost(server.close(), graceMs);
    await transport.close();
    await untilSettled(graceMs);
    onEnd?.(why);
  };
  let ending: Promise<void> | undefined;
  const end = (why: StdioEnd): Promise<void> => {
    if (why !== "input") waits.emit("end");
    // Deferred, because closing calls this again.
    ending ??= Promise.resolve(why).then(finish);
    return ending;
  };
  await server.connect(transport);
  return {
    async drain(limitMs) {
      if (ending === undefined) await untilSettled(limitMs);
    },
    close: () => end("closed"),
  };
}
