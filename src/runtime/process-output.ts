import type { Readable } from "node:stream";

/** The end of a stream's output. */
export interface OutputTail {
  add(chunk: Buffer): void;
  toString(): string;
}

/** How many bytes of a process's last output are shown. */
export const shownTailBytes = 4096;
/** How many are kept: the output is redacted before it is cut to what is shown. */
export const keptTailBytes = 2 * shownTailBytes;

/** The end of a string: at most `limitBytes` of UTF-8, whole characters. */
export function cutTail(text: string, limitBytes: number): string {
  const tail = createOutputTail(limitBytes);
  tail.add(Buffer.from(text));
  return tail.toString();
}

export function createOutputTail(limitBytes: number): OutputTail {
  let tail = Buffer.alloc(0);
  return {
    add(chunk) {
      tail = Buffer.concat([tail, chunk.subarray(-limitBytes)]).subarray(-limitBytes);
    },
    // Drops the rest of a character that was cut.
    toString: () => tail.toString("utf8").replace(/^\uFFFD+/, ""),
  };
}

const tickMs = 50;
const mostTicks = 20;

/**
 * Resolves when a process's output is read, and destroys the streams: when all of them are closed, or when no more
 * output arrives, because another process may hold them open.
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
    // Output that is ready is read before the immediate runs, even if the timer is late.
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
