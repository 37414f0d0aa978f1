import { abortable, type Cancellation, toSignal } from "./abort-listeners.ts";
import {
  type ContextHost,
  createContext,
  freeze,
  loadFunction,
  type PackFunction,
  runCode,
  runInitialize,
} from "./handler-code.mjs";
import type { HandlerContext, RunContext } from "./handler-context.ts";
import { type CodeOrigin, claimRoot, limitReports, runAs, runAsHost } from "./late-errors.ts";
import { describeThrown } from "./returned-value.mjs";
import { type CodePlace, identifyPlace, type OutcomeRunner, throwIfThrown } from "./tool-code.ts";

export interface InProcessOptions {
  /** Absolute path of the package, symbolic links resolved. */
  root: string;
  /** True for the host's own code, such as built-ins: its late errors end the process as usual. */
  trusted?: boolean;
  /** Called with a message when the pack's code throws after its call has ended. */
  onLateError?: ((message: string) => void) | undefined;
}

const frozen = new WeakMap<object, object>();

/** A frozen copy of the data, shared by all calls. */
function freezeCopy<Data>(data: Data): Data {
  if (typeof data !== "object" || data === null) return data;
  let copy = frozen.get(data);
  if (copy === undefined) {
    copy = freeze(structuredClone(data)) as object;
    frozen.set(data, copy);
  }
  return copy as Data;
}

/** Returns what it is given, so that a class can add a private field to an object that is not its own. */
const Given = function Given(object: object) {
  return object;
} as unknown as new (
  object: object,
) => object;

/**
 * Adds the `signal` of a context, which is created when it is read. All share one getter: V8 keeps one that is written in an
 * object literal until the next full collection, and with it everything of its call.
 */
class Stopped extends Given {
  readonly #stop: Cancellation;

  static readonly #signal: PropertyDescriptor & ThisType<object> = {
    enumerable: true,
    get() {
      return #stop in this ? toSignal((this as Stopped).#stop) : undefined;
    },
  };

  constructor(context: object, stop: Cancellation) {
    super(context);
    this.#stop = stop;
    Object.defineProperty(this, "signal", Stopped.#signal);
  }
}

/** Runs what a handler asks of the host; its late errors are the host's own. */
class Host implements ContextHost {
  readonly #context: RunContext;
  readonly memory: RunContext["memory"];
  readonly changed: RunContext["changed"];

  constructor(context: RunContext) {
    const { memory, changed } = context;
    this.#context = context;
    this.memory = memory;
    this.changed = changed && (() => runAsHost(changed));
  }

  log(level: string, data: unknown): void {
    runAsHost(() => this.#context.log(level, data));
  }

  progress(progress: number, total?: number, message?: string): void {
    runAsHost(() => this.#context.progress(progress, total, message));
  }

  callTool(name: string, json: string): Promise<unknown> {
    return runAsHost(() => this.#context.callTool(name, JSON.parse(json)));
  }
}

/** The context for a handler in this process: frozen, and without access to the host's own context. */
function createOwnContext(context: RunContext, isOver: () => boolean): Readonly<HandlerContext> {
  const { sessionId, invocationId, device, input, state, arguments: values } = context;
  const own = createContext(freezeCopy(context.options), new Host(context), isOver);
  if (sessionId !== undefined) own.sessionId = sessionId;
  if (invocationId !== undefined) own.invocationId = invocationId;
  if (device !== undefined) own.device = freezeCopy(device);
  if (input !== undefined) own.input = freezeCopy(input);
  if (state !== undefined) own.state = freezeCopy(state);
  if (values !== undefined) own.arguments = freezeCopy(values);
  new Stopped(own, context.signal);
  return Object.freeze(own as HandlerContext);
}

/** What was initialized in this process, by the root of its code: sessions share loaded modules. */
const initialized = new Map<string, Map<unknown, Promise<void>>>();

function initializedBelow(root: string): Map<unknown, Promise<void>> {
  const known = initialized.get(root) ?? new Map<unknown, Promise<void>>();
  initialized.set(root, known);
  return known;
}

/**
 * Runs a pack's code in this process. It contains accidents, not attacks: the code can do what the process can, and
 * `process.exit` or an endless loop stops the host, too.
 */
export function createInProcessRunner(options: InProcessOptions): OutcomeRunner {
  const reportLate = limitReports(options.onLateError);
  const origin: CodeOrigin = {
    onLateError: (thrown) => reportLate(() => describeThrown(thrown).message),
  };
  const isTrusted = options.trusted === true;
  const release = isTrusted ? () => {} : claimRoot(options.root, origin);
  const run = <T>(work: () => T): T => (isTrusted ? work() : runAs(origin, work));
  const asked = new Map<unknown, Promise<void>>();
  let isClosed = false;

  const loaded = new WeakMap<CodePlace, PackFunction>();
  const load = async (place: CodePlace) => {
    const found = await loadFunction(place);
    loaded.set(place, found);
    return found;
  };
  const find = (place: CodePlace) => {
    if (isClosed) throw new Error("The session is closed.");
    return loaded.get(place) ?? load(place);
  };
  return {
    invoke(place, args, context) {
      let isOver = false;
      const end = () => {
        isOver = true;
      };
      const own = createOwnContext(context, () => isOver);
      const { signal } = context;
      return abortable(signal, () => run(() => runCode(() => find(place), args, own, signal)), end);
    },
    async load(place) {
      await run(async () => find(place));
    },
    initialize(place, context) {
      const done = initializedBelow(options.root);
      const key = identifyPlace(place);
      let running = asked.get(key) ?? done.get(key);
      if (running === undefined) {
        const own = Object.freeze({ options: freezeCopy(context.options) });
        running = run(() => runInitialize(() => find(place), own)).then(throwIfThrown);
        // A later session may succeed.
        running.catch(() => done.delete(key));
        done.set(key, running);
      }
      asked.set(key, running);
      return running;
    },
    async close() {
      isClosed = true;
      release();
    },
  };
}
