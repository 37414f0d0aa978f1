import type { BuiltInDefinition } from "../config/session-config.ts";

/** Where and to whom a server is offered over HTTP. */
export interface HttpTransport {
  /** Default: 127.0.0.1. Another one than this machine's own needs a `token`, or `noAuth`. */
  host?: string;
  /** Default: a free one. */
  port?: number;
  /** What clients must send as `Authorization: Bearer`. */
  token?: string;
  /** Offer it to everybody who reaches the host. */
  noAuth?: boolean;
  /** Seconds without a request after which a session ends. Default: 1800. */
  sessionTtl?: number;
  /** Default: 1000. */
  maxSessions?: number;
  /** No sessions: each request stands for itself. */
  stateless?: boolean;
}

export interface ServeOptions {
  /** Folder whose project the server is looked for in; default: the process's. */
  cwd?: string;
  /** Default: what the server's definition says, else stdio. */
  transport?: "stdio" | HttpTransport;
  /** Path of a config file, or the parsed config. */
  config?: string | Readonly<Record<string, unknown>>;
  /** Definitions of the host's own tools, besides the config's. */
  builtIns?: readonly BuiltInDefinition[];
  /** Install packs that the server refers to and that are missing; default: as `packs.autoInstall` says. */
  install?: boolean;
  /** Told of each command of the package manager before it runs. */
  onInstall?: (command: string) => void;
  /** Also offer tools that need a session, and those that are not for models. */
  allTools?: boolean;
}

/** A server that is being served. */
export interface RunningServer {
  /** Only over HTTP: `http://127.0.0.1:52525/mcp`. */
  url?: string;
  /** Resolves when it has ended: by `close`, by the end of its input, or with its process. */
  readonly ended: Promise<void>;
  /** Ends it and everything it started. Idempotent. */
  close(): Promise<void>;
}

/** What the command asks besides: settings for a server whose own definition says that it is served over HTTP. */
export interface CommandServeOptions extends ServeOptions {
  http?: HttpTransport;
  /** This process is there for the server alone: what its code prints goes to stderr, over HTTP as well. */
  ownsStdout?: boolean;
  /** Gives up what is not served yet: nothing is left running or half installed, and its reason is thrown. */
  signal?: AbortSignal;
  /** An option that means something over HTTP only; refused where the server turns out to be served over stdio. */
  onlyHttp?: string;
}
