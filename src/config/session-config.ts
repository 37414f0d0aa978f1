import type { Path, Problem } from "../problems/index.ts";
import type { ConfigText } from "./config-file.ts";
import type { PacksPolicy } from "./packs-policy.ts";

/** The device that a session runs for. Unknown values are `null`. */
export interface Device {
  /** `IOS`, `ANDROID` or `WEB`, in capitals. */
  platform: string | null;
  widthPixels: number | null;
  heightPixels: number | null;
  /** Compared exactly with a tool's `supportedDrivers`. */
  driverType: string | null;
}

/** When a server starts: with the session, or at the first request that needs it, if the lock has its lists. */
export type ServerStart = "eager" | "lazy";

/** What a user chooses for the tools of one of their servers. */
export interface ToolChoices {
  /** Starts the names of its tools; empty for none. `undefined` leaves the names to `nameCollisions`. */
  prefix: string | undefined;
  /** Patterns of the server's own names; `undefined` allows everything. */
  allow: readonly string[] | undefined;
  /** Takes precedence over `allow`. */
  deny: readonly string[];
  /** The toolset that its tools join. */
  toolset: string | undefined;
}

/** A user's MCP server: a program, or remote. Its strings may refer to variables of the environment. */
export interface UserServer {
  name: string;
  /** Its path in the config. */
  path: Path;
  /** The program to run; `undefined` if `package` names it, or for a remote server. */
  command: string | undefined;
  /** The npm name of the package whose command is the program, resolved from the project. */
  package: string | undefined;
  /** The name of that command; `undefined` for the only or the main one. */
  bin: string | undefined;
  args: readonly string[];
  /** As written: relative to the config's folder. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** The http or https URL of a remote server; `undefined` for a program. */
  url: string | undefined;
  /** The headers of requests to a remote server. */
  headers: Readonly<Record<string, string>>;
  /** `auto` begins with `initialize` and becomes modern if the server refuses that. */
  protocol: "auto" | "legacy" | "modern";
  /** What the config says of the session's context; `undefined` leaves it to how the server is written. */
  context: boolean | undefined;
  /** Whether a server written in the list, which is for Trailblaze alone, rather than as any client reads it. */
  isListed: boolean;
  /** Whether calls with the context include `_trailblazeContext` in their arguments. */
  legacyContext: boolean;
  /** When it starts; `undefined` leaves it to `serversStart`. */
  start: ServerStart | undefined;
  /** After how long without a request it ends, in milliseconds; `undefined` leaves it to `serversIdleMs`. */
  idleMs: number | undefined;
  choices: ToolChoices;
}

/** A user's server that sessions do not use, because it is disabled. */
export interface UnusedServer {
  name: string;
  path: Path;
}

/** A user's composed server, with a short name and unresolved references. */
export interface UserComposedServer {
  name: string;
  tools: readonly string[];
  toolsets: readonly string[];
  prompts: readonly string[];
  resources: readonly string[];
  transport: "stdio" | "http" | undefined;
  protocol: "both" | "modern" | "legacy" | undefined;
  version: string | undefined;
  instructions: string | undefined;
  mcpServerName: string | undefined;
}

/** A built-in's definition: a tool definition like a pack's, with functions or `./module.js#export`. */
export type BuiltInDefinition = Readonly<Record<string, unknown>>;

export interface SessionPacksPolicy extends PacksPolicy {
  /** Whether a broken item of a pack is skipped or fails the session. */
  onError: "skip" | "fail";
  /** Which memory packs' tools see: `all`, `none`, or keys by pack (`acme/jira`); packs without an entry see none. */
  memory: "all" | "none" | Readonly<Record<string, readonly string[]>>;
  /** Patterns of packs that execution may install. */
  autoInstall: readonly string[];
}

/** How a session uses trailblaze.lock. */
export interface LockConfig {
  /** Whether any difference is an error. */
  frozen: boolean;
  /** Whether packs of the project and its workspace are locked too. */
  workspace: boolean;
  /** Patterns of packs, items and servers of the config that are used as they are. */
  unlocked: readonly string[];
}

/** A checked `trailblaze.config.yaml` or `.json` with defaults. */
export interface SessionConfig {
  /** Absolute path of the file; `undefined` if there is none or the config was passed as an object. */
  file: string | undefined;
  /** For locating values in the file; `undefined` if there is none. */
  text: ConfigText | undefined;
  /** The base of relative paths in the config: the file's folder, or the project's. Absolute. */
  directory: string;
  /** The project's folder, from which packages of servers are resolved. Absolute. */
  project: string;
  device: Device | undefined;
  preferHostAgent: boolean;
  memory: ReadonlyMap<string, string>;
  sensitiveMemory: readonly string[];
  packs: SessionPacksPolicy;
  lock: LockConfig;
  /** Values of tools' options, by qualified name (without `@`) or a built-in's name. */
  options: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** The user's toolsets: references by name, in file order. */
  toolsets: ReadonlyMap<string, readonly string[]>;
  servers: readonly UserComposedServer[];
  builtIns: readonly BuiltInDefinition[];
  /** `undefined` if the config does not say: an error, or prefixes in a session that is served. */
  nameCollisions: "error" | "prefix" | undefined;
  crash: "fail" | "isolate" | "relaunch";
  /** `undefined` if the config does not say. */
  serversStart: ServerStart | undefined;
  /** After how long without a request servers end, in milliseconds; `undefined`: with the session. */
  serversIdleMs: number | undefined;
  isolation: "in-process" | "process";
  callback: {
    enabled: boolean;
    timeoutMs: number;
    maxDepth: number;
    maxBodyBytes: number;
    bodyTimeoutMs: number;
  };
  timeouts: { handshakeMs: number; listMs: number; callMs: number; inputMs: number };
  /** Absolute; `undefined` for the default in the user's state folder. */
  logDir: string | undefined;
  /** The user's servers that a session starts: those of the array, then those of `mcpServers`. */
  subprocessServers: readonly UserServer[];
  unusedServers: readonly UnusedServer[];
  /** Problems that leave the config usable, with their places in the file. */
  problems: readonly Problem[];
}
