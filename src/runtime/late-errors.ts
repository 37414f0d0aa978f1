// Late errors: what a pack's code throws after its call has ended, from a timer or as an unhandled rejection. Node ends
// the process for them. Here they are reported to the pack's runner instead; all other errors are left alone.
import { AsyncLocalStorage } from "node:async_hooks";

/** Whose code is running: called with each of its late errors. Must not throw. */
export type CodeOrigin = (thrown: unknown) => void;

const running = new AsyncLocalStorage<CodeOrigin | undefined>();

/** Runs a pack's code, and attributes its late errors to the origin. */
export function runAs<T>(origin: CodeOrigin, run: () => T): T {
  watch();
  return running.run(origin, run);
}

/** Runs the host's code on behalf of a pack's; its late errors are the host's own. */
export function runAsHost<T>(run: () => T): T {
  return running.run(undefined, run);
}

let isWatching = false;

/**
 * The monitor only observes, so that other errors end the process as usual. For an error of a pack, it installs a
 * capture callback for that one error. It stays installed, because a pack's timers can outlive the session.
 */
function watch(): void {
  if (isWatching) return;
  isWatching = true;
  process.on("uncaughtExceptionMonitor", (thrown) => {
    const origin = running.getStore();
    // Another library handles all uncaught errors.
    if (origin === undefined || process.hasUncaughtExceptionCaptureCallback()) return;
    const report = () => runAsHost(() => origin(thrown));
    try {
      process.setUncaughtExceptionCaptureCallback(() => {
        process.setUncaughtExceptionCaptureCallback(null);
        report();
      });
    } catch {
      // With node:domain loaded, no capture callback can be set; a listener works as well.
      process.once("uncaughtException", report);
    }
  });
}

const mostReports = 100;

/** Passes messages on up to a limit, because a pack's timer can throw any number of times. */
export function limitReports(
  report: ((message: string) => void) | undefined,
): (createMessage: () => string) => void {
  let count = 0;
  return (createMessage) => {
    count++;
    if (report === undefined || count > mostReports) return;
    report(count === mostReports ? "Further errors of this kind are not reported." : createMessage());
  };
}

/** Calls a callback of the host; what it throws reaches neither the caller nor the tool. */
export function notifyHost(notify: () => void): void {
  try {
    notify();
  } catch {
    // The host's own error.
  }
}
