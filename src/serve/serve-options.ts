import type { HttpTransport } from "../mcp/http/http-options.ts";
import type { ServedProtocol } from "../mcp/served-server.ts";
import type { SessionOptions } from "../session/session-options.ts";
import type { LlmToolsOptions } from "../session/tool-search.ts";

export type { HttpTransport };

/** The project, transport, config and limits of a served server. */
export interface ServeOptions
  extends Pick<SessionOptions, "cwd" | "config" | "builtIns" | "lock" | "install" | "onInstall"> {
  /** Default: as the server's definition says, otherwise stdio. */
  transport?: "stdio" | HttpTransport;
  /**
   * Which clients to serve: `modern` ones speak revision 2026-07-28 of MCP or a later one, `legacy` ones an earlier one.
   * Default: as the server's definition says, otherwise both. A subprocess server over stdio takes only `both`.
   */
  protocol?: ServedProtocol;
  /** How long modern clients may keep lists, in seconds. Default: 300. */
  cacheTtl?: number;
  /** Also offers tools that need a session, and those that are not for models. Only for a server. */
  allTools?: boolean;
  /** Adds a tool `load_skill`, where there are skills, for clients that do not know them. */
  skillTool?: boolean;
  /** Options of the session, which is served if no server is named. */
  session?: ServedSessionOptions;
}

/** A server that is being served. */
export interface RunningServer {
  /** Set over HTTP, for example `http://127.0.0.1:52525/mcp`. */
  url?: string;
  /** Resolves when the server has ended: by `close`, at the end of its input, or with its process. */
  readonly ended: Promise<void>;
  /** Resolves when no request is under way, at the latest after `seconds`; `/healthz` answers 503 from now on. Then call `close`. */
  drain(seconds: number): Promise<void>;
  /** Ends the server and everything it started, also while it drains. Idempotent. */
  close(): Promise<void>;
}

/** What only a served session has. Its servers start when they are needed unless `start` or the config says otherwise. */
export interface ServedSessionOptions
  extends Pick<
    SessionOptions,
    "device" | "preferHostAgent" | "memory" | "toolsets" | "watch" | "start" | "idleMs"
  > {
  /**
   * Lists `search_tools` instead of all tools if there are many, as `toolsForLlm` does with these options. The lists of legacy
   * clients grow by what they find. A tool called `search_tools` is a `NameCollision`.
   */
  toolSearch?: LlmToolsOptions | undefined;
}

/** Options of the command. `http` applies if the server's definition selects HTTP. */
export interface CommandServeOptions extends ServeOptions {
  http?: HttpTransport;
  /** This process only runs the server: output of its code goes to stderr over HTTP, too. */
  ownsStdout?: boolean;
  /** Aborts the start, undoes installations, and rejects with its reason. */
  signal?: AbortSignal;
  /** How long requests may take after the client's input has ended, in seconds. Default: 2. */
  drain?: number;
  /** The option that applies only to HTTP, as written; refused over stdio. */
  onlyHttp?: string | undefined;
}
