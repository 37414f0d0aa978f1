import { parseExactly, stringifyExactly } from "../../data/exact-integers.ts";
import { findExcessiveDepth } from "../../data/parse-json.ts";
import { attempt } from "../../files/file-errors.ts";
import { failure, formatSize } from "../../problems/index.ts";
import type { ProcessPort } from "../../processes/server-process.ts";
import { atMost } from "../../runtime/abort-listeners.ts";
import { createLineDecoder } from "../../runtime/line-decoder.ts";
import { keepOutput, readToEnd } from "../../runtime/process-output.ts";
import { createRedactor } from "../../runtime/redact.ts";
import { type Carrier, Server } from "./server.ts";
import type { ServerEvents, ServerLaunch } from "./server-calls.ts";
import type { ListLimits } from "./server-lists.ts";

export interface StartOptions {
  /** Shared by all servers of a session, which then have one watcher. */
  processes: ProcessPort;
  /** From the end of its input until SIGTERM. Shortened in tests. Milliseconds. */
  inputMs?: number;
  limits?: Partial<ServerLimits>;
}

export interface ServerLimits {
  /** The longest message from the server, in bytes. */
  frameBytes: number;
  /** How many arrays and objects of a message may be nested. */
  depth: number;
  list: ListLimits;
}

const MiB = 1 << 20;
export const defaultLimits: ServerLimits = {
  frameBytes: 32 * MiB,
  depth: 512,
  list: { pages: 1000, entries: 10_000, bytes: 64 * MiB },
};
/** Of the lines that are not MCP, how many bytes count, and how many characters of the first are reported. */
const noiseBytes = 4096;
const noiseCharacters = 200;
/** How long a server may run after it has closed its stdin or stdout. Milliseconds. */
const silentMs = 1000;
/** For reading the remaining output and writing the log. Milliseconds. */
const lastMs = 2000;

/** Resolves when the process has started, and `ready` when its tools are known. Rejects with `ServerStartFailed`. */
export async function startServer(
  launch: ServerLaunch,
  events: ServerEvents,
  { processes, ...options }: StartOptions,
): Promise<Server> {
  const limits = { ...defaultLimits, ...options.limits };
  const { label } = launch;
  const redactor = createRedactor(launch.secrets);
  const child = await processes.start(launch).catch(({ message }: Error) => {
    const cause = new Error(redactor.redact(message));
    const hint = "Check `command` and `cwd` of the server, and that the program is installed.";
    throw failure("ServerStartFailed", { label, reason: cause.message, hint }, {}, { cause });
  });
  const { stdin, stdout, stderr } = child;
  const errors = keepOutput(redactor, launch);
  stderr.on("data", errors.add);
  /** What it first wrote to stdout that is not MCP. */
  let noise = "";
  /** Whether what it writes is heard. */
  let isOpen = true;
  /** Why the host has ended a server that could no longer communicate. */
  let broken: string | undefined;
  const breakOff = (reason: string) => {
    if (!isOpen) return;
    isOpen = false;
    broken = reason;
    void child.end(0);
  };
  const onNoise = (line: Buffer) => {
    if (noise.length >= noiseBytes) return;
    const isFirst = noise === "";
    const text = line.toString("utf8", 0, noiseBytes);
    noise += `${text}\n`;
    // The rest of a line that it could not finish is no news while it runs.
    if (!isFirst || stdout.readableEnded) return;
    const start = [...redactor.redactCut(text)].slice(0, noiseCharacters).join("");
    attempt(() => events.onStdoutNoise(start));
  };
  const onLine = (line: Buffer) => {
    if (!isOpen) return;
    const text = line.toString("utf8").replace(/^\uFEFF/, "");
    if (findExcessiveDepth(text, limits.depth) >= 0)
      return breakOff(`it sent a message that is nested more than ${limits.depth} levels deep`);
    const value = attempt(() => parseExactly(text));
    if (value === undefined) return text.trim() === "" ? undefined : onNoise(line);
    // MCP 2025-03-26 has batches.
    for (const message of Array.isArray(value) ? value : [value])
      if (isOpen && carrier.onmessage?.(message) === false) onNoise(line);
  };
  const decode = createLineDecoder(limits.frameBytes, onLine, () =>
    breakOff(`it sent a message of more than ${formatSize(limits.frameBytes)}`),
  );
  stdout.on("data", (chunk: Buffer) => {
    carrier.bytesRead += chunk.length;
    if (isOpen) decode(chunk);
  });
  // What it wrote last may have no line end.
  stdout.on("end", () => decode(Buffer.from("\n")));
  // Its exit, which usually follows, is the better reason.
  const breakOffSoon = (reason: string) => {
    const timer = setTimeout(breakOff, silentMs, reason).unref();
    void child.exited.then(() => clearTimeout(timer));
  };
  stdout.on("end", () => breakOffSoon("it has closed its output"));
  stdin.on("close", () => breakOffSoon("it has closed its input"));
  /** Resolves when the process has exited and its output is read. */
  const exited = child.exited.then(async (end) => {
    await readToEnd([stdout, stderr]);
    errors.end();
    carrier.onlost?.({ ...end, reason: broken, stderrTail: errors.tail() });
  });
  const carrier: Carrier & { bytesRead: number } = {
    async send(message) {
      // Its exit is the reason that counts.
      if (!isOpen || !stdin.writable) return;
      const line = `${stringifyExactly(message)}\n`;
      // What is sent in one turn is written at once, which costs both sides one system call instead of one a message.
      if (stdin.writableCorked === 0) {
        stdin.cork();
        process.nextTick(() => stdin.uncork());
      }
      stdin.write(line);
    },
    bytesRead: 0,
    redactor,
    limits,
    explain: (_error, exit) => ({
      reason: broken,
      stderrTail: (exit?.stderrTail ?? errors.tail()) || undefined,
      stdout: redactor.redactCut(noise).trim() || undefined,
    }),
    async end(hasFailed) {
      isOpen = false;
      await child.end(hasFailed ? 0 : options.inputMs);
      // Do not wait for a process that survives SIGKILL.
      await atMost(exited, lastMs);
    },
  };
  return new Server(launch, events, carrier);
}
