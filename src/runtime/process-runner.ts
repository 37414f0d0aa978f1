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
} from "../processes/server-process.ts";
import { abortable, whenAborted } from "./abort-listeners.ts";
import { type HandlerMemory, legacyContextKey, type RunContext } from "./handler-context.ts";
import { limitReports } from "./late-errors.ts";
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

// Messages from the child process that runs a pack's code, parsed as hostile input.

/** A write to memory; `null` deletes. */
type MemoryWrite = readonly [key: string, value: string | null];

type ChildMessage =
  | { kind: "done"; id: number; outcome: Outcome; writes: readonly MemoryWrite[] }
  | { kind: "log"; id: number; level: string; data: unknown }
  | { kind: "progress"; id: number; progress: number; total?: number; message?: string }
  | {
      kind: "callTool";
      id: number;
      number: number;
      name: string;
      args: Record<string, unknown>;
      writes: readonly MemoryWrite[];
    }
  | { kind: "changed"; id: number }
  | { kind: "aborted"; id: number }
  | { kind: "late"; message: string };

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number";
const isOptional = (value: unknown, is: (value: unknown) => boolean) => value === undefined || is(value);

const isWrite = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 2 && isText(value[0]) && (value[1] === null || isText(value[1]));

function isReturned(value: unknown): boolean {
  if (!isRecord(value)) return false;
  switch (value.kind) {
    case "nothing":
      return true;
    case "text":
      return isText(value.text);
    case "json":
    case "input":
      return isText(value.json);
    default:
      return value.kind === "refused" && isText(value.message) && isOptional(value.bytes, isText);
  }
}

const isThrown = (value: unknown): boolean =>
  isRecord(value) &&
  isText(value.message) &&
  isOptional(value.code, (code) => isText(code) || isNumber(code)) &&
  isOptional(value.data, isText);

const isOutcome = (value: unknown): boolean =>
  isRecord(value) && (value.thrown === undefined ? isReturned(value.returned) : isThrown(value.thrown));

const fits: Readonly<Record<ChildMessage["kind"], (message: Record<string, unknown>) => boolean>> = {
  done: ({ outcome, writes }) => isOutcome(outcome) && Array.isArray(writes) && writes.every(isWrite),
  log: ({ level }) => isText(level),
  progress: ({ progress, total, message }) =>
    isNumber(progress) && isOptional(total, isNumber) && isOptional(message, isText),
  callTool: ({ number, name, args, writes }) =>
    isNumber(number) && isText(name) && isRecord(args) && Array.isArray(writes) && writes.every(isWrite),
  changed: () => true,
  aborted: () => true,
  late: ({ message }) => isText(message),
};

/** The message on a line of the child's output; `undefined` if the line is not a valid message. */
function readChildMessage(line: string): ChildMessage | undefined {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(message) || !isText(message.kind) || !Object.hasOwn(fits, message.kind)) return undefined;
  if (message.kind !== "late" && !isNumber(message.id)) return undefined;
  return fits[message.kind as ChildMessage["kind"]](message) ? (message as ChildMessage) : undefined;
}

