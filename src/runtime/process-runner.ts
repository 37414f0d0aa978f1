import { fileURLToPath } from "node:url";
import { isRecord } from "../data/parse-json.ts";
import { formatSize } from "../problems/index.ts";
import {
  createProcessPort,
  type EndDurations,
  endDurations,
  type ProcessEnd,
  type ProcessLaunch,
  type ProcessPort,
  type SupervisedProcess,
} from "../processes/server-process.ts";
import { abortable, whenAborted } from "./abort-listeners.ts";
import { type HandlerMemory, legacyContextKey, type RunContext } from "./handler-context.ts";
import { LineDecoder } from "./line-decoder.mjs";
import { createOutputTail, keptTailBytes, readToEnd } from "./process-output.ts";
import {
  CodeExitError,
  type CodePlace,
  identifyPlace,
  type Outcome,
  type OutcomeRunner,
  throwIfThrown,
} from "./tool-code.ts";

/** A write to memory; `null` deletes. */
type MemoryWrite = readonly [key: string, value: string | null];

/** What the child sends. `args` is JSON. */
type ChildMessage =
  | { kind: "done"; id: number; outcome: Outcome; writes: readonly MemoryWrite[] }
  | { kind: "log"; id: number; level: string; data: unknown }
  | { kind: "progress"; id: number; progress: number; total?: number; message?: string }
  | {
      kind: "callTool";
      id: number;
      number: number;
      name: string;
      args: string;
      writes: readonly MemoryWrite[];
    }
  | { kind: "changed"; id: number }
  | { kind: "aborted"; id: number }
  | { kind: "late"; id?: undefined; message: string };

/** The message on a line; `undefined` for a line of the pack's code, which can write to the same descriptor. */
function readChildMessage(line: Buffer): ChildMessage | undefined {
  try {
    const message: unknown = JSON.parse(line.toString());
    return isRecord(message) ? (message as ChildMessage) : undefined;
  } catch {
    return undefined;
  }
}

/** Moves the host's channel to descriptors 3 and 4, away from the standard streams that the pack's code sees. */
const script = 'exec "$@" 3<&0 4>&1 0</dev/null 1>&2';

/** How to start the child process that runs a pack's code: the host talks to it on its stdin and stdout. */
function createCodeLaunch(cwd: string, env: ProcessLaunch["env"]): ProcessLaunch {
  const program = fileURLToPath(new URL("./code-child.mjs", import.meta.url));
  if (process.platform === "win32") return { command: process.execPath, args: [program, "0", "1"], cwd, env };
  return { command: "/bin/sh", args: ["-c", script, "sh", process.execPath, program, "3", "4"], cwd, env };
}

export interface ProcessRunnerOptions {
  /** Absolute path of the package, symbolic links resolved; also the child's folder. */
  root: string;
  /** The complete environment of the child process. */
  env: Readonly<Record<string, string>>;
  processes?: ProcessPort;
  /** Called with a message when the pack's code throws after its call has ended. */
  onLateError?: ((message: string) => void) | undefined;
  /** Output of the pack's code on stdout and stderr. */
  onOutput?: ((chunk: Buffer) => void) | undefined;
  /** How long the child may take to acknowledge a canceled call, before it is killed. Milliseconds; default: 5000. */
  stuckMs?: number;
  /** How long the child may take to exit. Default: 5 s, and 2 s after SIGTERM. */
  end?: EndDurations;
}

export interface ProcessRunner extends OutcomeRunner {
  /** Resolves when the child exits unexpectedly; never rejects. */
  readonly exit: Promise<CodeExitError>;
}

