import { fileURLToPath } from "node:url";
import { formatSize } from "../problems/index.ts";
import type { EndDurations, ProcessEnd, ProcessLaunch, ProcessPort } from "../processes/process-port.ts";
import { CodeExitError } from "./code-exit-error.ts";
import { type ChildMessage, readChildMessage } from "./code-messages.ts";
import { LineDecoder } from "./line-decoder.mjs";
import { createOutputTail, keptTailBytes, readToEnd } from "./process-output.ts";

export interface CodeChildOptions {
  /** Absolute path of the package, symbolic links resolved. */
  root: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
  processes: ProcessPort;
  /** The longest message of the child, in bytes. */
  messageBytes: number;
  onMessage(message: ChildMessage): void;
  /** Output of the pack's code on stdout and stderr. */
  onOutput(chunk: Buffer): void;
  onExit(error: CodeExitError): void;
}

/** The child process that runs a pack's code. */
export interface CodeChild {
  send(message: Readonly<Record<string, unknown>>): void;
  /** Ends the process and everything that it started; `reason` continues "terminated because". Idempotent. */
  end(reason: string, durations: EndDurations): Promise<void>;
}

/** Starts the child process. `onExit` is called once, also if the process cannot start. */
export function startCodeChild(options: CodeChildOptions): CodeChild {
  const { root, cwd, env, messageBytes } = options;
  const child = options.processes.start(createCodeLaunch({ cwd, env }));
  const tail = createOutputTail(keptTailBytes);
  let endReason: string | undefined;
  let hasExited = false;

  const finish = (end: ProcessEnd, fault?: string) => {
    if (hasExited) return;
    hasExited = true;
    const reason = endReason ?? fault;
    const stderrTail = tail.toString();
    options.onExit(new CodeExitError({ ...end, ...(reason && { reason }), stderrTail }));
  };
  const end = (reason: string, durations: EndDurations) => {
    endReason ??= reason;
    return child.end(durations);
  };

  let isReading = true;
  const decoder = new LineDecoder(messageBytes, {
    onLine(line) {
      if (!isReading || hasExited) return;
      const message = readChildMessage(line.toString());
      // Other lines come from the pack's code.
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
  child.started.catch((error: Error) => finish({ exitCode: null, signal: null }, error.message));
  void child.exited.then(async (ending) => {
    await readToEnd([child.stdout, child.stderr]);
    finish(ending);
  });

  const send: CodeChild["send"] = (message) => {
    if (!hasExited && child.stdin.writable) child.stdin.write(`${JSON.stringify(message)}\n`);
  };
  send({ kind: "start", root, limit: messageBytes, names: Object.keys(env) });
  return { send, end };
}

/** Moves the host's channel to descriptors 3 and 4, away from the standard streams that the pack's code sees. */
const script = 'exec "$@" 3<&0 4>&1 0</dev/null 1>&2';

/** Path of the program that runs in the child. */
const program = (): string => fileURLToPath(new URL("./code-child.mjs", import.meta.url));

/** How to start the child process that runs a pack's code: the host talks to it on its stdin and stdout. */
export function createCodeLaunch(
  { cwd, env }: Pick<CodeChildOptions, "cwd" | "env">,
  platform: NodeJS.Platform = process.platform,
): ProcessLaunch {
  if (platform === "win32") return { command: process.execPath, args: [program(), "0", "1"], cwd, env };
  return { command: "/bin/sh", args: ["-c", script, "sh", process.execPath, program(), "3", "4"], cwd, env };
}
