import type { EndDurations, ProcessPort } from "../processes/process-port.ts";
import { createProcessPort } from "../processes/server-process.ts";
import { abortable, whenAborted } from "./abort-listeners.ts";
import { type CodeChild, startCodeChild } from "./code-child.ts";
import { CodeDiedError } from "./code-died-error.ts";
import type { ChildMessage, MemoryWrite } from "./code-messages.ts";
import { convertOutcome } from "./convert-result.ts";
import { type HandlerContext, type HandlerMemory, legacyContextKey } from "./handler-context.ts";
import { limitReports } from "./late-reports.ts";
import type { CodePlace } from "./tool-code.ts";
import { identifyPlace, type Outcome, type OutcomeRunner } from "./tool-code.ts";

export interface ProcessRunnerOptions {
  /** Absolute path of the package, symbolic links followed. */
  root: string;
  /** The whole environment of the child. */
  env: Readonly<Record<string, string>>;
  /** Absolute; default: `root`. */
  cwd?: string;
  processes?: ProcessPort;
  /** Told, in one message, what the pack's code threw when nobody waited for it any more. */
  onLateError?: ((message: string) => void) | undefined;
  /** What the pack's code writes to stdout and stderr. */
  onOutput?: ((chunk: Buffer) => void) | undefined;
  /** Milliseconds that the child may take to hear that a call was given up, before it counts as stuck and is ended. Default: 5000. */
  stuckMs?: number;
  /** Longest message of the child in bytes; a result may be half as long. Default: 64 MiB. */
  messageBytes?: number;
  /** How long the child may take to end. Default: 5 s, and 2 s after SIGTERM. */
  end?: EndDurations;
}

export interface ProcessRunner extends OutcomeRunner {
  /** Resolves when the child has ended without being asked to; never rejects. */
  readonly death: Promise<CodeDiedError>;
  /** Of the child; `undefined` before the first use. */
  readonly hasStarted: boolean;
}

