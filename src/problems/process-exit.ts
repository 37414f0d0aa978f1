import { printable } from "./text.ts";

/** How a process came to its end. */
export interface ProcessExit {
  exitCode: number | null;
  signal: string | null;
  /** Why the host ended it, where it did, going on from "because": `it sent a message of more than 32 MiB`. */
  reason?: string;
}

export interface ProcessDeath extends ProcessExit {
  /** The end of what it wrote to stderr, without secrets. */
  stderrTail: string;
}

/** Continues after the subject: `exited with code 3`. */
export function describeExit({ exitCode, signal, reason }: ProcessExit): string {
  if (reason !== undefined) return `was terminated because ${printable(reason)}`;
  return signal === null ? `exited with code ${exitCode}` : `was terminated by ${signal}`;
}

/** The same after a colon: `exit code 3`. */
export function nameExit({ exitCode, signal, reason }: ProcessExit): string {
  if (reason !== undefined) return `terminated because ${printable(reason)}`;
  return signal === null ? `exit code ${exitCode}` : `signal ${signal}`;
}
