import { once } from "node:events";
import { appendFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { attempt } from "../files/file-errors.ts";
import { atMost } from "./abort-listeners.ts";
import type { Redactor } from "./redact.ts";

const shownTailBytes = 4096;
/** How many are kept: the output is redacted before it is cut to what is shown. */
const keptTailBytes = 2 * shownTailBytes;

/** The end of a string: at most `limitBytes` of UTF-8, without the rest of a character that was cut. */
const cutTail = (text: string, limitBytes: number): string =>
  Buffer.from(text)
    .subarray(-limitBytes)
    .toString()
    .replace(/^\uFFFD+/, "");

export interface OutputOptions {
  /** Absolute path of a log that only this user can read, in an existing folder. */
  logFile?: string | undefined;
  /** After so many, the log gets no more. */
  limitBytes?: number;
  onText?: ((text: string) => void) | undefined;
}

/** Keeps what a process prints, without secrets: in a log, and its end. Ignores errors of the disk: a log never fails a session. */
export function keepOutput(
  redactor: Redactor,
  { logFile, limitBytes = 10 << 20, onText }: OutputOptions = {},
) {
  const stream = redactor.createStream();
  let tail = "";
  let left = limitBytes;
  const write = (text: string) => {
    if (text === "") return;
    tail = cutTail(tail + text, keptTailBytes);
    onText?.(text);
    if (logFile === undefined || left < 0) return;
    left -= Buffer.byteLength(text);
    const note = left < 0 ? `\n[trailblaze: output after ${limitBytes} bytes is dropped]\n` : "";
    attempt(() => appendFileSync(logFile, text + note, { mode: 0o600 }));
  };
  return {
    add: (chunk: Buffer) => write(stream.push(chunk)),
    end: () => write(stream.end()),
    /** The last 4 KiB. A string can become a secret after it was written. */
    tail: () => cutTail(redactor.redact(tail), shownTailBytes),
  };
}

/** How long output may still arrive after an exit. Milliseconds. */
const restMs = 500;

/**
 * Resolves when a process's output is read, and destroys the streams: when all of them are closed, or after a while, because
 * another process may hold them open.
 */
export async function readToEnd(streams: readonly Readable[]): Promise<void> {
  const ends = streams.map((stream) => stream.closed || stream.readableEnded || once(stream, "close"));
  await atMost(Promise.all(ends), restMs);
  for (const stream of streams) stream.destroy();
}
