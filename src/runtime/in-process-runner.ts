import { abortable, toSignal } from "./abort-listeners.ts";
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
import { type CodeOrigin, limitReports, runAs, runAsHost } from "./late-errors.ts";
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

/** The context for a handler in this process: frozen, and without access to the host's own context. */
function createOwnContext(context: RunContext, isOver: () => boolean): Readonly<HandlerContext> {
  const { sessionId, invocationId, device, input, state, arguments: values, changed, signal } = context;
  // What a handler asks of the host is the host's work, and so are its late errors.
  const host: ContextHost = {
    log: (level, data) => runAsHost(() => context.log(level, data)),
    progress: (...step) => runAsHost(() => context.progress(...step)),
    callTool: (name, json) => runAsHost(() => context.callTool(name, JSON.parse(json))),
    memory: context.memory,
    changed: changed && (() => runAsHost(changed)),
  };
  const own = createContext(freezeCopy(context.options), host, isOver);
  if (sessionId !== undefined) own.sessionId = sessionId;
  if (invocationId !== undefined) own.invocationId = invocationId;
  if (device !== undefined) own.device = freezeCopy(device);
  if (input !== undefined) own.input = freezeCopy(input);
  if (state !== undefined) own.state = freezeCopy(state);
  if (values !== undefined) own.arguments = freezeCopy(values);
  // A signal costs as much as the rest of a call, so it is created when it is read.
  Object.defineProperty(own, "signal", { enumerable: true, get: () => toSignal(signal) });
  return Object.freeze(own as HandlerContext);
}

/** What was initialized in this process: sessions share loaded modules. */
const initialized = new Map<unknown, Promise<void>>();

/**
 * Runs a pack's code in this process. It contains accidents, not attacks: the code can do what the process can, and
 * `process.exit` or an endless loop stops the host, too.
 */
export function createInProcessRunner(options: InProcessOptions): OutcomeRunner {
  const reportLate = limitReports(options.onLateError);
  const origin: CodeOrigin = (thrown) => reportLate(() => describeThrown(thrown).message);
  const run = <T>(work: () => T): T => (options.trusted ? work() : runAs(origin, work));
  const asked = new Map<unknown, Promise<void>>();
  let isClosed = false;

  const loaded = new WeakMap<CodePlace, PackFunction>();
  const load = async (place: CodePlace) => {
    const run = await loadFunction(place);
    loaded.set(place, run);
    return run;
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
      const key = identifyPlace(place);
      let running = asked.get(key) ?? initialized.get(key);
      if (running === undefined) {
        const own = Object.freeze({ options: freezeCopy(context.options) });
        running = run(() => runInitialize(() => find(place), own)).then(throwIfThrown);
        // A later session may succeed.
        running.catch(() => initialized.delete(key));
        initialized.set(key, running);
      }
      asked.set(key, running);
      return running;
    },
    async close() {
      isClosed = true;
    },
  };
}
