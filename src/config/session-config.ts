import type { Path, Problem } from "../problems/index.ts";
import type { ConfigText } from "./config-file.ts";
import type { CheckedConfig, CheckedServer } from "./config-schema.ts";

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
export type ToolChoices = CheckedServer["tools"] & Pick<CheckedServer, "prefix" | "toolset">;

/** A user's MCP server: a program, or remote. Its strings may refer to variables of the environment. */
export interface UserServer extends Omit<CheckedServer, "enabled" | "prefix" | "tools" | "toolset"> {
  name: string;
  /** Its path in the config. */
  path: Path;
  /** The config's own `envFile`, which comes before that of the server. */
  configEnvFile?: string | undefined;
  /** Whether a server written in the list, which is for Trailblaze alone, rather than as any client reads it. */
  isListed: boolean;
  choices: ToolChoices;
}

/** A user's server that sessions do not use, because it is disabled. */
export interface UnusedServer {
  name: string;
  path: Path;
}

type CheckedComposedServer = CheckedConfig["servers"][string];

/** A user's composed server, with a short name and unresolved references. */
export type UserComposedServer = CheckedComposedServer & { name: string } & Required<
    Pick<CheckedComposedServer, "tools" | "toolsets" | "prompts" | "resources" | "skills">
  >;

/** A built-in's definition: a tool definition like a pack's, with functions or `./module.js#export`. */
export type BuiltInDefinition = Readonly<Record<string, unknown>>;

/** The keys of the user's own servers. */
type Entries = "mcpServers" | "trailblazeSubprocessToolsets";

/** A checked `trailblaze.config.yaml` or `.json` with defaults. */
export interface SessionConfig
  extends Omit<
    CheckedConfig,
    "$schema" | "device" | "memory" | "options" | "toolsets" | "servers" | "builtIns" | "logDir" | Entries
  > {
  /** Absolute path of the file; `undefined` if there is none or the config was passed as an object. */
  file: string | undefined;
  /** For locating values in the file; `undefined` if there is none. */
  text: ConfigText | undefined;
  /** The base of relative paths in the config: the file's folder, or the project's. Absolute. */
  directory: string;
  /** The project's folder, from which packages of servers are resolved. Absolute. */
  project: string;
  device: Device | undefined;
  memory: ReadonlyMap<string, string>;
  /** Values of tools' options, by qualified name (without `@`) or a built-in's name. */
  options: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** The user's toolsets: references by name, in file order. */
  toolsets: ReadonlyMap<string, readonly string[]>;
  servers: readonly UserComposedServer[];
  builtIns: readonly BuiltInDefinition[];
  /** Absolute; `undefined` for the default in the user's state folder. */
  logDir: string | undefined;
  /** The user's servers that a session starts: those of the array, then those of `mcpServers`. */
  subprocessServers: readonly UserServer[];
  unusedServers: readonly UnusedServer[];
  /** Problems that leave the config usable, with their places in the file. */
  problems: readonly Problem[];
}
