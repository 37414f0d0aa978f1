import type { CallStop, Cancellation } from "../runtime/abort-listeners.ts";
import type { BundleRequest } from "../runtime/bundle-entry.ts";
import type { InputRound } from "../runtime/input-requests.ts";
import type { TimeLimit } from "../runtime/time-limit.ts";
import type { ToolLog } from "./call-listeners.ts";
import type { CallOptions } from "./call-options.ts";
import type { AskInput } from "./host-input.ts";
import type { SessionMemory } from "./session-memory.ts";
import type { SessionState } from "./session-state.ts";
import type { ToolCandidate } from "./session-tool.ts";

/** For whom a call is executed: the session itself, or one of the clients that it is served to. */
export interface CallScope {
  sessionId: string;
  memory: SessionMemory;
  /** What entries of bundles see of the client's request. */
  request?: Pick<BundleRequest, "meta" | "session">;
  /** `json`: the arguments. */
  record(name: string, json: string): void;
  log(entry: ToolLog): void;
  /** Reports to the operator what a pack's author has to mend; `log` goes to a client. */
  reportFault?(message: string): void;
  /** Asks for input; `undefined` if there is nobody to ask. */
  ask: AskInput | undefined;
  /** Resolves calls that ask as `InputRequired` all the same, and asks only for what they call, and while a server waits. */
  passesRounds?: boolean;
  /** What stands still while the user is asked: the time of the call, and of those around it. */
  limits?: readonly TimeLimit[];
}

/** One open call. */
export interface Invocation {
  id: string;
  scope: CallScope;
  /** The state that the call uses until its end, also for nested calls. */
  state: SessionState;
  candidate: ToolCandidate;
  /** 0 for a call of the host, one more for each nested call. */
  depth: number;
  /** Whether to record the call if it succeeds. */
  recorded: boolean;
  args: Record<string, unknown>;
  stop: CallStop;
  limit: TimeLimit;
  onProgress: CallOptions["onProgress"];
  onLog: CallOptions["onLog"];
}

export type InnerCallOptions = Omit<CallOptions, "signal"> & {
  signal?: Cancellation | undefined;
  /** What a client answers that the call asked in an earlier request. */
  round?: InputRound | undefined;
};

export type Nesting = Pick<Invocation, "scope" | "state" | "depth" | "recorded">;
