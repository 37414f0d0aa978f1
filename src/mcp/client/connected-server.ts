import type { ProcessDeath } from "../../problems/index.ts";
import type { CallToolResult } from "../../runtime/tool-result.ts";

/** How a server is started. Environment and folder are complete: nothing is inherited besides. */
export interface ServerLaunch {
  /** For messages and log files: the user's name of the server, or its qualified name. */
  label: string;
  command: string;
  args: readonly string[];
  /** Absolute. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Absolute path of the file its stderr is appended to (its folder exists); `undefined` for none. */
  logFile: string | undefined;
  /** Texts that reach no log, error or stderr tail: those of the moment, asked for again and again. */
  secrets: () => readonly string[];
  timeouts: { handshakeMs: number; listMs: number };
}

/** A tool as the server's `tools/list` gave it. Names are unique to nothing yet; texts are hostile. */
export interface AdvertisedTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
  _meta?: Record<string, unknown>;
}

export interface ServerCall {
  name: string;
  arguments: Record<string, unknown>;
  _meta: Record<string, unknown>;
}

export interface ServerCallOptions {
  /** Aborting sends `notifications/cancelled` once and rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  timeoutMs: number;
  onProgress?: ((progress: { progress: number; total?: number; message?: string }) => void) | undefined;
}

/** What a call to a server can reject with, other than the reason of its `signal`. */
export class ServerCallError extends Error {
  override readonly name = "ServerCallError";
  /** `died`: the process ended; `timeout`; `protocol`: an error answer or one of a wrong shape; `closed`: by us. */
  readonly reason: "died" | "timeout" | "protocol" | "closed";
  readonly death: ProcessDeath | undefined;

  constructor(reason: ServerCallError["reason"], message: string, death?: ProcessDeath) {
    super(message);
    this.reason = reason;
    this.death = death;
  }
}

/** A process that speaks MCP, after its handshake and the listing of its tools. */
export interface ConnectedServer {
  readonly label: string;
  readonly pid: number;
  readonly serverInfo: { name: string; version: string };
  /** Every page of `tools/list`, in the server's order; stays as it was when the list changes. */
  readonly tools: readonly AdvertisedTool[];
  callTool(call: ServerCall, options: ServerCallOptions): Promise<CallToolResult>;
  /** Resolves when the process has ended without being asked to; never rejects. */
  readonly death: Promise<ProcessDeath>;
  /** Ends it: stdin closed, 5 s, SIGTERM, 2 s, SIGKILL, to the whole process group. Idempotent. */
  close(): Promise<void>;
}

/** What a server does that is worth a problem and ends nothing. */
export interface ServerEvents {
  /** A line on stdout that is no protocol (already shortened, control characters as they came). Called once a server for the first, not for each. */
  onStdoutNoise(line: string): void;
  /** `notifications/tools/list_changed`; once. */
  onToolListChanged(): void;
  /** A tool that the server lists and that is left out, because it has no name (`name` is empty) or no schema. */
  onInvalidTool(name: string, reason: string): void;
  /** `notifications/message` of the server, secrets taken out of its texts. */
  onLog?(entry: { level: string; logger?: string; data: unknown }): void;
}
