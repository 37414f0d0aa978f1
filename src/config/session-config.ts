import type { ConfigText } from "./config-file.ts";
import type { PacksPolicy } from "./packs-policy.ts";

/** The device that a session's tools work on. What is not known is `null`. */
export interface Device {
  /** `IOS`, `ANDROID` or `WEB`, in capitals. */
  platform: string | null;
  widthPixels: number | null;
  heightPixels: number | null;
  /** Compared exactly with a tool's `supportedDrivers`. */
  driverType: string | null;
}

/** A server of the user's own, started as a process (seed 004). */
export interface UserServer {
  name: string;
  command: string;
  args: readonly string[];
  /** Absolute. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** False leaves `_trailblazeContext` out of its arguments. */
  legacyContext: boolean;
}

/** A composed server of the user's own, by short name. References are not yet resolved. */
export interface UserComposedServer {
  name: string;
  tools: readonly string[];
  toolsets: readonly string[];
  prompts: readonly string[];
  transport: "stdio" | "http" | undefined;
  version: string | undefined;
  instructions: string | undefined;
  mcpServerName: string | undefined;
}

/** A tool of the host itself, as its definition says: the shape of a pack's tool definition, with functions or `./module.js#export`. */
export type BuiltInDefinition = Readonly<Record<string, unknown>>;

export interface SessionPacksPolicy extends PacksPolicy {
  /** What a broken item of a pack does: it is skipped, or it fails the session. */
  onError: "skip" | "fail";
  /** Which memory packs' tools see: all, none, or for each pack (`acme/jira`) these keys; a pack not named then sees none. */
  memory: "all" | "none" | Readonly<Record<string, readonly string[]>>;
  /** Patterns of packs that execution may install. */
  autoInstall: readonly string[];
}

/** `trailblaze.config.yaml` or `.json`, checked, with its defaults. */
export interface SessionConfig {
  /** Absolute path of the file; `undefined` where there is none or the config was handed over as an object. */
  file: string | undefined;
  /** To find where in the file something stands; `undefined` where there is none. */
  text: ConfigText | undefined;
  /** Absolute. What relative paths in the config start from: the file's folder, else the project's. */
  directory: string;
  device: Device | undefined;
  preferHostAgent: boolean;
  memory: ReadonlyMap<string, string>;
  sensitiveMemory: readonly string[];
  packs: SessionPacksPolicy;
  /** Values of tools' options, by the tool's qualified name (a leading `@` is taken off) or a built-in's name. */
  options: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** The user's own groups of references, in file order. */
  toolsets: ReadonlyMap<string, readonly string[]>;
  servers: readonly UserComposedServer[];
  builtIns: readonly BuiltInDefinition[];
  nameCollisions: "error" | "suffix";
  crash: "fail" | "isolate" | "relaunch";
  isolation: "in-process" | "process";
  callback: {
    enabled: boolean;
    timeoutMs: number;
    maxDepth: number;
    maxBodyBytes: number;
    bodyTimeoutMs: number;
  };
  timeouts: { handshakeMs: number; listMs: number; callMs: number };
  /** Absolute, or `undefined` for the default below the user's state directory. */
  logDir: string | undefined;
  subprocessServers: readonly UserServer[];
}
