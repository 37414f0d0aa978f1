import type { Readable } from "node:stream";
import type { UnexpectedExit } from "../../problems/index.ts";
import {
  type EndDurations,
  endDurations,
  type ProcessLog,
  type ProcessPort,
} from "../../processes/server-process.ts";
import { atMost } from "../../runtime/abort-listeners.ts";
import { notifyHost } from "../../runtime/late-errors.ts";
import {
  createOutputTail,
  cutTail,
  keptTailBytes,
  readToEnd,
  shownTailBytes,
} from "../../runtime/process-output.ts";
import type { ServerEvents, ServerLaunch } from "./connected-server.ts";
import { AnswerError } from "./json-rpc.ts";
import { createRedactor, type Redactor } from "./redact.ts";
import { type Carrier, Server, type StartingServer } from "./server.ts";
import type { ListLimits } from "./server-lists.ts";
import { type ChannelLimits, openStdioChannel } from "./stdio-channel.ts";

/** Reads a server's stderr as it arrives, even without a log. */
function captureErrorOutput(stderr: Readable, redactor: Redactor, log: ProcessLog | undefined) {
  const redacting = redactor.createStream();
  const tail = createOutputTail(keptTailBytes);
  let finished: Promise<void> | undefined;
  const keep = (text: string) => {
    tail.add(Buffer.from(text));
    log?.write(text);
  };
  stderr.on("data", (chunk: Buffer) => {
    if (finished === undefined) keep(redacting.push(chunk));
  });
  return {
    /** The last 4 KiB, redacted: a string can become a secret after it was written. */
    tail: () => cutTail(redactor.redact(tail.toString()), shownTailBytes),
    /** Ends the output. Resolves when the log is written. */
    finish() {
      if (finished === undefined) {
        keep(redacting.end());
        finished = log?.end() ?? Promise.resolve();
      }
      return finished;
    },
  };
}

export interface StartOptions {
  /** Shared by all servers of a session, which then have one watcher. */
  processes: ProcessPort;
  /** Shortened in tests. */
  durations?: Partial<EndDurations>;
  limits?: Partial<ServerLimits>;
}

export interface ServerLimits extends ChannelLimits {
  list: ListLimits;
  logBytes: number;
}

const MiB = 1 << 20;
export const defaultLimits: ServerLimits = {
  frameBytes: 32 * MiB,
  waitingBytes: 32 * MiB,
  depth: 512,
  list: { pages: 1000, entries: 10_000, bytes: 64 * MiB },
  logBytes: 10 * MiB,
};
const noiseCharacters = 200;
/** How long a server may run after it has closed its stdout. Milliseconds. */
const silentMs = 1000;
/** For reading the remaining output and writing the log. Milliseconds. */
const lastMs = 2000;
/** How long the exit of a process may lag behind the end of its pipes. Milliseconds. */
const exitLagMs = 250;

/** Starts the process immediately; `ready` resolves when its tools are known. */
export function startServer(
  launch: ServerLaunch,
  events: ServerEvents,
  { processes, ...options }: StartOptions,
): StartingServer {
  const limits = { ...defaultLimits, ...options.limits };
  const durations = { ...endDurations, ...options.durations };
  const redactor = createRedactor(launch.secrets);
  const log = launch.logFile === undefined ? undefined : processes.openLog(launch.logFile, limits.logBytes);
  const child = processes.start(launch);
  const errorOutput = captureErrorOutput(child.stderr, redactor, log);
  /** What it first wrote to stdout that is not MCP. */
  let noise = "";
  /** Why the host ends the process, and what it had written to stderr before its stdout was closed. */
  let broken: { reason: string; stderrTail: string | undefined } | undefined;
  /** Ends a server that can no longer communicate; the first reason counts. */
  const breakOff = (reason: string, stderrTail?: string) => {
    if (!isEnding) broken ??= { reason, stderrTail };
    void child.end({ inputMs: 0, termMs: durations.termMs });
  };
  let isEnding = false;
  const channel = openStdioChannel(child, limits, {
    onNoise: (line) => {
      const isFirst = noise === "";
      noise += `${line}\n`;
      // The rest of a line that it could not finish is no news while it runs.
      if (!isFirst || child.stdout.readableEnded) return;
      const start = [...redactor.redactCut(line)].slice(0, noiseCharacters).join("");
      notifyHost(() => events.onStdoutNoise(start));
    },
    // Later output is about its closed stdout.
    onFault: (reason) => breakOff(reason, errorOutput.tail()),
  });
  child.stdout.on("end", () => {
    const timer = setTimeout(() => breakOff("it has closed its output"), silentMs).unref();
    void child.exited.then(() => clearTimeout(timer));
  });
  /** Resolves when the process has exited and its output is read. */
  const exited = child.exited.then(async (end) => {
    await readToEnd([child.stdout, child.stderr]);
    void errorOutput.finish();
    const stderrTail = broken?.stderrTail ?? errorOutput.tail();
    server.lose({ ...end, reason: broken?.reason, stderrTail });
  });
  const carrier: Carrier = Object.assign(channel, {
    redactor,
    limits: limits.list,
    started: child.started,
    async explain(error: unknown) {
      // A server that closes its input is usually about to exit, and the exit is the better reason.
      if (error instanceof AnswerError && error.code === undefined) await atMost(exited, exitLagMs);
      const hasStarted = child.pid !== undefined || broken !== undefined;
      const hint = "Check `command` and `cwd` of the server, and that the program is installed.";
      return { reason: broken?.reason, hint: hasStarted ? undefined : hint };
    },
    quote: (exit: UnexpectedExit | undefined) => ({
      stderrTail: (broken?.stderrTail ?? exit?.stderrTail ?? errorOutput.tail()) || undefined,
      stdout: redactor.redactCut(noise).trim() || undefined,
    }),
    async end(hasFailed: boolean) {
      isEnding = true;
      channel.detach();
      if (child.pid === undefined) return;
      await child.end(hasFailed ? { ...durations, inputMs: 0 } : durations);
      // Do not wait for a process that survives SIGKILL.
      await atMost(
        exited.then(() => errorOutput.finish()),
        lastMs,
      );
    },
  });
  const server = new Server(launch, events, carrier);
  return server;
}
