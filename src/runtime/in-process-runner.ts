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
import { type CodePlace, identifyPlace, type OutcomeRunner, throwIfThrown } from "./tool-code.ts";

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
  const host: ContextHost = {
    log: (level, data) => context.log(level, data),
    progress: (...step) => context.progress(...step),
    callTool: (name, json) => context.callTool(name, JSON.parse(json)),
    memory: context.memory,
    changed,
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
 * `process.exit`, an endless loop, or what it throws after its call has ended stops the host, too.
 */
export function createInProcessRunner(): OutcomeRunner {
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
      return abortable(signal, () => runCode(() => find(place), args, own, signal), end);
    },
    async load(place) {
      await find(place);
    },
    initialize(place, context) {
      const key = identifyPlace(place);
      let running = asked.get(key) ?? initialized.get(key);
      if (running === undefined) {
        const own = Object.freeze({ options: freezeCopy(context.options) });
        running = runInitialize(() => find(place), own).then(throwIfThrown);
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
