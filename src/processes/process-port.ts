// What a session may do with processes: start supervised programs, and log their stderr.
import type { Readable, Writable } from "node:stream";

/** A program to run. Environment and folder are complete: it inherits nothing else. */
export interface ProcessLaunch {
  command: string;
  args: readonly string[];
  /** Absolute. */
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/** How a process exited; one of the two is not null. */
export interface ProcessEnd {
  exitCode: number | null;
  signal: string | null;
}

/** How long each step of ending a process may take, in milliseconds. */
export interface EndDurations {
  /** From the end of the input until SIGTERM. */
  inputMs: number;
  /** From SIGTERM until SIGKILL. */
  termMs: number;
}
export const endDurations: EndDurations = { inputMs: 5000, termMs: 2000 };

/** A process that ends, with its whole process group, at most a few seconds after this process. */
export interface SupervisedProcess {
  /** `undefined` if it could not be started. */
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Rejects with an `Error` whose message is a reason for users if the program cannot be started. */
  readonly started: Promise<void>;
  /**
   * Resolves when the process itself has exited, even if others of its group still hold its output; those are then ended.
   * Never rejects, and never settles if the process could not be started.
   */
  readonly exited: Promise<ProcessEnd>;
  /**
   * Ends the input, then sends SIGTERM and SIGKILL to the whole group, each after its time. Resolves when the group has
   * ended, or shortly after SIGKILL. Idempotent; a later call can only shorten the times.
   */
  end(durations: EndDurations): Promise<void>;
}

/** A file that text is appended to, up to a limit. Ignores errors of the disk: a log never fails a session. */
export interface ProcessLog {
  write(text: string): void;
  /** Resolves when everything is written. */
  end(): Promise<void>;
}

export interface ProcessPort {
  /** Returns immediately; a failure to start rejects `started`. */
  start(launch: ProcessLaunch): SupervisedProcess;
  /** Opens `file`, readable only by this user, at the first write. Text beyond `limitBytes` is dropped. */
  openLog(file: string, limitBytes: number): ProcessLog;
}
