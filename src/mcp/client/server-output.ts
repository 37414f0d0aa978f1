import type { Readable } from "node:stream";
import type { ProcessLog } from "../../processes/process-port.ts";
import { createStreamRedactor, type Redactor } from "./redact.ts";
import { createTail } from "./stderr-tail.ts";

const tailBytes = 4096;

export interface ErrorOutput {
  /** The last 4 KiB, secrets taken out. */
  tail(): string;
  /** Nothing more comes. Resolves when the log is written. */
  finish(): Promise<void>;
}

/** Reads a server's stderr as fast as it comes, whatever becomes of it. */
export function captureErrorOutput(
  stderr: Readable,
  redactor: Redactor,
  log: ProcessLog | undefined,
): ErrorOutput {
  const redacting = createStreamRedactor(redactor);
  const tail = createTail(tailBytes);
  let finished: Promise<void> | undefined;
  const keep = (text: string) => {
    tail.push(text);
    log?.write(text);
  };
  stderr.on("data", (chunk: Buffer) => {
    if (finished === undefined) keep(redacting.push(chunk));
  });
  return {
    // What was no secret when it was written may be one now.
    tail: () => tail.read(redactor.redact),
    finish() {
      if (finished === undefined) {
        keep(redacting.end());
        finished = log?.end() ?? Promise.resolve();
      }
      return finished;
    },
  };
}

const tickMs = 50;
const mostTicks = 20;

/**
 * Resolves when all that a process has written is read, although another process may hold the other end open: when
 * everything is closed, or a while after nothing came any more.
 */
export function readToEnd(streams: readonly Readable[]): Promise<void> {
  return new Promise((resolve) => {
    let wasBusy = false;
    let ticks = 0;
    const listener = () => {
      wasBusy = true;
    };
    const isOver = () => streams.every((stream) => stream.closed || stream.readableEnded);
    const finish = () => {
      clearTimeout(timer);
      for (const stream of streams) {
        stream.off("data", listener).off("close", check);
        stream.destroy();
      }
      resolve();
    };
    const check = () => {
      if (isOver()) finish();
    };
    // What is ready to be read has been read before the immediate runs, however late the timer was.
    const tick = () =>
      setImmediate(() => {
        if (isOver() || !wasBusy || ++ticks >= mostTicks) return finish();
        wasBusy = false;
        timer = setTimeout(tick, tickMs);
      });
    let timer = setTimeout(tick, tickMs);
    for (const stream of streams) stream.on("data", listener).on("close", check);
    check();
  });
}
