import { abortable } from "./abort-listeners.ts";
import { createContext, findFunction, type PackFunction, runCode, runInitialize } from "./handler-code.mjs";
import { type CodePlace, type CodeRunner, readOutcome } from "./tool-code.ts";

/**
 * Runs a pack's code, whose modules are below `root`, in this process. It contains accidents, not attacks: the code can do what the
 * process can, and `process.exit`, an endless loop, or what it throws after its call has ended stops the host, too.
 */
export function createInProcessRunner(root: string): CodeRunner {
  const tried = new WeakMap<PackFunction, Promise<void>>();
  const find = (place: CodePlace) => findFunction(root, place);
  return {
    invoke(place, args, context) {
      const { signal } = context;
      let isDone = false;
      const own = createContext(context, () => isDone || signal.aborted);
      return abortable(signal, async () => {
        const outcome = await runCode(() => find(place), args, own, signal);
        isDone = true;
        return readOutcome(outcome);
      });
    },
    async load(place) {
      await find(place);
    },
    async initialize(place, { options }) {
      readOutcome(await runInitialize(() => find(place), options, tried));
    },
    async close() {},
  };
}
