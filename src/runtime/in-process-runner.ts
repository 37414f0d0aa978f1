import { abortable, type Cancellation, whenAborted } from "./abort-listeners.ts";
import type { HandlerContext } from "./handler-context.ts";
import { createHandlerView, freezeOptions } from "./handler-view.ts";
import { type CodeOrigin, claimRoot, runAs } from "./late-errors.ts";
import { limitReports } from "./late-reports.ts";
import { loadFunction } from "./module-loader.mjs";
import { describeReturned, describeThrown } from "./returned-value.mjs";
import type { CodePlace } from "./tool-code.ts";
import { identifyPlace, type Outcome, type OutcomeRunner } from "./tool-code.ts";

export interface InProcessOptions {
  /** Absolute path of the package, symbolic links resolved. */
  root: string;
  /** True for the host's own code, such as built-ins: its late errors end the process as usual. */
  trusted?: boolean;
  /** Called with a message when the pack's code throws after its call has ended. */
  onLateError?: ((message: string) => void) | undefined;
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

  const loaded = new WeakMap<CodePlace, Awaited<ReturnType<typeof loadFunction>>>();
  const load = async (place: CodePlace) => {
    const known = loaded.get(place) ?? (await loadFunction(place));
    loaded.set(place, known);
    return known;
  };
  const checkOpen = () => {
    if (isClosed) throw new Error("The session is closed.");
  };
  const runHandler = async (
    place: CodePlace,
    args: Record<string, unknown> | string,
    context: Readonly<HandlerContext>,
    signal: Cancellation,
  ): Promise<Outcome> => {
    try {
      checkOpen();
      const handler = loaded.get(place) ?? (await load(place));
      signal.throwIfAborted();
      const returned = describeReturned(await handler(args, context));
      // A watch may return before it ends.
      if (context.changed !== undefined && !signal.aborted)
        await new Promise<void>((resolve) => whenAborted(signal, resolve));
      return { returned };
    } catch (thrown) {
      return { thrown: describeThrown(thrown) };
    }
  };
  const invoke: OutcomeRunner["invoke"] = (place, args, context) => {
    const { signal } = context;
    const view = createHandlerView(context);
    return abortable(signal, () => run(() => runHandler(place, args, view.context, signal)), view.end);
  };
  return {
    invoke,
    load: (place) =>
      run(async () => {
        checkOpen();
        await load(place);
      }),
    initialize(place, context) {
      const done = initializedBelow(options.root);
      const key = identifyPlace(place);
      let running = asked.get(key) ?? done.get(key);
      if (running === undefined) {
        running = run(async () => {
          checkOpen();
          const initialize = await load(place);
          await initialize(Object.freeze({ options: freezeOptions(context.options) }));
        });
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