interface CodeChildOptions {
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
interface CodeChild {
  send(message: Readonly<Record<string, unknown>>): void;
  /** Ends the process and everything that it started; `reason` continues "terminated because". Idempotent. */
  end(reason: string, durations: EndDurations): Promise<void>;
}

/** Starts the child process. `onExit` is called once, also if the process cannot start. */
function startCodeChild(options: CodeChildOptions): CodeChild {
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
    options.onExit(new CodeExitError({ ...end, reason, stderrTail }));
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
function createCodeLaunch(
  { cwd, env }: Pick<CodeChildOptions, "cwd" | "env">,
  platform: NodeJS.Platform = process.platform,
): ProcessLaunch {
  if (platform === "win32") return { command: process.execPath, args: [program(), "0", "1"], cwd, env };
  return { command: "/bin/sh", args: ["-c", script, "sh", process.execPath, program(), "3", "4"], cwd, env };
}

export interface ProcessRunnerOptions {
  /** Absolute path of the package, symbolic links resolved. */
  root: string;
  /** The complete environment of the child process. */
  env: Readonly<Record<string, string>>;
  /** Absolute; default: `root`. */
  cwd?: string;
  processes?: ProcessPort;
  /** Called with a message when the pack's code throws after its call has ended. */
  onLateError?: ((message: string) => void) | undefined;
  /** Output of the pack's code on stdout and stderr. */
  onOutput?: ((chunk: Buffer) => void) | undefined;
  /** How long the child may take to acknowledge a canceled call, before it is killed. Milliseconds; default: 5000. */
  stuckMs?: number;
  /** The longest message of the child in bytes; a result may have half of it. Default: 64 MiB. */
  messageBytes?: number;
  /** How long the child may take to exit. Default: 5 s, and 2 s after SIGTERM. */
  end?: EndDurations;
}

export interface ProcessRunner extends OutcomeRunner {
  /** Resolves when the child exits unexpectedly; never rejects. */
  readonly exit: Promise<CodeExitError>;
  /** Whether the child was started, which the first use does. */
  readonly hasStarted: boolean;
}

/** A call or an `initialize` that the child has not answered. */
interface Pending {
  context: RunContext | undefined;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

/** The non-enumerable property of the arguments, which JSON would omit. */
function findHidden(args: object | string): { name: string; value: unknown } | undefined {
  const property = Object.getOwnPropertyDescriptor(args, legacyContextKey);
  return property === undefined || property.enumerable
    ? undefined
    : { name: legacyContextKey, value: property.value };
}

/** The contents of the handler's memory; without `snapshot`, the current values of the keys in the hidden context. */
function takeSnapshot(memory: HandlerMemory, args: object | string): Record<string, string> {
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
 * Runs a pack's code in a child process with an environment of its own, started by the first call. Calls settle with a
 * result or a `CodeExitError`; after the exit, every further call rejects with it, and the owner creates a new runner.
 * It contains accidents, not attacks: the child can do what the user can.
 */
export function createProcessRunner(options: ProcessRunnerOptions): ProcessRunner {
  const { root, env, cwd = root, stuckMs = 5000, messageBytes = 64 * 1024 * 1024 } = options;
  const durations = options.end ?? endDurations;
  const reportLate = limitReports(options.onLateError);
  const pending = new Map<number, Pending & { args: object | string }>();
  const unheard = new Map<number, NodeJS.Timeout>();
  const initialized = new Map<unknown, Promise<void>>();
  let child: CodeChild | undefined;
  let ended: CodeExitError | undefined;
  let isClosed = false;
  let lastId = 0;
  let notifyExit: (error: CodeExitError) => void = () => {};
  const exit = new Promise<CodeExitError>((resolve) => {
    notifyExit = resolve;
  });

  const onExit = (error: CodeExitError) => {
    ended = error;
    for (const timer of unheard.values()) clearTimeout(timer);
    unheard.clear();
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
    if (!isClosed) notifyExit(error);
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
      child?.send({ ...answer, value: undefined, fault: "The tool's result cannot be written as JSON." });
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
        const { id, progress, total, message: text } = message;
        pending.get(id)?.context?.progress(progress, total, text);
        break;
      }
      case "changed":
        pending.get(message.id)?.context?.changed?.();
        break;
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
    child ??= startCodeChild({
      root,
      cwd,
      env,
      processes,
      messageBytes,
      onMessage,
      onOutput,
      onExit,
    });
    return child;
  };

  /** Sends a request to the child; `outcome` settles with its answer. */
  const ask = (
    message: Readonly<Record<string, unknown>>,
    args: object | string,
    context: RunContext | undefined,
  ): { id: number; outcome: Promise<Outcome> } => {
    const id = ++lastId;
    const outcome = new Promise<Outcome>((resolve, reject) => {
      const target = getChild();
      // Throws if the message cannot be written as JSON.
      target.send({ ...message, id });
      pending.set(id, { context, args, resolve, reject });
    });
    return { id, outcome };
  };

  const giveUp = (id: number, reason: unknown) => {
    // The caller no longer waits, so the answer is dropped.
    if (!pending.delete(id) || ended !== undefined) return;
    const text = reason instanceof Error ? reason.message : "The call was canceled.";
    child?.send({ kind: "abort", id, reason: text });
    const kill = () => void child?.end(`it did not react within ${stuckMs} ms`, { inputMs: 0, termMs: 0 });
    unheard.set(id, setTimeout(kill, stuckMs));
  };

  const invoke: OutcomeRunner["invoke"] = (place, args, context) =>
    abortable(context.signal, () => {
      const { sessionId, invocationId, device, memory, options: values, signal, input, state } = context;
      const message = {
        kind: "call",
        source: checkSource(place),
        args,
        hidden: findHidden(args),
        options: values,
        extras: { sessionId, invocationId, device, input, state, arguments: context.arguments },
        watches: context.changed !== undefined,
        memory: memory === undefined ? null : takeSnapshot(memory, args),
      };
      const { id, outcome } = ask(message, args, context);
      return outcome.finally(whenAborted(signal, () => giveUp(id, signal.reason)));
    });

  return {
    exit,
    get hasStarted() {
      return child !== undefined;
    },
    invoke,
    async load(place) {
      throwIfThrown(await ask({ kind: "load", source: checkSource(place) }, {}, undefined).outcome);
    },
    initialize(place, context) {
      const key = identifyPlace(place);
      let running = initialized.get(key);
      if (running === undefined) {
        const message = { kind: "initialize", source: checkSource(place), options: context.options };
        running = ask(message, {}, undefined).outcome.then(throwIfThrown);
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
        onExit(new CodeExitError({ exitCode: null, signal: null, reason, stderrTail: "" }));
      }
    },
  };
}

/** Throws for a function of this process, which cannot run in another. */
function checkSource({ source }: CodePlace): object {
  if (source.from !== "function") return source;
  throw new TypeError("A function cannot run in another process.");
}
