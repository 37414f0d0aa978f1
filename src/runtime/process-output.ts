import type { Readable } from "node:stream";
import { atMost } from "./abort-listeners.ts";

export const shownTailBytes = 4096;
/** How many are kept: the output is redacted before it is cut to what is shown. */
export const keptTailBytes = 2 * shownTailBytes;

/** The end of a string: at most `limitBytes` of UTF-8, without the rest of a character that was cut. */
export const cutTail = (text: string, limitBytes: number): string =>
  Buffer.from(text)
    .subarray(-limitBytes)
    .toString()
    .replace(/^\uFFFD+/, "");

/** How long output may still arrive after an exit. Milliseconds. */
const restMs = 500;

/**
 * Resolves when a process's output is read, and destroys the streams: when all of them are closed, or after a while, because
 * another process may hold them open.
 */
export async function readToEnd(streams: readonly Readable[]): Promise<void> {
  const ends = streams.map(
    (stream) =>
      new Promise<void>((resolve) => {
        if (stream.closed || stream.readableEnded) resolve();
        else stream.once("close", resolve);
      }),
  );
  await atMost(Promise.all(ends), restMs);
  for (const stream of streams) stream.destroy();
}
