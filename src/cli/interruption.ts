import { failure } from "../problems/index.ts";
import { exitCodeOfFailure, stoppedBy } from "./exit-code.ts";
import { output } from "./output.ts";
import { printError } from "./problem-text.ts";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Calls `listener` for signals, which then do not end the process. Returns what undoes this. */
export function onSignals(listener: (signal: NodeJS.Signals) => void): () => void {
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}

/** npx and `npm run` repeat a signal that the terminal also sends here. Both within this time are one Ctrl-C. Milliseconds. */
const repeatMs = 250;

/**
 * Runs `use` with a signal that Ctrl-C, SIGTERM and the end of the terminal abort, instead of ending the process. With
 * `hardStop`, another Ctrl-C ends it, and the watcher then stops the remaining servers. If Ctrl-C makes `use` throw, the command exits with 130. Output of packs' code goes to stderr.
 */
export async function withSignals<Answer>(
  use: (signal: AbortSignal) => Promise<Answer>,
  hardStop?: { asJson: boolean; beforeExit?: () => void },
): Promise<Answer> {
  const interruption = new AbortController();
  let interruptedAt = 0;
  const restore = onSignals((signal) => {
    if (!interruption.signal.aborted) {
      interruptedAt = performance.now();
      if (hardStop !== undefined) output.note("Stopping… Press Ctrl-C again to exit immediately.");
      const reason = `it was interrupted by ${signal}`;
      const stopped = signal === "SIGINT" ? "SIGINT" : "SIGTERM";
      interruption.abort(failure("SessionClosed", { reason, signal: stopped }));
    } else if (hardStop !== undefined && performance.now() - interruptedAt > repeatMs) {
      hardStop.beforeExit?.();
      const error = interruption.signal.reason;
      if (hardStop.asJson) printError(error.problem, true);
      process.exit(exitCodeOfFailure(error));
    }
  });
  try {
    await output.reserve();
    return await use(interruption.signal);
  } catch (error) {
    const isStopped = interruption.signal.reason?.problem.args.signal === "SIGINT";
    if (isStopped && error instanceof Error) stoppedBy.add(error);
    throw error;
  } finally {
    restore();
  }
}
