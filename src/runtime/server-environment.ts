import type { Device } from "../config/session-config.ts";

/** What a server's environment is made from. */
export interface EnvironmentFacts {
  hostEnvironment: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  device: Device | undefined;
  /** `undefined` where there is no session. */
  sessionId: string | undefined;
  /** Absolute path of the server's script where one is named, else of the file that declares it. */
  toolsetFile: string;
  /** `undefined` where callbacks are off. */
  callback: { baseUrl: string; port: number; token: string; timeoutMs: number } | undefined;
}

/** What a pack's server gets of the host's environment unasked. Anything else may be a secret. */
const inherited = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR"];
/** The same on Windows: what the MCP SDK passes on there. */
const inheritedOnWindows = [
  "APPDATA",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATH",
  "PROCESSOR_ARCHITECTURE",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "USERNAME",
  "USERPROFILE",
  "PROGRAMFILES",
];

/** A callback may take as long as the endpoint allows, and a little for the way. */
const fetchReserveMs = 2000;

/** The variables by which a session tells servers about itself. */
const sessionPrefix = "TRAILBLAZE_";
const sessionVariables = [
  "DEVICE_PLATFORM",
  "DEVICE_DRIVER",
  "DEVICE_WIDTH_PX",
  "DEVICE_HEIGHT_PX",
  "SESSION_ID",
  "TOOLSET_FILE",
  "BASE_URL",
  "PORT",
  "SESSION_TOKEN",
  "CLIENT_FETCH_TIMEOUT_MS",
];

function describeSession(facts: EnvironmentFacts): Map<string, string> {
  const { device, sessionId, toolsetFile, callback } = facts;
  const values: Readonly<Record<string, string | number | null | undefined>> = {
    DEVICE_PLATFORM: device?.platform,
    DEVICE_DRIVER: device?.driverType,
    DEVICE_WIDTH_PX: device?.widthPixels,
    DEVICE_HEIGHT_PX: device?.heightPixels,
    SESSION_ID: sessionId,
    TOOLSET_FILE: toolsetFile,
    BASE_URL: callback?.baseUrl,
    PORT: callback?.port,
    SESSION_TOKEN: callback?.token,
    CLIENT_FETCH_TIMEOUT_MS: callback && callback.timeoutMs + fetchReserveMs,
  };
  const known = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return new Map(known.map(([key, value]) => [`${sessionPrefix}${key}`, String(value)]));
}

function pick({ hostEnvironment, platform }: EnvironmentFacts, names: readonly string[]): [string, string][] {
  // Windows does not tell cases of names apart, and has them in several.
  const fold = (name: string) => (platform === "win32" ? name.toUpperCase() : name);
  const wanted = new Set(names.map(fold));
  return Object.entries(hostEnvironment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && wanted.has(fold(entry[0])),
  );
}

function withSession(facts: EnvironmentFacts, own: Iterable<readonly [string, string]>) {
  const environment = new Map(own);
  // A host may itself be a server of another session, whose token is none of this one's servers' business.
  for (const name of sessionVariables) environment.delete(`${sessionPrefix}${name}`);
  for (const [name, value] of describeSession(facts)) environment.set(name, value);
  return Object.fromEntries(environment);
}

/** The environment of a server from the user's own config: the host's, with `env` over it (seed 004). */
export function createUserServerEnvironment(
  facts: EnvironmentFacts,
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  const { hostEnvironment } = facts;
  return withSession(facts, [...pick(facts, Object.keys(hostEnvironment)), ...Object.entries(env)]);
}

/** What every pack's server gets of the host's environment. */
export const inheritedNames = (platform: NodeJS.Platform): readonly string[] =>
  platform === "win32" ? inheritedOnWindows : inherited;

/** The environment of a pack's server: little of the host's, its `env`, and what `envPassthrough` names. */
export function createPackEnvironment(
  facts: EnvironmentFacts,
  {
    env = {},
    envPassthrough = [],
  }: { env?: Readonly<Record<string, string>>; envPassthrough?: readonly string[] },
): Record<string, string> {
  const base = inheritedNames(facts.platform);
  return withSession(facts, [...pick(facts, [...base, ...envPassthrough]), ...Object.entries(env)]);
}