/** A call, or an `initialize`, that the child has not answered. */
interface Pending {
  context: HandlerContext | undefined;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

/** The property of the arguments that is not enumerable, which JSON would leave out. */
function findHidden(args: object): { name: string; value: unknown } | undefined {
  const property = Object.getOwnPropertyDescriptor(args, legacyContextKey);
  return property === undefined || property.enumerable
    ? undefined
    : { name: legacyContextKey, value: property.value };
}

/** What the handler's memory holds. Where it cannot be asked, what the hidden context says, as it is by now. */
function takeSnapshot(memory: HandlerMemory, args: object): Record<string, string> {
  if (memory.snapshot !== undefined) return { ...memory.snapshot() };
  const hidden = findHidden(args)?.value as { memory?: object } | undefined;
  const keys = Object.keys(hidden?.memory ?? {});
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = memory.get(key);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

function applyWrites(memory: HandlerMemory | undefined, writes: readonly MemoryWrite[]): void {
  for (const [key, value] of writes) {
    if (value === null) memory?.delete(key);
    else memory?.set(key, value);
  }
}

/**
 * Runs a pack's code in a child, which is started with the first call and has an environment of its own. Whatever the
 * code does to that process, the host gets results or a `CodeDiedError`; once the child has ended, every further call
 * rejects with it, and who wants another makes another runner. Contained against accidents, not attacks: the child
 * may do what the user may.
 */
export function createProcessRunner(options: ProcessRunnerOptions): ProcessRunner {
  const { root, env, cwd = root, stuckMs = 5000, messageBytes = 64 * 1024 * 1024 } = options;
  const durations = options.end ?? { inputMs: 5000, termMs: 2000 };
  const reportLate = limitReports(options.onLateError);
  const pending = new Map<number, Pending & { args: object }>();
  const unheard = new Map<number, NodeJS.Timeout>();
  const initialized = new Map<unknown, Promise<void>>();
  let child: CodeChild | undefined;
  let ended: CodeDiedError | undefined;
  let isClosed = false;
  let lastId = 0;
  let tellDeath: (error: CodeDiedError) => void = () => {};
  const death = new Promise<CodeDiedError>((resolve) => {
    tellDeath = resolve;
  });

  const onDeath = (error: CodeDiedError) => {
    ended = error;
    for (const timer of unheard.values()) clearTimeout(timer);
    unheard.clear();
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
    if (!isClosed) tellDeath(error);
  };

  const answerToolCall = async (message: Extract<ChildMessage, { kind: "callTool" }>) => {
    const { id, number, name, args, writes } = message;
    const call = pending.get(id);
    if (call?.context === undefined) return;
    const { context } = call;
    const answer: Record<string, unknown> = { kind: "answer", id, number };
    try {
      applyWrites(context.memory, writes);
      answer.value = await context.callTool(name, args);
    } catch (error) {
      answer.fault = error instanceof Error ? error.message : String(error);
    }
    answer.memory = context.memory === undefined ? null : takeSnapshot(context.memory, call.args);
    try {
      child?.send(answer);
    } catch {
      child?.send({ ...answer, value: undefined, fault: "The tool's result is no JSON." });
    }
  };

  const finish = ({ id, outcome, writes }: Extract<ChildMessage, { kind: "done" }>) => {
    const call = pending.get(id);
    if (call === undefined) return;
    pending.delete(id);
    try {
      applyWrites(call.context?.memory, writes);
      call.resolve(outcome);
    } catch (error) {
      call.reject(error as Error);
    }
  };

  const onMessage = (message: ChildMessage): void => {
    switch (message.kind) {
      case "done":
        finish(message);
        break;
      case "log":
        pending.get(message.id)?.context?.log(message.level, message.data);
        break;
      case "progress": {
        const { id, progress, total, message: words } = message;
        pending.get(id)?.context?.progress(progress, total, words);
        break;
      }
      case "callTool":
        void answerToolCall(message);
        break;
      case "aborted":
        clearTimeout(unheard.get(message.id));
        unheard.delete(message.id);
        break;
      case "late":
        reportLate(() => message.message);
    }
  };

  const getChild = (): CodeChild => {
    if (isClosed) throw new Error("The session is closed.");
    if (ended !== undefined) throw ended;
    const { onOutput = () => {} } = options;
    const processes = options.processes ?? createProcessPort();
    child ??= startCodeChild({ root, cwd, env, processes, messageBytes, onMessage, onOutput, onDeath });
    return child;
  };

  /** Sends what the child is to do, and waits for the outcome. */
  const ask = (
    message: Readonly<Record<string, unknown>>,
    args: object,
    context: HandlerContext | undefined,
  ): { id: number; outcome: Promise<Outcome> } => {
    const id = ++lastId;
    const outcome = new Promise<Outcome>((resolve, reject) => {
      const target = getChild();
      // Throws where the message is no JSON.
      target.send({ ...message, id });
      pending.set(id, { context, args, resolve, reject });
    });
    return { id, outcome };
  };

  const giveUp = (id: number, reason: unknown) => {
    // Nobody waits for it any more, and what it still says is dropped.
    if (!pending.delete(id) || ended !== undefined) return;
    const words = reason instanceof Error ? reason.message : "The call was given up.";
    child?.send({ kind: "abort", id, reason: words });
    const why = `it did not react within ${stuckMs} ms`;
    const kill = () => void child?.end(why, { inputMs: 0, termMs: 0 });
    unheard.set(id, setTimeout(kill, stuckMs));
  };

  const invoke: OutcomeRunner["invoke"] = (place, args, context) =>
    abortable(context.signal, () => {
      const { sessionId, invocationId, device, memory, options: values, signal } = context;
      const message = {
        ...{ kind: "call", source: checkSource(place), args, hidden: findHidden(args), options: values },
        extras: { sessionId, invocationId, device },
        memory: memory === undefined ? null : takeSnapshot(memory, args),
      };
      const { id, outcome } = ask(message, args, context);
      return outcome.finally(whenAborted(signal, () => giveUp(id, signal.reason)));
    });

  return {
    death,
    get hasStarted() {
      return child !== undefined;
    },
    invoke,
    call: async (place, args, context) => convertOutcome(await invoke(place, args, context)),
    initialize(place, context) {
      const key = identifyPlace(place);
      let running = initialized.get(key);
      if (running === undefined) {
        const message = { kind: "initialize", source: checkSource(place), options: context.options };
        running = ask(message, {}, undefined).outcome.then((outcome) => {
          if ("thrown" in outcome) throw new Error(outcome.thrown.message);
        });
        running.catch(() => {});
        initialized.set(key, running);
      }
      return running;
    },
    async close() {
      isClosed = true;
      const reason = "the session is closed";
      await child?.end(reason, durations);
      if (ended === undefined) {
        onDeath(new CodeDiedError({ exitCode: null, signal: null, reason, stderrTail: "" }));
      }
    },
  };
}

/** A function of this process cannot run in another. */
function checkSource({ source }: CodePlace): object {
  if (source.from !== "function") return source;
  throw new TypeError("A function cannot run in another process.");
}
