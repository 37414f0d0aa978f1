import type { TrailblazeConfig } from "../config/generated/config-type.ts";
import { readSettings } from "../config/read-config.ts";
import type { BuiltInDefinition, Device, ServerStart, SessionConfig } from "../config/session-config.ts";
import { isRecord } from "../data/parse-json.ts";
import type { LockMode } from "../lock/gate.ts";
import { type Problem, printable } from "../problems/index.ts";
import type { HostAuthProvider } from "../sign-in/renew.ts";
import type { OnCall, OnInput, ToolLog } from "./host-functions.ts";
import type { SessionChange } from "./session-frame.ts";

/** A command that a session is about to start. */
export interface StartedCommand {
  /** The server's name in the user's config, or its qualified name. */
  label: string;
  /** As in the config: references to variables are not replaced. */
  command: string;
  args: readonly string[];
  /** Absolute. */
  cwd: string;
}

/** A remote server that a session is about to connect to. */
export interface RemoteAddress {
  /** The server's name in the user's config. */
  label: string;
  /** Its URL without parameters, which may be secret. */
  url: string;
}

/** A server that takes long to start or to list what it has. */
export interface AwaitedServer {
  /** The server's name in the user's config, or its qualified name. */
  label: string;
  /** How long it may take, in milliseconds; `null` for any time. */
  limitMs: number | null;
}

/** The project, device, config and limits of a session; without options, those of the current project. */
export interface SessionOptions {
  /** The folder whose project the session is for. Default: the current folder. */
  cwd?: string;
  /** Changes the config's device: other keys stay, unless the platform changes, because it is then another device. */
  device?: { [Key in keyof Device]?: Device[Key] };
  /** Whether the agent runs on the host. Default: the config's value, otherwise true. */
  preferHostAgent?: boolean;
  /** Strings by key; they override those of the config. */
  memory?: Iterable<readonly [string, string]> | Readonly<Record<string, string>>;
  /** Path of a config file, or the parsed config. Default: trailblaze.config.yaml or .json next to package.json. */
  config?: string | TrailblazeConfig;
  /** Definitions of the host's own tools, in addition to the config's; handlers may be functions. */
  builtIns?: readonly BuiltInDefinition[];
  /**
   * How trailblaze.lock is used: `surface` leaves out what models would see or what would be launched without
   * approval, `frozen` makes any difference an error, `off` ignores it. Default: as the config's `lock.frozen` says.
   */
  lock?: LockMode;
  /**
   * When servers start: `eager` when the session opens, `lazy` at the first call that needs them, if trailblaze.lock has their
   * lists. The `start` of a server itself takes precedence. Default: the config's `serversStart`, otherwise `eager`.
   */
  start?: ServerStart;
  /**
   * Ends servers after this time without a call, in milliseconds; the next call starts them again. The `idleMs` of a server
   * itself takes precedence. Default: the config's `serversIdleMs`, otherwise they run until the session ends.
   */
  idleMs?: number;
  /** Limits `toolsForLlm` to these toolsets. */
  toolsets?: readonly string[];
  /** Installs missing packs that the session refers to. Default: as `packs.autoInstall` says. */
  install?: boolean;
  /** Called with each command of the package manager before it runs. */
  onInstall?: (command: string) => void;
  /** Aborts the start, or ends the session; its processes then get 1 second instead of 5 until SIGTERM. */
  signal?: AbortSignal;
  /** Called with each command before it is started. */
  onCommand?: (command: StartedCommand) => void;
  /** Called with each remote server before the first request to it. */
  onConnect?: (server: RemoteAddress) => void;
  /** Called once for a server that takes more than 4 seconds to start or list. */
  onWait?: (server: AwaitedServer) => void;
  /** Called with each problem that occurs after the session is open, when it joins `session.problems`. */
  onProblem?: (problem: Problem) => void;
  /**
   * Follows the project: when its packages or its config change, the session takes its tools anew, and `onChange` is called.
   * Default: false; the session stays as it opened.
   */
  watch?: boolean;
  /** Called after the session's lists have changed. */
  onChange?: (change: SessionChange) => void;
  /**
   * Asks the user what a tool, prompt or resource needs to know. Without it, calls that ask resolve as `InputRequired`, and
   * servers learn that there is no user to ask.
   */
  onInput?: OnInput;
  /**
   * Decides about each call of a tool before anything is run or started for it, also about those that tools make. What the
   * config's `calls.deny` names is denied before. Throwing, or returning anything else, denies the call and is the problem
   * `HostListenerFailed`.
   */
  onCall?: OnCall;
  /**
   * Returns an `OAuthClientProvider` of `@modelcontextprotocol/client` for a remote server without an `Authorization` header of
   * its own, in place of what `trailblaze login` has stored; `undefined` leaves it to that. The provider sends the user to the
   * issuer in the host's own way.
   */
  authProvider?: (label: string, url: URL) => HostAuthProvider | undefined;
  /**
   * The extensions of MCP that the host knows, as a client declares them to servers. `io.modelcontextprotocol/ui` (apps) is passed
   * on; others are not.
   */
  extensions?: Readonly<Record<string, unknown>> | undefined;
  /** Called with each log message of a tool. */
  onLog?: (entry: ToolLog) => void;
}

export interface CommandSessionOptions extends SessionOptions {
  /** Names of the tools that will be called. */
  calls?: readonly string[];
  /** When servers start if neither `start` nor the config says so. Default: `eager`. */
  defaultStart?: ServerStart;
  /** At most how many characters results have if neither the server nor the config says so. Default: any number. */
  defaultMaxChars?: number | undefined;
  /** Names tools as `trailblaze start` does: by default, it prefixes names that collide. */
  served?: boolean;
}

/** The entries of `memory` as an object, for the check of the config's own. */
function readMemory(memory: unknown): unknown {
  if (typeof memory !== "object" || memory === null || !(Symbol.iterator in memory)) return memory;
  return Object.fromEntries(memory as Iterable<readonly [string, string]>);
}

/** The device with changes. Without a platform, the sizes belong to the platform that is now set. */
function changeDevice(device: Device | undefined, changes: SessionOptions["device"]) {
  if (changes === undefined) return device;
  // Anything else replaces the config's, and is checked as it would be there.
  if (!isRecord(changes)) return changes;
  const { platform = device?.platform } = changes;
  const isOther = device?.platform != null && String(platform).toUpperCase() !== device.platform;
  const named = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { ...(isOther ? {} : device), ...Object.fromEntries(named) };
}

export function formatWaiting({ label, limitMs }: AwaitedServer): string {
  const limit = limitMs === null ? "no limit" : `at most ${limitMs / 1000} s`;
  return `Waiting for ${printable(label)} to start (${limit})`;
}

/** The config, overridden by the options. Throws `InvalidArguments` for what the config could not say either. */
export function applyOptions(config: SessionConfig, options: CommandSessionOptions): SessionConfig {
  const { device, preferHostAgent, memory, start, idleMs } = options;
  const settings = readSettings({
    device: changeDevice(config.device, device),
    preferHostAgent,
    memory: readMemory(memory),
    serversStart: start,
    serversIdleMs: idleMs,
  });
  return {
    ...config,
    ...settings,
    preferHostAgent: preferHostAgent ?? config.preferHostAgent,
    serversStart: start ?? config.serversStart ?? options.defaultStart,
    serversIdleMs: idleMs ?? config.serversIdleMs,
    nameCollisions: config.nameCollisions ?? (options.served === true ? "prefix" : "error"),
    memory: new Map([...config.memory, ...settings.memory]),
  };
}
