import type { Device } from "../config/session-config.ts";
import { withoutLocalBin } from "../processes/find-program.ts";

export interface EnvironmentFacts {
  hostEnvironment: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  device?: Device | undefined;
  /** `undefined` outside a session. */
  sessionId?: string | undefined;
  /** Real path of the session's project; `undefined` outside a session. */
  project?: string | undefined;
  /** `undefined` for a server without the context, and if callbacks are disabled. */
  callback?: { baseUrl: string; port: number; token: string; timeoutMs: number } | undefined;
}

export interface OwnEnvironment {
  /** Absolute path of the server's script if it has one, otherwise of the file that declares it. */
  toolsetFile: string;
  env: Readonly<Record<string, string>>;
  /** Of a pack's server: the variables that it also inherits. The user's inherit all. */
  envPassthrough?: readonly string[];
  /** The variables of the user's files, which win over the host's. */
  ofFile: Readonly<Record<string, string>>;
}

/** The variables of the host that every pack's server inherits. Others may be secret. */
const inherited = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR"];
/** The same on Windows: the MCP SDK's list. */
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

const decidingNames = new Set(
  "PATH NODE_OPTIONS NODE_PATH LD_PRELOAD LD_LIBRARY_PATH PYTHONPATH PYTHONHOME PYTHONSTARTUP RUBYOPT PERL5OPT BASH_ENV ENV JAVA_TOOL_OPTIONS".split(
    " ",
  ),
);

/** Whether a variable decides what runs. On Windows, case does not matter. npm's credentials do not count. */
export function decidesWhatRuns(name: string): boolean {
  const upper = name.toUpperCase();
  if (upper.startsWith("NPM_CONFIG_")) return !/AUTH|TOKEN|PASSWORD|USERNAME|EMAIL|OTP|KEY|CERT/.test(upper);
  return decidingNames.has(upper) || upper.startsWith("DYLD_");
}

/** Added to the endpoint's own timeout, for the transfer. */
const fetchReserveMs = 2000;

const sessionPrefix = "TRAILBLAZE_";

/** Secrets of the gateway. A server that had them could act as a client, or forge the state of a question. */
const gatewaySecrets = ["TRAILBLAZE_HTTP_TOKEN", "TRAILBLAZE_STATE_KEY"];

/** The variable that lists the projects of the sessions that started a process, as JSON. It prevents endless starts. */
const projectsVariable = `${sessionPrefix}SESSION_PROJECTS`;

/** The real paths of the projects whose sessions, directly or indirectly, started a process with this environment. */
export const readStartedProjects = (environment: EnvironmentFacts["hostEnvironment"]): string[] =>
  JSON.parse(environment[projectsVariable] ?? "[]");

/** On Windows, names of variables ignore case and may occur in several. */
const fold = (name: string, platform: NodeJS.Platform) => (platform === "win32" ? name.toUpperCase() : name);

/** The host's variables with these names. Programs that a server starts by name are not looked up in `node_modules/.bin`. */
function inherit({ hostEnvironment, platform }: EnvironmentFacts, names: readonly string[]) {
  const wanted = new Set(names.map((name) => fold(name, platform)));
  for (const secret of gatewaySecrets) wanted.delete(secret);
  return Object.entries(hostEnvironment).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || !wanted.has(fold(name, platform))) return [];
    return [[name, fold(name, platform) === "PATH" ? withoutLocalBin(value, platform) : value]];
  });
}

/** Variables of the host and of the user's files, those of the session, and the server's own, which win (seed 004). */
export function createEnvironment(
  { toolsetFile, env, envPassthrough, ofFile }: OwnEnvironment,
  facts: EnvironmentFacts,
): Record<string, string> {
  const { device, sessionId, platform, hostEnvironment, project, callback } = facts;
  const withFile = { ...facts, hostEnvironment: { ...hostEnvironment, ...ofFile } };
  const own = [
    ...inherit(facts, platform === "win32" ? inheritedOnWindows : inherited),
    ...inherit(withFile, envPassthrough ?? Object.keys(withFile.hostEnvironment)),
    ...Object.entries(env),
  ];
  // Later ones win, also in another case.
  const last = new Map(own.map(([name, value]) => [fold(name, platform), [name, value] as const]));
  const environment = new Map(last.values());
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
  for (const [key, value] of Object.entries(values)) {
    // The host may itself be a server of another session, whose token its own servers must not get.
    environment.delete(`${sessionPrefix}${key}`);
    if (value !== undefined && value !== null) environment.set(`${sessionPrefix}${key}`, String(value));
  }
  const projects = [...readStartedProjects(hostEnvironment), ...(project === undefined ? [] : [project])];
  if (projects.length > 0) environment.set(projectsVariable, JSON.stringify([...new Set(projects)]));
  return Object.fromEntries(environment);
}
