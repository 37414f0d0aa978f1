import { abortable, type Cancellation, toSignal } from "./abort-listeners.ts";
import { completeContext, freeze, loadFunction, type PackFunction, runCode } from "./handler-code.mjs";
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
  const copy = frozen.get(data) ?? freeze(structuredClone(data));
  frozen.set(data, copy);
  return copy as Data;
}

const stop = Symbol("stop");

/**
 * The `signal` of contexts, which is created when it is read. All share one getter: V8 keeps one that is written in an object
 * literal until the next full collection, and with it everything of its call.
 */
const signalProperty: PropertyDescriptor & ThisType<{ [stop]: Cancellation }> = {
  enumerable: true,
  get() {
    return toSignal(this[stop]);
  },
};

/** The context for a handler in this process: frozen, and without access to the host's own context. */
function createContext(context: RunContext, isOver: () => boolean): Readonly<HandlerContext> {
  const { sessionId, invocationId, device, memory, input, state, changed } = context;
  const own: { -readonly [Key in keyof HandlerContext]?: HandlerContext[Key] } = {
    options: freezeCopy(context.options),
  };
  if (sessionId !== undefined) own.sessionId = sessionId;
  if (invocationId !== undefined) own.invocationId = invocationId;
  if (device !== undefined) own.device = freezeCopy(device);
  if (input !== undefined) own.input = freezeCopy(input);
  if (state !== undefined) own.state = freezeCopy(state);
  if (context.arguments !== undefined) own.arguments = freezeCopy(context.arguments);
  Object.defineProperty(own, stop, { value: context.signal });
  Object.defineProperty(own, "signal", signalProperty);
  // Late errors of what the host does for a pack are the host's own.
  const host = {
    log: (level: string, data: unknown) => runAsHost(() => context.log(level, data)),
    progress: (...progress: Parameters<HandlerContext["progress"]>) =>
      runAsHost(() => context.progress(...progress)),
    callTool: (name: string, json: string) => runAsHost(() => context.callTool(name, JSON.parse(json))),
    ...(changed === undefined ? {} : { changed: () => runAsHost(changed) }),
    ...(memory === undefined ? {} : { memory }),
  };
  return completeContext(own, host, isOver);
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
  const load = (place: CodePlace) => {
    if (isClosed) throw new Error("The session is closed.");
    const keep = (found: PackFunction) => {
      loaded.set(place, found);
      return found;
    };
    return loaded.get(place) ?? loadFunction(place).then(keep);
  };
  return {
    invoke(place, args, context) {
      let isOver = false;
      const end = () => {
        isOver = true;
      };
      const own = createContext(context, () => isOver);
      const { signal } = context;
      return abortable(signal, () => run(() => runCode(() => load(place), args, own, signal)), end);
    },
    async load(place) {
      await run(async () => load(place));
    },
    initialize(place, context) {
      const done = initializedBelow(options.root);
      const key = identifyPlace(place);
      let running = asked.get(key) ?? done.get(key);
      if (running === undefined) {
        const own = Object.freeze({ options: freezeCopy(context.options) });
        running = run(() => runCode(() => load(place), own)).then(throwIfThrown);
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
