import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { failure } from "../problems/index.ts";
import { endDurations, type ProcessLaunch, type ProcessPort } from "../processes/server-process.ts";
import { atMost } from "../runtime/abort-listeners.ts";
import type { RunningServer } from "./serve-options.ts";

/** The streams of this process. */
export interface OwnStreams {
  input: Readable;
  output: Writable;
  error: Writable;
}

/** What ending the program takes into account besides. */
interface Drained {
  /** How long the program may go on after the input has ended, in seconds. Default: 2. */
  drain?: number | undefined;
}

/** How long each step of ending the server's process may take, in milliseconds. */
/** How long its remaining output may take to be read after its exit. Milliseconds. */
const drainMs = 2000;

const flush = (stream: Writable) => new Promise<void>((resolve) => stream.write("", () => resolve()));

/**
 * Runs a program with this process's own streams, unchanged. It ends after its input has ended, or by `close`. Rejects with
 * `ServerStartFailed` if it cannot be started; `ended` rejects if it exits with an error.
 */
export async function passThrough(
  label: string,
  launch: ProcessLaunch,
  processes: ProcessPort,
  { input, output, error, drain = 2 }: OwnStreams & Drained,
): Promise<RunningServer> {
  const child = processes.start(launch);
  try {
    await child.started;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw failure("ServerStartFailed", { label, reason }, {}, { cause });
  }
  let isClosing = false;
  let inputEndsAt = Number.POSITIVE_INFINITY;
  // When either side closes its stream, the other one sees the end of it.
  child.stdin.on("error", () => {});
  output.on("error", () => {
    // Keep reading and drop the output, so that the program does not block.
    child.stdout.resume();
    void close();
  });
  input.pipe(child.stdin);
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(error, { end: false });
  const written = Promise.all([finished(child.stdout), finished(child.stderr)])
    .catch(() => {})
    .then(() => Promise.all([flush(output), flush(error)]));
  const end = (inputMs: number): Promise<void> => {
    isClosing = true;
    return child.end({ ...endDurations, inputMs });
  };
  const isEnding = () => isClosing || inputEndsAt !== Number.POSITIVE_INFINITY;
  // One that ends already is in a hurry.
  const close = () => end(isEnding() ? 0 : endDurations.inputMs);
  input.once("end", () => {
    inputEndsAt = performance.now() + drain * 1000;
    void child.end({ ...endDurations, inputMs: drain * 1000 });
  });
  const ended = child.exited.then(async (exit) => {
    input.unpipe(child.stdin);
    input.pause();
    // Output may still be in the pipes after the exit.
    await atMost(written, drainMs);
    const isTold = isClosing || performance.now() >= inputEndsAt;
    if (!isTold && exit.exitCode !== 0) throw failure("ServerDied", { label, exit, isServed: true });
  });
  // Its messages are not read: the program itself finishes its calls when its input ends.
  return { drain: async (seconds) => void (isEnding() || (await end(seconds * 1000))), close, ended };
}
