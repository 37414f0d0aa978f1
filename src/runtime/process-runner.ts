import { fileURLToPath } from "node:url";
import type { UnexpectedExit } from "../problems/index.ts";
import { createProcessPort, type ProcessEnd, type ProcessPort } from "../processes/server-process.ts";
import { abortable, atMost, whenAborted } from "./abort-listeners.ts";
import { legacyContextKey, type RunContext } from "./handler-context.ts";
import { keepOutput, type OutputOptions, readToEnd } from "./process-output.ts";
import { createRedactor, type Redactor } from "./redact.ts";
import { CodeExitError, type CodePlace, type CodeRunner, type Outcome, readOutcome } from "./tool-code.ts";

/** What the child sends. `args` is JSON. */
type ChildMessage =
  | { kind: "done"; id: number; outcome: Outcome }
  | { kind: "log"; id: number; level: string; data: unknown }
  | { kind: "progress"; id: number; progress: number; total?: number; message?: string }
  | { kind: "callTool"; id: number; number: number; name: string; args: string }
  | { kind: "write"; id: number; key: string; value?: string }
  | { kind: "changed"; id: number }
  | { kind: "late"; id?: undefined; message: string };

export interface ProcessRunnerOptions extends OutputOptions {
  /** Absolute path of the package, symbolic links resolved; also the child's folder. */
  root: string;
  /** The whole environment of the child: it inherits nothing. */
  env: Readonly<Record<string, string>>;
  processes?: ProcessPort;
  /** The pack's code has thrown after its call had ended. */
  onLateError?: ((message: string) => void) | undefined;
  /** The child has exited unexpectedly. `isUsed`: it was asked for more than to load code. */
  onExit?: ((exit: UnexpectedExit, isUsed: boolean) => void) | undefined;
  redactor?: Redactor;
}

/** How long messages may still arrive after an exit. Milliseconds. */
const restMs = 500;
const program = fileURLToPath(new URL("./code-child.mjs", import.meta.url));

/**
 * Runs a pack's code in a child process with an environment of its own, started by the first call. Calls settle with a
 * result or a `CodeExitError`; after the exit, every further call rejects with it, and the owner creates a new runner.
 * It contains accidents, not attacks: the child can do what the user can.
 */
export function createProcessRunner(options: ProcessRunnerOptions): CodeRunner {
  const { root, env, redactor = createRedactor([]) } = options;
  const output = keepOutput(redactor, options);
  /** What the child has not answered: calls, and the load or `initialize` of code, which has no context. */
  const pending = new Map<
    number,
    { context: RunContext | undefined; resolve(outcome: Outcome): void; reject(error: unknown): void }
  >();
  /** `undefined` if it could not be started. */
  let child: ReturnType<typeof startChild> | undefined;
  let ended: CodeExitError | undefined;
  let isClosed = false;
  let isUsed = false;
  let lastId = 0;

  /** Rejects if the message cannot be written as JSON. An exit is noticed in another way. */
  const send = async (message: object): Promise<void> => void (await child)?.channel?.send(message, () => {});

  const onExit = (exited: ProcessEnd, fault?: string, wasUsed = isUsed) => {
    if (ended !== undefined) return;
    const reason = isClosed ? "the session is closed" : fault && redactor.redact(fault);
    ended = new CodeExitError({ ...exited, reason, stderrTail: output.tail() });
    for (const { reject } of pending.values()) reject(ended);
    pending.clear();
    if (!isClosed) options.onExit?.(ended.exit, wasUsed);
  };

  const onMessage = (message: ChildMessage) => {
    if (message.kind === "late") return options.onLateError?.(message.message);
    const call = pending.get(message.id);
    const { context } = call ?? {};
    switch (message.kind) {
      case "done":
        pending.delete(message.id);
        return call?.resolve(message.outcome);
      case "log":
        return context?.log(message.level, message.data);
      case "progress":
        return context?.progress(message.progress, message.total, message.message);
      case "write":
        return context?.memory?.write(message.key, message.value);
      case "changed":
        return context?.changed?.();
      case "callTool": {
        const { id, number, name, args } = message;
        const answer = (outcome: object) =>
          send({ kind: "answer", id, number, memory: context?.memory?.snapshot(), ...outcome });
        return void context
          ?.callTool(name, args)
          .then((value) => answer({ value }))
          .catch((error) => answer({ fault: error instanceof Error ? error.message : String(error) }));
      }
    }
  };

  const startChild = async () => {
    const launch = { command: process.execPath, args: [program], cwd: root, env, hasChannel: true };
    const starting = (options.processes ?? createProcessPort()).start(launch);
    const started = await starting.catch(({ message }: Error) =>
      onExit({ exitCode: null, signal: null }, message),
    );
    if (started === undefined) return undefined;
    const { stdin, stdout, stderr, channel } = started;
    stdin.end();
    for (const stream of [stdout, stderr]) stream.on("data", output.add);
    channel?.on("message", (message) => {
      if (ended === undefined) onMessage(message as ChildMessage);
    });
    const disconnected = new Promise((resolve) => channel?.on("disconnect", () => resolve(undefined)));
    /** Resolves when its output is read after its exit. */
    const exiting = started.exited.then(async (exited) => {
      const wasUsed = isUsed;
      await Promise.all([readToEnd([stdout, stderr]), atMost(disconnected, restMs)]);
      output.end();
      onExit(exited, undefined, wasUsed);
    });
    return { ...started, exiting };
  };

  /** Sends a request to the child, which it starts if it is the first. Settles with its answer, unless the call is canceled. */
  const ask = async (message: { kind: string }, place: CodePlace, context?: RunContext) => {
    if (isClosed) throw new Error("The session is closed.");
    if (ended !== undefined) throw ended;
    const id = ++lastId;
    isUsed ||= message.kind !== "load";
    child ??= startChild();
    const outcome = new Promise<Outcome>((resolve, reject) => pending.set(id, { context, resolve, reject }));
    send({ ...message, place, id }).catch((error) => {
      pending.get(id)?.reject(error);
      pending.delete(id);
    });
    const { signal } = context ?? {};
    const giveUp = () => {
      // The caller no longer waits, so the answer is dropped.
      const reason = signal?.reason instanceof Error ? signal.reason.message : "The call was canceled.";
      if (pending.delete(id)) void send({ kind: "abort", id, reason });
    };
    return readOutcome(await outcome.finally(signal && whenAborted(signal, giveUp)));
  };

  return {
    invoke(place, args, context) {
      const { signal, memory, log, progress, callTool, changed, ...data } = context;
      const message = {
        kind: "call",
        args,
        // Not enumerable, so JSON omits it.
        legacyContext: (args as Record<string, unknown>)[legacyContextKey],
        data,
        memory: memory?.snapshot(),
        watches: changed !== undefined,
      };
      return abortable(signal, () => ask(message, place, context));
    },
    async load(place) {
      await ask({ kind: "load" }, place);
    },
    async initialize(place, context) {
      await ask({ kind: "initialize", ...context }, place);
    },
    async close() {
      isClosed = true;
      const started = await child;
      await started?.end();
      onExit({ exitCode: null, signal: null });
      if (started !== undefined) await atMost(started.exiting, 2 * restMs);
    },
  };
}
