// Errors that a pack's code throws when nobody waits for it any more: from a timer, or as a rejection that nobody
// handles. Node ends the process for them. Here they are told to whoever runs the pack instead; all other errors take
// the way they would have taken, as nothing here handles them.
import { AsyncLocalStorage } from "node:async_hooks";
import { sep } from "node:path";
import { pathToFileURL } from "node:url";

/** Whose code is running. */
export interface CodeOrigin {
  /** Is told of every late error. Must not throw. */
  onLateError(thrown: unknown): void;
}

const running = new AsyncLocalStorage<CodeOrigin | undefined>();

/** Origins by the root of their code, for the few errors that come without a context. */
const roots = new Map<string, CodeOrigin[]>();

/** Runs a pack's code: what it throws late, whenever and from wherever, is that of the origin. */
export function runAs<T>(origin: CodeOrigin, run: () => T): T {
  watch();
  return running.run(origin, run);
}

/** Runs the host's code for a pack's: what that throws late is the host's own. */
export function runAsHost<T>(run: () => T): T {
  return running.run(undefined, run);
}

/** From now on, errors thrown by code below `root` are the origin's even where Node has lost whose they are. */
export function claimRoot(root: string, origin: CodeOrigin): () => void {
  roots.set(root, [...(roots.get(root) ?? []), origin]);
  return () => {
    const left = (roots.get(root) ?? []).filter((other) => other !== origin);
    if (left.length === 0) roots.delete(root);
    else roots.set(root, left);
  };
}

/** The line of a stack that says where it was thrown. It may be a lie, as any text of a pack. */
function findThrowingFrame(thrown: unknown): string | undefined {
  try {
    const { stack } = thrown as Error;
    if (typeof stack !== "string") return undefined;
    return stack.split("\n", 50).find((line) => /^\s+at /.test(line) && !/[( ]node:/.test(line));
  } catch {
    return undefined;
  }
}

/** Up to version 22 Node forgets the context of what `queueMicrotask` runs. */
function findByStack(thrown: unknown): CodeOrigin | undefined {
  const frame = roots.size === 0 ? undefined : findThrowingFrame(thrown);
  if (frame === undefined) return undefined;
  for (const [root, origins] of roots) {
    for (const start of [`${pathToFileURL(root).href}/`, `${root}${sep}`]) {
      const at = frame.indexOf(start);
      // A package in the package is another one.
      if (at >= 0 && !frame.slice(at + start.length).includes("node_modules")) return origins.at(-1);
    }
  }
  return undefined;
}

let isWatching = false;

/**
 * The monitor only looks on, so errors of others end the process as ever. For an error of a pack's it captures this one
 * error. It stays for as long as the process does: so do the timers that a pack has left behind.
 */
function watch(): void {
  if (isWatching) return;
  isWatching = true;
  process.on("uncaughtExceptionMonitor", (thrown) => {
    const origin = running.getStore() ?? findByStack(thrown);
    // Somebody else has taken charge of all of them.
    if (origin === undefined || process.hasUncaughtExceptionCaptureCallback()) return;
    const swallow = () => {
      process.setUncaughtExceptionCaptureCallback(null);
      runAsHost(() => origin.onLateError(thrown));
    };
    try {
      process.setUncaughtExceptionCaptureCallback(swallow);
    } catch {
      // With node:domain loaded nothing can be captured; a listener does as well, beside those that others have.
      process.once("uncaughtException", () => runAsHost(() => origin.onLateError(thrown)));
    }
  });
}
