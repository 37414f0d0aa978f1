import { fileURLToPath } from "node:url";
import { formatSize } from "../problems/index.ts";
import type { EndDurations, ProcessEnd, ProcessLaunch, ProcessPort } from "../processes/process-port.ts";
import { CodeDiedError } from "./code-died-error.ts";
import { type ChildMessage, readChildMessage } from "./code-messages.ts";
import { LineDecoder } from "./line-decoder.mjs";
import { createOutputTail, keptTailBytes } from "./output-tail.ts";

export interface CodeChildOptions {
  /** Absolute path of the package, symbolic links followed. */
  root: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
  processes: ProcessPort;
  /** Longest message of the child, in bytes. */
  messageBytes: number;
  onMessage(message: ChildMessage): void;
  /** What the pack's code writes to stdout and stderr. */
  onOutput(chunk: Buffer): void;
  onDeath(error: CodeDiedError): void;
}

/** A process that runs a pack's code, and how to talk with it. */
export interface CodeChild {
  send(message: Readonly<Record<string, unknown>>): void;
  /** Ends it and all that it has started; `why` goes on from "because". Idempotent. */
  end(why: string, durations: EndDurations): Promise<void>;
}

/** After the end of the process, how long to wait for what others of its group keep from ending. Milliseconds. */
const drainMs = 500;

/** Starts the child. What is wrong with it, at whatever time, is told once to `onDeath`. */
export function startCodeChild(options: CodeChildOptions): CodeChild {
  const { root, cwd, env, messageBytes } = options;
  const child = options.processes.start(createCodeLaunch({ cwd, env }));
  const tail = createOutputTail(keptTailBytes);
  let why: string | undefined;
  let isDead = false;

  const die = (end: ProcessEnd, fault?: string) => {
    if (isDead) return;
    isDead = true;
    const reason = why ?? fault;
    const stderrTail = tail.toString();
    options.onDeath(new CodeDiedError({ ...end, ...(reason && { reason }), stderrTail }));
  };
  const end = (reason: string, durations: EndDurations) => {
    why ??= reason;
    return child.end(durations);
  };

  let isReading = true;
  const decoder = new LineDecoder(messageBytes, {
    onLine(line) {
      if (!isReading || isDead) return;
      const message = readChildMessage(line.toString());
      // Anything else on its stdout comes from the pack's code.
      if (message !== undefined) options.onMessage(message);
    },
    onTooLong() {
      isReading = false;
      void end(`it sent a message of more than ${formatSize(messageBytes)}`, { inputMs: 0, termMs: 0 });
    },
  });
  child.stdout.on("data", (chunk: Buffer) => {
    if (isReading) decoder.push(chunk);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    tail.add(chunk);
    options.onOutput(chunk);
  });
  const drained = Promise.all(
    [child.stdout, child.stderr].map((stream) => new Promise((resolve) => stream.once("close", resolve))),
  );
  child.started.catch((error: Error) => die({ exitCode: null, signal: null }, error.message));
  void child.exited.then(async (ending) => {
    await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, drainMs).unref())]);
    die(ending);
  });

  const send: CodeChild["send"] = (message) => {
    if (!isDead && child.stdin.writable) child.stdin.write(`${JSON.stringify(message)}\n`);
  };
  send({ kind: "start", root, limit: messageBytes, names: Object.keys(env) });
  return { send, end };
}

/** What the child reads from and writes to is not what the pack's code finds as its standard streams. */
const script = 'exec "$@" 3<&0 4>&1 0</dev/null 1>&2';

/** Path of the program that runs in the child. */
const program = (): string => fileURLToPath(new URL("./code-child.mjs", import.meta.url));

/** How the child is started that runs a pack's code: it talks on stdin and stdout, as the launched process has them. */
export function createCodeLaunch(
  { cwd, env }: Pick<ProcessLaunch, "cwd" | "env">,
  platform: NodeJS.Platform = process.platform,
): ProcessLaunch {
  const node = [process.execPath, program()];
  if (platform === "win32") return { command: process.execPath, args: [program(), "0", "1"], cwd, env };
  return { command: "/bin/sh", args: ["-c", script, "sh", ...node, "3", "4"], cwd, env };
}
