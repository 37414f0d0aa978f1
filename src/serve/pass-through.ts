import type { Readable, Writable } from "node:stream";
import type { ProcessLaunch, ProcessPort } from "../io/process-port.ts";
import { failure } from "../problems/index.ts";
import type { RunningServer } from "./serve-options.ts";

/** The streams of this process. */
export interface OwnStreams {
  input: Readable;
  output: Writable;
  error: Writable;
}

/** How a server's process is ended when it is to stop, in milliseconds. */
const endDurations = { inputMs: 5000, termMs: 2000 };

/**
 * Runs a program with this process's own streams, byte by byte. It ends with its input, as the program likes, or by
 * `close`. Rejects with `ServerStartFailed` where it cannot be started; `ended` does where it fails by itself.
 */
export async function passThrough(
  label: string,
  launch: ProcessLaunch,
  processes: ProcessPort,
  { input, output, error }: OwnStreams,
): Promise<RunningServer> {
  const child = processes.start(launch);
  try {
    await child.started;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw failure("ServerStartFailed", { label, reason }, {}, { cause });
  }
  let isClosing = false;
  let closing: Promise<void> | undefined;
  // Whoever is gone first: the other end is told by the end of its stream.
  child.stdin.on("error", () => {});
  output.on("error", () => void close());
  input.pipe(child.stdin);
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(error, { end: false });
  const close = (): Promise<void> => {
    isClosing = true;
    closing ??= child.end(endDurations);
    return closing;
  };
  const ended = child.exited.then(({ exitCode, signal }) => {
    input.unpipe(child.stdin);
    input.pause();
    if (isClosing || exitCode === 0) return;
    const how = signal === null ? `it ended with exit code ${exitCode}` : `it was ended by ${signal}`;
    throw failure("ServerDied", { label, why: how });
  });
  return { close, ended };
}
