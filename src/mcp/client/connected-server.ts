import type { UnexpectedExit } from "../../problems/index.ts";
import type { CallToolResult } from "../../runtime/tool-result.ts";
import type { Era, ServerProtocol } from "./handshake.ts";

/** How to start a server. Environment and folder are complete: it inherits nothing else. */
export interface ServerLaunch {
  /** For messages and log files: the server's name in the user's config, or its qualified name. */
  label: string;
  command: string;
  args: readonly string[];
  /** Absolute. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Absolute path of the file that its stderr is appended to, in an existing folder; `undefined` for none. */
  logFile: string | undefined;
  /** Strings to remove from logs, errors and stderr tails. Called each time, because the list can change. */
  secrets: () => readonly string[];
  timeouts: { handshakeMs: number; listMs: number };
  protocol: ServerProtocol;
}

/** A tool from the server's `tools/list`. Names may not be unique; strings are hostile. */
export interface AdvertisedTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
  execution?: Record<string, unknown>;
  _meta?: Record<string, unknown>;
}

export interface ServerCall {
  name: string;
  arguments: Record<string, unknown>;
  _meta: Record<string, unknown>;
}

export interface ServerCallOptions {
  /** When it aborts, `notifications/cancelled` is sent once and the call rejects with its reason. */
  signal?: AbortSignal | undefined;
  timeoutMs: number;
  onProgress?: ((progress: { progress: number; total?: number; message?: string }) => void) | undefined;
}

/** A failed call to a server. A call rejects with this or with the reason of its `signal`. */
export class ServerCallError extends Error {
  override readonly name = "ServerCallError";
  /** `exited`: the process ended; `timeout`; `protocol`: an error answer or an invalid one; `closed`: by us. */
  readonly reason: "exited" | "timeout" | "protocol" | "closed";
  readonly exit: UnexpectedExit | undefined;

  constructor(reason: ServerCallError["reason"], message: string, exit?: UnexpectedExit) {
    super(message);
    this.reason = reason;
    this.exit = exit;
  }
}

/** A running MCP server, after its handshake and the listing of its tools. */
export interface ConnectedServer {
  readonly label: string;
  readonly era: Era;
  readonly protocolVersion: string;
  /** `null` for a modern server that does not say. */
  readonly serverInfo: { name: string; version: string } | null;
  /** Instructions for models; `undefined` if it has none. */
  readonly instructions: string | undefined;
  /** Every page of `tools/list`, in the server's order. Later changes of the list are not included. */
  readonly tools: readonly AdvertisedTool[];
  callTool(call: ServerCall, options: ServerCallOptions): Promise<CallToolResult>;
  /** Resolves when the server is lost: its process exits unexpectedly, or it is unreachable. Never rejects. */
  readonly exit: Promise<UnexpectedExit>;
  /**
   * Ends its process group: closes stdin, sends SIGTERM after 5 s and SIGKILL after 2 s more. Ends the session of a remote
   * server, within 1 s. Idempotent.
   */
  close(): Promise<void>;
}

/** A server that runs as a process. */
export interface ConnectedProcess extends ConnectedServer {
  readonly pid: number;
}

/** Events of a server that are reported as problems but do not end it. */
export interface ServerEvents {
  /** The first line on stdout that is not MCP, shortened; control characters are included. Called once per server. */
  onStdoutNoise(line: string): void;
  /** `notifications/tools/list_changed`. Called once. */
  onToolListChanged(): void;
  /** A listed tool that is excluded: it has no name (then `name` is empty) or no schema. */
  onInvalidTool(name: string, reason: string): void;
  /** `notifications/message` of the server, redacted. */
  onLog?(entry: { level: string; logger?: string; data: unknown }): void;
}
