import { printable } from "./text.ts";

/** The exit of a process. */
export interface ProcessExit {
  exitCode: number | null;
  signal: string | null;
  /** The reason why the host terminated it, which continues after "because": `it sent a message of more than 32 MiB`. */
  reason?: string;
  /** A remote server, which has no process; `reason` says why: `no connection: connect ECONNREFUSED 127.0.0.1:80`. */
  isLost?: boolean;
}

export interface UnexpectedExit extends ProcessExit {
  /** The end of its stderr output, without secrets. */
  stderrTail: string;
}

/** Continues after the subject: `exited with code 3`. */
export function describeExit({ exitCode, signal, reason, isLost }: ProcessExit): string {
  if (isLost) return `was lost: ${printable(reason ?? "")}`;
  if (reason !== undefined) return `was terminated because ${printable(reason)}`;
  return signal === null ? `exited with code ${exitCode}` : `was terminated by ${signal}`;
}

/** The same after a colon: `exit code 3`. */
export function nameExit({ exitCode, signal, reason, isLost }: ProcessExit): string {
  if (isLost) return printable(reason ?? "");
  if (reason !== undefined) return `terminated because ${printable(reason)}`;
  return signal === null ? `exit code ${exitCode}` : `signal ${signal}`;
}
