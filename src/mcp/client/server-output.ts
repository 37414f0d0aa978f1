import type { Readable } from "node:stream";
import type { ProcessLog } from "../../processes/process-port.ts";
import { createOutputTail, cutTail, keptTailBytes, shownTailBytes } from "../../runtime/process-output.ts";
import { createStreamRedactor, type Redactor } from "./redact.ts";

export interface ErrorOutput {
  /** The last 4 KiB, redacted. */
  tail(): string;
  /** Ends the output. Resolves when the log is written. */
  finish(): Promise<void>;
}

/** Reads a server's stderr as it arrives, even without a log. */
export function captureErrorOutput(
  stderr: Readable,
  redactor: Redactor,
  log: ProcessLog | undefined,
): ErrorOutput {
  const redacting = createStreamRedactor(redactor);
  const tail = createOutputTail(keptTailBytes);
  let finished: Promise<void> | undefined;
  const keep = (text: string) => {
    tail.add(Buffer.from(text));
    log?.write(text);
  };
  stderr.on("data", (chunk: Buffer) => {
    if (finished === undefined) keep(redacting.push(chunk));
  });
  return {
    // A string can become a secret after it was written.
    tail: () => cutTail(redactor.redact(tail.toString()), shownTailBytes),
    finish() {
      if (finished === undefined) {
        keep(redacting.end());
        finished = log?.end() ?? Promise.resolve();
      }
      return finished;
    },
  };
}
