import type { CallLog, ToolProgress } from "./call-listeners.ts";

/** Limits of one call, and its progress reports. */
export interface CallOptions {
  /** Cancels the call, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds. Default: the config's `timeouts.callMs`. */
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
