import type { Readable, Writable } from "node:stream";
import type { ServedOverHttp } from "../mcp/http/serve-http.ts";
import type { ProcessLaunch, ProcessPort } from "../processes/server-process.ts";
import type { HttpTransport, RunningServer } from "./serve-options.ts";
import type { ServedEras } from "./served-eras.ts";

// The only module that uses this process's own streams for serving.

/** The protocol's output after stdout was reserved, which a process can do once. */
let protocolOutput: Writable | undefined;
let protocolInput: Readable | undefined;

/** Writes messages and output of served code to stderr. */
export function logToStderr(text: string): void {
  process.stderr.write(text.endsWith("\n") ? text : `${text}\n`);
}

/** Redirects everything that this process prints to stderr; only `serveOverStdio` writes to stdout. */
export async function reserveOutput(): Promise<Writable> {
  if (protocolOutput === undefined) {
    const { reserveStdout } = await import("../mcp/stdio/reserve-stdio.ts");
    protocolOutput = reserveStdout(process.stdout, process.stderr);
  }
  return protocolOutput;
}

/** Makes stdin empty for everything in this process but `serveOverStdio`. */
export async function reserveInput(): Promise<void> {
  if (protocolInput !== undefined) return;
  const { reserveStdin } = await import("../mcp/stdio/reserve-stdio.ts");
  protocolInput = reserveStdin(process);
}

/** Does the same for code that bypasses the streams, in a process that only serves. */
export async function reserveDescriptors(): Promise<void> {
  (await import("../processes/reserve-descriptors.ts")).reserveDescriptors();
}

/** A running server that has ended after `close`, or after it ended by itself. */
function createRunning(url?: string) {
  let announce = () => {};
  const ended = new Promise<void>((resolve) => {
    announce = resolve;
  });
  const finish = (served: Pick<ServedOverHttp, "drain" | "close">): RunningServer => ({
    url,
    ended,
    drain: (seconds) => served.drain(seconds * 1000),
    close: () => served.close().finally(announce),
  });
  return { announce: () => announce(), finish };
}

export async function serveOverStdio(
  { connection }: Pick<ServedEras, "connection">,
  drain?: number,
): Promise<RunningServer> {
  const { serveStdio } = await import("../mcp/stdio/serve-stdio.ts");
  const output = await reserveOutput();
  const { announce, finish } = createRunning();
  const input = protocolInput ?? process.stdin;
  const drainMs = drain === undefined ? undefined : drain * 1000;
  const streams = { input, output, onEnd: announce, drainMs };
  return finish(await serveStdio(connection, streams));
}

export async function serveOverHttp(
  label: string,
  { session, requests, protocol }: Omit<ServedEras, "connection">,
  options: HttpTransport,
): Promise<RunningServer> {
  const { serveHttp } = await import("../mcp/http/serve-http.ts");
  const onMisplaced = (message: string) => logToStderr(`${label}: ${message}`);
  const eras = { modern: requests, protocol };
  const served = await serveHttp(session, { label, ...options, ...eras, onMisplaced });
  return createRunning(served.url).finish(served);
}

/** Runs a program with this process's own stdin, stdout and stderr. */
export async function runOnOwnStreams(
  label: string,
  launch: ProcessLaunch,
  processes: ProcessPort,
  drain?: number,
): Promise<RunningServer> {
  const { passThrough } = await import("./pass-through.ts");
  const streams = { input: process.stdin, output: process.stdout, error: process.stderr };
  return passThrough(label, launch, processes, { ...streams, drain });
}
