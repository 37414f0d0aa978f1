// Late errors: what a pack's code throws after its call has ended, from a timer or as an unhandled rejection. Node ends
// the process for them. Here they are reported to the pack's runner instead; all other errors are left alone.
import { AsyncLocalStorage } from "node:async_hooks";
import { sep } from "node:path";
import { pathToFileURL } from "node:url";

/** Identifies whose code is running. */
export interface CodeOrigin {
  /** Called with every late error. Must not throw. */
  onLateError(thrown: unknown): void;
}

const running = new AsyncLocalStorage<CodeOrigin | undefined>();

/** Origins by the root of their code, for the few errors that have no async context. */
const roots = new Map<string, CodeOrigin[]>();

/** Runs a pack's code, and attributes its late errors to the origin. */
export function runAs<T>(origin: CodeOrigin, run: () => T): T {
  watch();
  return running.run(origin, run);
}

/** Runs the host's code on behalf of a pack's; its late errors are the host's own. */
export function runAsHost<T>(run: () => T): T {
  return running.run(undefined, run);
}

/** Attributes errors thrown by code below `root` to the origin where Node has lost the async context. */
export function claimRoot(root: string, origin: CodeOrigin): () => void {
  roots.set(root, [...(roots.get(root) ?? []), origin]);
  return () => {
    const left = (roots.get(root) ?? []).filter((other) => other !== origin);
    if (left.length === 0) roots.delete(root);
    else roots.set(root, left);
  };
}

/** The first line of a stack outside Node. A pack can forge it. */
function findThrowingFrame(thrown: unknown): string | undefined {
  try {
    const { stack } = thrown as Error;
    if (typeof stack !== "string") return undefined;
    return stack.split("\n", 50).find((line) => /^\s+at /.test(line) && !/[( ]node:/.test(line));
  } catch {
    return undefined;
  }
}

/** Node before 23 loses the async context of callbacks of `queueMicrotask`. */
function findByStack(thrown: unknown): CodeOrigin | undefined {
  const frame = roots.size === 0 ? undefined : findThrowingFrame(thrown);
  if (frame === undefined) return undefined;
  for (const [root, origins] of roots) {
    for (const start of [`${pathToFileURL(root).href}/`, `${root}${sep}`]) {
      const at = frame.indexOf(start);
      // A package inside this one has another origin.
      if (at >= 0 && !frame.slice(at + start.length).includes("node_modules")) return origins.at(-1);
    }
  }
  return undefined;
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
    const origin = running.getStore() ?? findByStack(thrown);
    // Another library handles all uncaught errors.
    if (origin === undefined || process.hasUncaughtExceptionCaptureCallback()) return;
    const swallow = () => {
      process.setUncaughtExceptionCaptureCallback(null);
      runAsHost(() => origin.onLateError(thrown));
    };
    try {
      process.setUncaughtExceptionCaptureCallback(swallow);
    } catch {
      // With node:domain loaded, no capture callback can be set; a listener works as well.
      process.once("uncaughtException", () => runAsHost(() => origin.onLateError(thrown)));
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
