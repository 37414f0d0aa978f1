import { createProblem, type Problem } from "../problems/index.ts";
import { notifyHost } from "../runtime/notify-host.ts";
import type { SessionMemory } from "./session-memory.ts";

/** A log message of a tool. */
export interface ToolLog {
  /** The advertised name, or the server's name if the message does not belong to a call. */
  tool: string;
  level: string;
  data: unknown;
}

/** A progress report of a tool; `progress` and `total` have the same unit. */
export interface ToolProgress {
  progress: number;
  total?: number;
  message?: string;
}

/** A log message of a call. Sensitive values are redacted, as in the session's log. */
export interface CallLog {
  level: string;
  /** The part of a server that logs, if it says. */
  logger?: string;
  /** Any JSON value. */
  data: unknown;
}

/** The functions that a host passes with a call. */
export interface Listeners {
  onProgress?: ((progress: ToolProgress) => void) | undefined;
  onLog?: ((entry: CallLog) => void) | undefined;
}

/** The listeners of one open call, until `end`. */
export interface HeardListeners extends Listeners {
  end(): void;
}

/** Limits of one call, and its progress reports. */
export interface CallOptions {
  /** Cancels the call, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds. Default: `timeouts.callMs` of the server, or else of the config. */
  timeoutMs?: number | undefined;
  /**
   * Called for each progress report of this call, in order, until it ends. Calls that the tool makes are not included. A
   * listener that throws or rejects is reported as `HostListenerFailed`, and the call goes on.
   */
  onProgress?: ((progress: ToolProgress) => void) | undefined;
  /**
   * Called for each log message of this call and of the calls that the tool makes, in order, until it ends. Messages of legacy
   * servers and over stdio do not name their call, and go to all open calls of their server. Throwing: as `onProgress`.
   */
  onLog?: ((entry: CallLog) => void) | undefined;
  /** For a call of `search_tools`: finds only these tools, by their advertised names. */
  among?: readonly string[] | undefined;
}

const deaf: HeardListeners = { end: () => {} };

/** Calls the listeners of calls. What they throw is reported once per tool and listener, so that it fills no memory. */
export class CallListeners {
  readonly #report: (problem: Problem) => void;
  readonly #failed = new Set<string>();

  constructor(report: (problem: Problem) => void) {
    this.#report = report;
  }

  /** The listeners of one call, which never throw, hear redacted events, and hear nothing after `end`. */
  listen({ onProgress, onLog }: Listeners, tool: string, memory: SessionMemory): HeardListeners {
    if (onProgress === undefined && onLog === undefined) return deaf;
    let isOver = false;
    return {
      onProgress:
        onProgress &&
        (({ message, ...step }) => {
          const text = message === undefined ? {} : { message: memory.redact(message) };
          if (!isOver) void this.#tell("onProgress", tool, () => onProgress({ ...step, ...text }));
        }),
      onLog:
        onLog &&
        (({ level, logger, data }) => {
          if (isOver) return;
          // Code of packs can log a value that cannot be redacted, because it is no JSON.
          notifyHost(() => {
            const name = logger === undefined ? {} : { logger: memory.redact(logger) };
            const entry = { level: memory.redact(level), ...name, data: memory.redact(data) };
            void this.#tell("onLog", tool, () => onLog(entry));
          });
        }),
      end: () => {
        isOver = true;
      },
    };
  }

  /** Calls a listener at once, and waits only to see whether it rejects. */
  async #tell(option: keyof Listeners, tool: string, listener: () => unknown): Promise<void> {
    try {
      await listener();
    } catch (error) {
      const key = `${option} ${tool}`;
      if (this.#failed.has(key)) return;
      this.#failed.add(key);
      const reason = error instanceof Error ? error.message : String(error);
      this.#report(createProblem("HostListenerFailed", { option, tool, reason }));
    }
  }
}
