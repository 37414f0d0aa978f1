import { fileURLToPath } from "node:url";
import {
  createProcessPort,
  type EndDurations,
  endDurations,
  type ProcessEnd,
  type ProcessPort,
  type SupervisedProcess,
} from "../processes/server-process.ts";
import { abortable, atMost, whenAborted } from "./abort-listeners.ts";
import { type HandlerMemory, legacyContextKey, type RunContext } from "./handler-context.ts";
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
/** How long messages may still arrive after an exit. Milliseconds. */
const restMs = 500;
const program = fileURLToPath(new URL("./code-child.mjs", import.meta.url));

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

  // Its exit is noticed in another way.
  const send = (message: object) => void child?.channel?.send(message, () => {});
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
    const launch = { command: process.execPath, args: [program], cwd: root, env, hasChannel: true };
    const started = (options.processes ?? createProcessPort()).start(launch);
    const { stdin, stdout, stderr, channel } = started;
    const tail = createOutputTail(keptTailBytes);
    stdin.end();
    for (const stream of [stdout, stderr])
      stream.on("data", (chunk: Buffer) => {
        tail.add(chunk);
        onOutput?.(chunk);
      });
    channel?.on("message", (message) => {
      if (ended === undefined) onMessage(message as ChildMessage);
    });
    const disconnected = new Promise((resolve) => channel?.on("disconnect", () => resolve(undefined)));
    started.started.catch((error: Error) =>
      onExit({ exitCode: null, signal: null }, tail.toString(), error.message),
    );
    void started.exited.then(async (exited) => {
      await Promise.all([readToEnd([stdout, stderr]), atMost(disconnected, restMs)]);
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
      child ??= startChild();
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
