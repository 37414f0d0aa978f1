// What a session may do with processes: start programs that are supervised, and keep what they say on stderr.
import type { Readable, Writable } from "node:stream";

/** A program to run. Environment and folder are complete: nothing is inherited besides. */
export interface ProcessLaunch {
  command: string;
  args: readonly string[];
  /** Absolute. */
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/** How the process that was started came to its end; one of the two is not null. */
export interface ProcessEnd {
  exitCode: number | null;
  signal: string | null;
}

/** How long each step of ending a process may take, in milliseconds. */
export interface EndDurations {
  /** From the end of its input until SIGTERM. */
  inputMs: number;
  /** From SIGTERM until SIGKILL. */
  termMs: number;
}

/** A process that ends, with everything in its process group, at the latest some seconds after this one. */
export interface SupervisedProcess {
  /** `undefined` where it could not be started. */
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Rejects with an `Error` in words for people (paths quoted, no stack of use) where there is no such program. */
  readonly started: Promise<void>;
  /**
   * Resolves when the process itself has ended, though others of its group may still hold its output; those are then
   * told to end as well. Never rejects, and never settles where nothing was started.
   */
  readonly exited: Promise<ProcessEnd>;
  /**
   * Ends input, then sends SIGTERM and SIGKILL to the whole group, each after its time. Resolves when the group is gone,
   * or shortly after SIGKILL. Idempotent; a later call with shorter times makes haste.
   */
  end(durations: EndDurations): Promise<void>;
}

/** A file that text is appended to, up to a limit. Faults of the disk are swallowed: a log never stops a session. */
export interface ProcessLog {
  write(text: string): void;
  /** Resolves when everything is written. */
  end(): Promise<void>;
}

export interface ProcessPort {
  /** Returns at once; what is wrong with the launch comes from `started`. */
  start(launch: ProcessLaunch): SupervisedProcess;
  /** Opens `file` with the first text, readable by this user alone. What comes after `limitBytes` is left out. */
  openLog(file: string, limitBytes: number): ProcessLog;
}
