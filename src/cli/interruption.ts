import { failure } from "../problems/index.ts";
import type { CommandInput } from "./command.ts";
import { exitCodeOfFailure } from "./exit-code.ts";
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
 * From now on until the command ends, Ctrl-C, SIGTERM and the end of the terminal abort the returned signal instead of ending the
 * process, and output of packs' code goes to stderr. A command that Ctrl-C makes fail exits with 130. With `isHard`, another Ctrl-C
 * ends it, and the watcher then stops the remaining servers; that code of a tool ends the process is then an error.
 */
export async function catchSignals(input: CommandInput, isHard = false): Promise<AbortSignal> {
  const interruption = new AbortController();
  const { signal } = interruption;
  const asJson = input.options.json;
  let interruptedAt = 0;
  const restoreSignals = onSignals((name) => {
    if (!signal.aborted) {
      interruptedAt = performance.now();
      if (isHard) output.note("Stopping… Press Ctrl-C again to exit immediately.");
      const reason = `it was interrupted by ${name}`;
      const stopped = name === "SIGINT" ? "SIGINT" : "SIGTERM";
      interruption.abort(failure("SessionClosed", { reason, signal: stopped }));
    } else if (isHard && performance.now() - interruptedAt > repeatMs) process.exit();
  });
  const onExit = () => {
    if (output.isReaderGone()) return;
    const reason = "code of a tool ended the process";
    const error = signal.aborted ? signal.reason : failure("SessionClosed", { reason });
    process.exitCode = exitCodeOfFailure(error);
    if (asJson || !signal.aborted) printError(error.problem, asJson);
  };
  if (isHard) process.once("exit", onExit);
  input.interruption = {
    signal,
    restore() {
      restoreSignals();
      process.off("exit", onExit);
    },
  };
  await output.reserve();
  return signal;
}
