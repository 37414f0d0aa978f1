import type { BuiltInDefinition, Device, SessionConfig } from "../config/session-config.ts";
import { describeType, isRecord } from "../data/parse-json.ts";
import { platforms } from "../extension-schema/meta-keys.ts";
import { failure, type Problem, quote } from "../problems/index.ts";
import type { ToolLog } from "./tool-calls.ts";

/** A command that a session is about to start. */
export interface StartedCommand {
  /** The user's name of the server, or its qualified name. */
  label: string;
  command: string;
  args: readonly string[];
  /** Absolute. */
  cwd: string;
}

export interface SessionOptions {
  /** Folder whose project the session is for; default: the process's. */
  cwd?: string;
  /**
   * Instead of the config's, as a whole: keys that are missing are unknown to tools. Default: the config's; without one
   * there is no device.
   */
  device?: { [Key in keyof Device]?: Device[Key] };
  /**
   * Over the device, as `--platform` and `--driver` are: what is not named stays, but for another platform, which is
   * another device, of which nothing else is known.
   */
  deviceChanges?: { platform?: Device["platform"]; driverType?: Device["driverType"] };
  /** Whether the agent runs on the host. Default: the config's, else true. */
  preferHostAgent?: boolean;
  /** Texts by key; over those of the config. */
  memory?: Iterable<readonly [string, string]> | Readonly<Record<string, string>>;
  /** Path of a config file, or the parsed config. Default: trailblaze.config.yaml or .json beside package.json. */
  config?: string | Readonly<Record<string, unknown>>;
  /** Definitions of the host's own tools, besides the config's; handlers may be functions. */
  builtIns?: readonly BuiltInDefinition[];
  /** Toolsets that `toolsForLlm` is limited to. */
  toolsets?: readonly string[];
  /** Install packs that the session refers to and that are missing; default: as `packs.autoInstall` says. */
  install?: boolean;
  /** Told of each command of the package manager before it runs. */
  onInstall?: (command: string) => void;
  /** Ends the start, or the session. */
  signal?: AbortSignal;
  /** Told of each command before it is started. */
  onCommand?: (command: StartedCommand) => void;
  /** Told of each problem that comes up once the session is open, as it joins `session.problems`. */
  onProblem?: (problem: Problem) => void;
  /** Told what tools log while they run. */
  onLog?: (entry: ToolLog) => void;
}

/** What the command asks besides. */
export interface CommandSessionOptions extends SessionOptions {
  /** Names of the tools that it is going to call. */
  calls?: readonly string[];
}

const wrong = (reason: string, hint?: string) =>
  failure("InvalidArguments", hint === undefined ? { reason } : { reason, hint });

function readDevice(given: SessionOptions["device"]): Device {
  if (!isRecord(given)) throw wrong(`The device must be an object, but is ${describeType(given)}`);
  const { platform = null, driverType = null, widthPixels = null, heightPixels = null } = given;
  const known = typeof platform === "string" ? platforms.find((one) => one === platform.toUpperCase()) : null;
  if (known === undefined || (platform !== null && typeof platform !== "string")) {
    throw wrong(`The device's platform is none of ${platforms.join(", ")}`);
  }
  if (driverType !== null && typeof driverType !== "string") {
    throw wrong(`The device's driverType must be a text, but is ${describeType(driverType)}`);
  }
  for (const [key, pixels] of Object.entries({ widthPixels, heightPixels })) {
    if (pixels === null || (Number.isInteger(pixels) && pixels > 0)) continue;
    throw wrong(`The device's ${key} must be a whole number of at least 1`);
  }
  return { platform: known, widthPixels, heightPixels, driverType };
}

const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.iterator in value;

function readMemory(given: NonNullable<SessionOptions["memory"]>): [string, string][] {
  if (!isIterable(given) && !isRecord(given)) {
    throw wrong(`The memory must be a Map, a list of pairs or an object, but is ${describeType(given)}`);
  }
  const entries: unknown[] = isIterable(given) ? [...given] : Object.entries(given);
  return entries.map((entry) => {
    const [key, value] = Array.isArray(entry) ? entry : [undefined, undefined];
    if (typeof key === "string" && typeof value === "string") return [key, value];
    throw wrong(
      typeof key === "string"
        ? `Memory holds texts, but ${quote(key)} is ${describeType(value)}`
        : "Memory holds texts by keys that are texts",
    );
  });
}

function checkList(name: "toolsets" | "builtIns", list: unknown): void {
  if (list !== undefined && !Array.isArray(list)) {
    throw wrong(`\`${name}\` must be a list, but is ${describeType(list)}`);
  }
}

function changeDevice(
  device: Device | undefined,
  changes: NonNullable<SessionOptions["deviceChanges"]>,
): Device {
  const named = Object.entries(changes).filter(([, value]) => value !== undefined);
  const { platform } = readDevice(changes);
  // Sizes without a platform were of whichever is named now.
  const before = device?.platform ?? null;
  const isOther = platform !== null && before !== null && platform !== before;
  return readDevice({ ...(isOther ? {} : device), ...Object.fromEntries(named) });
}

/** The config with what the caller says over it. */
export function applyOptions(config: SessionConfig, options: SessionOptions): SessionConfig {
  const { device: given, deviceChanges, preferHostAgent, memory } = options;
  checkList("toolsets", options.toolsets);
  checkList("builtIns", options.builtIns);
  if (preferHostAgent !== undefined && typeof preferHostAgent !== "boolean") {
    throw wrong(`\`preferHostAgent\` must be true or false, but is ${describeType(preferHostAgent)}`);
  }
  const device = given === undefined ? config.device : readDevice(given);
  return {
    ...config,
    device: deviceChanges === undefined ? device : changeDevice(device, deviceChanges),
    preferHostAgent: preferHostAgent ?? config.preferHostAgent,
    memory: new Map([...config.memory, ...(memory === undefined ? [] : readMemory(memory))]),
  };
}
