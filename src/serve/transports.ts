// The only module that uses this process's own streams for serving.
import type { Readable, Writable } from "node:stream";
import { formatProblem, type Problem, printableLines } from "../problems/index.ts";

/** The protocol's streams after they were reserved, which a process can do once. */
let protocolOutput: Writable | undefined;
let protocolInput: Readable | undefined;

export function logToStderr(text: string): void {
  process.stderr.write(text.endsWith("\n") ? text : `${text}\n`);
}

/** Prints each problem once, except for hints about what works. */
export function createReporter(): (problem: Problem) => void {
  const reported = new Set<unknown>();
  return (problem) => {
    const { code, message, pack, item } = problem;
    // An exit can happen again.
    const key = code === "ServerDied" ? problem : JSON.stringify([code, message, pack, item]);
    if (problem.severity === "info" || reported.has(key)) return;
    reported.add(key);
    logToStderr(printableLines(formatProblem(problem)));
  };
}

/**
 * Redirects everything that this process prints to stderr, and over stdio makes its stdin empty; only `protocolStreams` has the
 * real streams. `ownsProcess`: also for code that bypasses the streams.
 */
export async function reserveStreams(isStdio: boolean, ownsProcess: boolean): Promise<void> {
  const reserving = await import("../mcp/stdio/reserve-streams.ts");
  protocolOutput ??= reserving.reserveStdout(process.stdout, process.stderr);
  if (isStdio) protocolInput ??= reserving.reserveStdin(process);
  if (isStdio && ownsProcess) reserving.reserveDescriptors();
}

export const protocolStreams = () => ({
  input: protocolInput ?? process.stdin,
  output: protocolOutput ?? process.stdout,
});
