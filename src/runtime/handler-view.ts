import { type Cancellation, toSignal } from "./abort-listeners.ts";
import type { HandlerContext, HandlerMemory, RunContext } from "./handler-context.ts";
import { runAsHost } from "./late-errors.ts";
import { checkProgress, toArgumentsJson, toLogData } from "./returned-value.mjs";

function deepFreeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
}

const frozen = new WeakMap<object, Readonly<Record<string, unknown>>>();

/** A frozen copy of the options, shared by all calls. */
export function freezeOptions(options: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let copy = frozen.get(options);
  if (copy === undefined) {
    copy = structuredClone(options);
    deepFreeze(copy);
    frozen.set(options, copy);
  }
  return copy;
}

export interface HandlerView {
  context: Readonly<HandlerContext>;
  /** Marks the call as ended: the context no longer reaches the host. */
  end(): void;
}

function viewMemory(memory: HandlerMemory, isOver: () => boolean): HandlerMemory {
  return Object.freeze({
    get: (key: string) => memory.get(key),
    set: (key: string, value: string) => {
      if (!isOver()) memory.set(key, value);
    },
    delete: (key: string) => !isOver() && memory.delete(key),
  });
}

/** Returns what it is given, so that a class can add a private field to an object that is not its own. */
const Given = function Given(object: object) {
  return object;
} as unknown as new (
  object: object,
) => object;

/**
 * The `signal` of contexts, which is created when it is read. All share one getter: V8 keeps one that is written in an object
 * literal until the next full collection, and with it everything of its call.
 */
class ReadSignal extends Given {
  readonly #stop: Cancellation;

  private constructor(view: object, stop: Cancellation) {
    super(view);
    this.#stop = stop;
  }

  static readonly #property: PropertyDescriptor & ThisType<object> = {
    enumerable: true,
    get() {
      return #stop in this ? toSignal((this as ReadSignal).#stop) : undefined;
    },
  };

  static add(view: object, stop: Cancellation): void {
    new ReadSignal(view, stop);
    Object.defineProperty(view, "signal", ReadSignal.#property);
  }
}

/** The context for a handler in this process: frozen, and without access to the host's own context. */
export function createHandlerView(context: RunContext): HandlerView {
  let isOver = false;
  const { sessionId, invocationId, device, memory, input, state, changed, arguments: given } = context;
  const view: { -readonly [Key in keyof Omit<HandlerContext, "signal">]: HandlerContext[Key] } = {
    options: freezeOptions(context.options),
    log(level, data) {
      if (isOver) return;
      const logged = toLogData(data);
      runAsHost(() => context.log(String(level), logged));
    },
    // Async, so that handlers can await it in both kinds of runners.
    async progress(progress, total, message) {
      checkProgress(progress, total, message);
      if (!isOver) runAsHost(() => context.progress(progress, total, message));
    },
    async callTool(name, args) {
      if (isOver) throw new Error("The call has ended, so it cannot call other tools.");
      const copy = JSON.parse(toArgumentsJson(args)) as Record<string, unknown>;
      return await runAsHost(() => context.callTool(String(name), copy));
    },
  };
  if (sessionId !== undefined) view.sessionId = sessionId;
  if (invocationId !== undefined) view.invocationId = invocationId;
  if (device !== undefined) view.device = freezeData(device);
  if (input !== undefined) view.input = freezeData(input) as typeof input;
  if (state !== undefined) view.state = freezeData(state);
  if (given !== undefined) view.arguments = freezeData(given) as typeof given;
  if (changed !== undefined) view.changed = () => void (isOver || runAsHost(changed));
  if (memory !== undefined) view.memory = viewMemory(memory, () => isOver);
  ReadSignal.add(view, context.signal);
  return {
    context: Object.freeze(view as HandlerContext),
    end: () => {
      isOver = true;
    },
  };
}

function freezeData(data: unknown): unknown {
  return typeof data === "object" && data !== null ? freezeOptions(data as Record<string, unknown>) : data;
}
