import { resolve } from "node:path";
import { normalizeDefinition } from "../extension-schema/check-definition.ts";
import type { Problem } from "../problems/index.ts";
import type { ConfigText } from "./config-file.ts";
import { type CheckedConfig, userServer } from "./config-schema.ts";
import { isDisabled, listServerEntries, type ServerEntry } from "./server-entries.ts";

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

/** A built-in's definition: a tool definition like a pack's, with functions or `./module.js#export`. */
export type BuiltInDefinition = Readonly<Record<string, unknown>>;

export interface ConfigSource {
  value: unknown;
  /** For locating values in the file; `undefined` if there is none. */
  text: ConfigText | undefined;
  /** Absolute path of the file; `undefined` if there is none or the config was passed as an object. */
  file: string | undefined;
  /** The base of relative paths in the config: the file's folder, or the project's. Absolute. */
  directory: string;
  /** The project's folder, from which packages of servers are resolved. Absolute. */
  project: string;
}

export function buildDevice(device: CheckedConfig["device"]): Device | undefined {
  if (device === undefined) return undefined;
  const { platform = null, widthPixels = null, heightPixels = null, driverType = null } = device;
  return { platform, widthPixels, heightPixels, driverType };
}

/** A user's MCP server: a program, or remote. Its strings may refer to variables of the environment. */
export type UserServer = ReturnType<typeof buildServer>;

/** `configEnvFile`: the config's own `envFile`, which comes before that of the server. */
function buildServer({ label, path, values, isPasted }: ServerEntry, configEnvFile: string | undefined) {
  const { prefix, tools, toolset, enabled: _, ...server } = userServer.parse(values);
  // What is in the list is for Trailblaze alone, rather than as any client reads it.
  const place = { name: String(label), path, isListed: !isPasted };
  return { ...place, configEnvFile, ...server, choices: { prefix, toolset, ...tools } };
}

const noItems = { tools: [], toolsets: [], prompts: [], resources: [], skills: [] };

/** A checked `trailblaze.config.yaml` or `.json` with defaults. */
export type SessionConfig = ReturnType<typeof buildConfig>;

/** `problems`: those that leave the config usable, with their places in the file. */
export function buildConfig(checked: CheckedConfig, source: ConfigSource, problems: readonly Problem[]) {
  const { $schema: _, mcpServers: __, trailblazeSubprocessToolsets: ___, ...config } = checked;
  const { value: ____, ...place } = source;
  const entries = listServerEntries(checked);
  return {
    ...config,
    ...place,
    device: buildDevice(config.device),
    memory: new Map(Object.entries(config.memory)),
    /** Values of tools' options, by qualified name (without `@`) or a built-in's name. */
    options: new Map(Object.entries(config.options)),
    /** The user's toolsets: references by name, in file order. */
    toolsets: new Map(Object.entries(config.toolsets)),
    /** The user's composed servers, with unresolved references. */
    servers: Object.entries(config.servers).map(([name, server]) => ({ ...noItems, ...server, name })),
    builtIns: (config.builtIns as BuiltInDefinition[]).map((one) => normalizeDefinition("tool", one)),
    /** Absolute; `undefined` for the default in the user's state folder. */
    logDir: config.logDir === undefined ? undefined : resolve(source.directory, config.logDir),
    /** The user's servers that a session starts: those of the array, then those of `mcpServers`. */
    subprocessServers: entries
      .filter((entry) => !isDisabled(entry))
      .map((entry) => buildServer(entry, checked.envFile)),
    /** The labels of the user's servers, also of those that are disabled. */
    labels: entries.map(({ label }) => String(label)),
    problems,
  };
}
