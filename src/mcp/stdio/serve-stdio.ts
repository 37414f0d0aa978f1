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
import type { ProtocolServer } from "../served-server.ts";

/** The longest message of a client, in bytes. */
const mostLineBytes = 10 * 1024 * 1024;

export interface ServeStdioOptions {
  input: Readable;
  /** The return value of `reserveStdout` if it is stdout. */
  output: Writable;
  /** Called with the first message. Messages wait until it resolves. */
  onFirst?: ((message: unknown) => Promise<unknown>) | undefined;
  /** Called once, after the server is closed. */
  onEnd?(): void;
  /** How long answers may take after the input has ended. Default: `graceMs`. */
  drainMs?: number;
  /** How long the server may take to close. Default: 2 s. */
  graceMs?: number;
}

/** Serves one client over lines of JSON until the input ends. Lines that are not messages are skipped. */
export async function serveStdio(server: ProtocolServer, options: ServeStdioOptions) {
  const { input, output, onEnd, onFirst = async () => {}, graceMs = 2000, drainMs = graceMs } = options;
  /** Requests that are neither answered nor canceled. */
  const open = new Set<RequestId>();
  const waits = new EventEmitter();
  const forget = (id: RequestId) => open.delete(id) && open.size === 0 && waits.emit("end");
  /** When all requests are answered, or the client waits no more, at the latest after `limitMs`. */
  const untilSettled = async (limitMs: number) => open.size === 0 || atMost(once(waits, "end"), limitMs);
  let isClosed = false;
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
      if (cancelled !== undefined) forget(cancelled);
    });
  };
  const split = createLineDecoder(mostLineBytes, takeLine, () => {});
  const read = (chunk: Buffer | string) => split(Buffer.from(chunk));
  const onInputEnd = () => void end(drainMs);
  const onOutputGone = () => void end(0);
  const transport: Transport = {
    async start() {
      output.on("error", onOutputGone).on("close", onOutputGone);
      input.on("data", read).on("error", onInputEnd).on("close", onInputEnd).on("end", onInputEnd);
      if (input.readableEnded || input.destroyed) onInputEnd();
    },
    async send(message) {
      // Answers of one turn of the event loop are written together: each write costs as much as making a short answer. Other
      // messages are written at once, because code of a pack may block the event loop after it has reported its progress.
      if (!("method" in message) && output.writableCorked === 0) {
        output.cork();
        process.nextTick(() => output.uncork());
      }
      output.write(`${stringifyExactly(message)}\n`);
      // A subscription lasts as long as the connection, so its answer must not be waited for.
      const id = "method" in message ? subscriptionOf(message) : message.id;
      if (id !== undefined) forget(id);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      input.off("data", read).pause();
      transport.onclose?.();
    },
  };
  let ending: Promise<void> | undefined;
  /** `waitMs`: how long the client still waits for answers. */
  const finish = async (waitMs: number): Promise<void> => {
    await untilSettled(waitMs);
    // A server that does not close must not block the exit.
    await atMost(server.close(), graceMs);
    await transport.close();
    await atMost(new Promise((resolve) => output.write("", resolve)), graceMs);
    onEnd?.();
  };
  const end = (waitMs: number): Promise<void> => {
    if (waitMs === 0) waits.emit("end");
    ending ??= finish(waitMs);
    return ending;
  };
  await server.connect(transport);
  return {
    url: undefined,
    /** Resolves when no request is open, at the latest after `limitMs`; after the end of the input at once. */
    async drain(limitMs: number) {
      if (ending === undefined) await untilSettled(limitMs);
    },
    /** Ends it after sending the answers that are already written. Idempotent. */
    close: () => end(0),
  };
}