/** What the child has not answered: a call, or the load or `initialize` of code, which has no context. */
interface Pending {
  context: RunContext | undefined;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

/** How many errors that are thrown after their calls are told. */
const mostLateErrors = 100;
/** The longest message of the child, in bytes. */
const messageBytes = 64 * 1024 * 1024;

function applyWrites(memory: HandlerMemory | undefined, writes: readonly MemoryWrite[]): void {
  for (const [key, value] of writes) {
    if (value === null) memory?.delete(key);
    else memory?.set(key, value);
  }
}

/**
 * Runs a pack's code in a child process with an environment of its own, started by the first call. Calls settle with a
 * result or a `CodeExitError`; after the exit, every further call rejects with it, and the owner creates a new runner.
 * It contains accidents, not attacks: the child can do what the user can.
 */
export function createProcessRunner(options: ProcessRunnerOptions): ProcessRunner {
  const { root, env, onOutput, stuckMs = 5000, end = endDurations } = options;
  let lateErrors = 0;
  const pending = new Map<number, Pending>();
  /** The timers of canceled calls that the child has not acknowledged. */
  const unheard = new Map<number, NodeJS.Timeout>();
  const initialized = new Map<unknown, Promise<void>>();
  let child: SupervisedProcess | undefined;
  /** Why the host ends the child. */
  let endReason: string | undefined;
  /** After the exit. */
  let ended: CodeExitError | undefined;
  let isClosed = false;
  let lastId = 0;
  let notifyExit: (error: CodeExitError) => void = () => {};
  const exit = new Promise<CodeExitError>((resolve) => {
    notifyExit = resolve;
  });

  const send = (message: Readonly<Record<string, unknown>>) => {
    const line = `${JSON.stringify(message)}\n`;
    if (ended === undefined && child?.stdin.writable) child.stdin.write(line);
  };
  /** Ends the child and everything that it started; `reason` continues "terminated because". */
  const endChild = async (reason: string, durations: EndDurations) => {
    endReason ??= reason;
    await child?.end(durations);
  };
  const kill = (reason: string) => void endChild(reason, { inputMs: 0, termMs: 0 });

  const onExit = (exited: ProcessEnd, stderrTail: string, fault?: string) => {
    if (ended !== undefined) return;
    ended = new CodeExitError({ ...exited, reason: endReason ?? fault, stderrTail });
    for (const timer of unheard.values()) clearTimeout(timer);
    for (const { reject } of pending.values()) reject(ended);
    pending.clear();
    if (!isClosed) notifyExit(ended);
  };

  const answerToolCall = async (message: Extract<ChildMessage, { kind: "callTool" }>) => {
    const { id, number, name, args, writes } = message;
    const context = pending.get(id)?.context;
    if (context === undefined) return;
    const answer: Record<string, unknown> = { kind: "answer", id, number };
    try {
      applyWrites(context.memory, writes);
      answer.value = await context.callTool(name, JSON.parse(args));
    } catch (error) {
      answer.fault = error instanceof Error ? error.message : String(error);
    }
    answer.memory = context.memory?.snapshot() ?? null;
    try {
      send(answer);
    } catch {
      send({ ...answer, value: undefined, fault: "The tool's result cannot be written as JSON." });
    }
  };

  const finish = ({ id, outcome, writes }: Extract<ChildMessage, { kind: "done" }>) => {
    const call = pending.get(id);
    pending.delete(id);
    try {
      applyWrites(call?.context?.memory, writes);
      call?.resolve(outcome);
    } catch (error) {
      call?.reject(error);
    }
  };

  const onMessage = (message: ChildMessage) => {
    if (message.kind === "late") {
      // A timer can throw any number of times.
      if (++lateErrors <= mostLateErrors) options.onLateError?.(message.message);
      return;
    }
    const context = pending.get(message.id)?.context;
    switch (message.kind) {
      case "done":
        return finish(message);
      case "log":
        return context?.log(message.level, message.data);
      case "progress":
        return context?.progress(message.progress, message.total, message.message);
      case "changed":
        return context?.changed?.();
      case "callTool":
        return void answerToolCall(message);
      case "aborted":
        clearTimeout(unheard.get(message.id));
        unheard.delete(message.id);
    }
  };

  const startChild = (): SupervisedProcess => {
    const started = (options.processes ?? createProcessPort()).start(createCodeLaunch(root, env));
    const { stdout, stderr } = started;
    const tail = createOutputTail(keptTailBytes);
    const decoder = new LineDecoder(messageBytes, {
      onLine(line) {
        const message = ended === undefined ? readChildMessage(line) : undefined;
        if (message !== undefined) onMessage(message);
      },
      onTooLong: () => kill(`it sent a message of more than ${formatSize(messageBytes)}`),
    });
    stdout.on("data", (chunk: Buffer) => decoder.push(chunk));
    stderr.on("data", (chunk: Buffer) => {
      tail.add(chunk);
      onOutput?.(chunk);
    });
    started.started.catch((error: Error) =>
      onExit({ exitCode: null, signal: null }, tail.toString(), error.message),
    );
    void started.exited.then(async (exited) => {
      await readToEnd([stdout, stderr]);
      onExit(exited, tail.toString());
    });
    return started;
  };

  /** Sends a request to the child, which it starts if it is the first; `outcome` settles with its answer. */
  const ask = (
    message: Readonly<Record<string, unknown>>,
    { source }: CodePlace,
    context?: RunContext,
  ): { id: number; outcome: Promise<Outcome> } => {
    const id = ++lastId;
    const outcome = new Promise<Outcome>((resolve, reject) => {
      if (source.from === "function") throw new TypeError("A function cannot run in another process.");
      if (isClosed) throw new Error("The session is closed.");
      if (ended !== undefined) throw ended;
      if (child === undefined) {
        child = startChild();
        send({ kind: "start", root, names: Object.keys(env) });
      }
      // Throws if the message cannot be written as JSON.
      send({ ...message, source, id });
      pending.set(id, { context, resolve, reject });
    });
    return { id, outcome };
  };

  const giveUp = (id: number, reason: unknown) => {
    // The caller no longer waits, so the answer is dropped.
    if (!pending.delete(id) || ended !== undefined) return;
    send({ kind: "abort", id, reason: reason instanceof Error ? reason.message : "The call was canceled." });
    unheard.set(
      id,
      setTimeout(() => kill(`it did not react within ${stuckMs} ms`), stuckMs),
    );
  };

  return {
    exit,
    invoke(place, args, context) {
      const { sessionId, invocationId, device, memory, options: values, signal, input, state } = context;
      return abortable(signal, () => {
        const message = {
          kind: "call",
          args,
          // Not enumerable, so JSON omits it.
          legacyContext: (args as Record<string, unknown>)[legacyContextKey],
          options: values,
          extras: { sessionId, invocationId, device, input, state, arguments: context.arguments },
          watches: context.changed !== undefined,
          memory: memory?.snapshot() ?? null,
        };
        const { id, outcome } = ask(message, place, context);
        return outcome.finally(whenAborted(signal, () => giveUp(id, signal.reason)));
      });
    },
    async load(place) {
      throwIfThrown(await ask({ kind: "load" }, place).outcome);
    },
    initialize(place, context) {
      const key = identifyPlace(place);
      let running = initialized.get(key);
      if (running === undefined) {
        running = ask({ kind: "initialize", options: context.options }, place).outcome.then(throwIfThrown);
        running.catch(() => {});
        initialized.set(key, running);
      }
      return running;
    },
    async close() {
      isClosed = true;
      await endChild("the session is closed", end);
      onExit({ exitCode: null, signal: null }, "");
    },
  };
}
