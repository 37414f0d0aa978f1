import { readFileSync } from "node:fs";
import { posix, win32 } from "node:path";
import { parse } from "ini";
import { findHome } from "./user-folders.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Values of npm's configuration by key. Keys written as `key[]` have arrays. */
export type NpmConfiguration = ReadonlyMap<string, string | readonly string[]>;

interface Location {
  env: Environment;
  platform?: NodeJS.Platform;
  execPath?: string;
  /** The user's home; `undefined` if there is none. */
  home?: string | undefined;
}

export interface NpmConfigurationSources extends Location {
  /** Folder of the project's .npmrc: the project, or its workspace's root. */
  projectDirectory: string | undefined;
}

/** Expands `${NAME}` like npm. For undefined variables, `${NAME?}` is empty and `${NAME}` stays. */
function expand(text: string, env: Environment): string {
  return text.replace(/(?<!\\)(\\*)\$\{([^${}]+)\}/g, (whole, escapes: string, expression: string) => {
    if (escapes.length % 2 === 1) return whole.slice((escapes.length + 1) / 2);
    const optional = expression.endsWith("?");
    const value = env[optional ? expression.slice(0, -1) : expression];
    return `${escapes.slice(escapes.length / 2)}${value ?? (optional ? "" : `\${${expression}}`)}`;
  });
}

/** Limit on the size of a configuration file. */
const maximumBytes = 1 << 20;

function readFile(file: string, env: Environment): Map<string, string | string[]> {
  const values = new Map<string, string | string[]>();
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return values;
  }
  if (text.length > maximumBytes) return values;
  for (const [key, value] of Object.entries(parse(text) as Record<string, unknown>)) {
    const name = expand(key, env);
    if (Array.isArray(value)) {
      values.set(
        name,
        value.map((one) => expand(String(one), env)),
      );
    } else if (typeof value !== "object" || value === null) {
      values.set(name, expand(String(value), env));
    }
  }
  return values;
}

/** Reads `npm_config_*` variables. Keys of credentials (`//host/:_authToken`) are not normalized. */
function readEnvironment(env: Environment): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(env)) {
    if (!/^npm_config_/i.test(name) || value === undefined || value === "") continue;
    const key = name.slice("npm_config_".length);
    const isPlain = !key.startsWith("//") && !key.startsWith("@");
    values.set(isPlain ? key.toLowerCase().replace(/(?!^)_/g, "-") : key, value);
  }
  return values;
}

/**
 * Reads npm's configuration like npm, without running it: environment, the project's .npmrc, the user's, the global one,
 * in this order. Files that cannot be read count as empty.
 */
export function readNpmConfiguration(sources: NpmConfigurationSources): NpmConfiguration {
  const { projectDirectory, env, platform = process.platform, home = findHome() } = sources;
  const { join } = platform === "win32" ? win32 : posix;
  const fromEnvironment = readEnvironment(env);
  const project =
    projectDirectory === undefined ? new Map() : readFile(join(projectDirectory, ".npmrc"), env);
  const userFile =
    pathOf(fromEnvironment, "userconfig", home) ?? (home === undefined ? undefined : join(home, ".npmrc"));
  const user = userFile === undefined ? new Map() : readFile(userFile, env);
  const prefix =
    pathOf(fromEnvironment, "prefix", home) ??
    pathOf(project, "prefix", home) ??
    pathOf(user, "prefix", home);
  const globalFile =
    pathOf(fromEnvironment, "globalconfig", home) ??
    pathOf(user, "globalconfig", home) ??
    join(prefix ?? defaultPrefix(sources), "etc", "npmrc");
  return new Map([...readFile(globalFile, env), ...user, ...project, ...fromEnvironment]);
}

/** The path value of a key, with a leading `~/` expanded. */
function pathOf(configuration: NpmConfiguration, key: string, home: string | undefined): string | undefined {
  const value = configuration.get(key);
  const text = typeof value === "string" && value !== "" ? value : undefined;
  return home === undefined ? text : text?.replace(/^~(?=[/\\])/, () => home);
}

function defaultPrefix({ env, platform = process.platform, execPath = process.execPath }: Location): string {
  if (env.PREFIX) return env.PREFIX;
  if (platform !== "win32") return posix.dirname(posix.dirname(execPath));
  return env.APPDATA ? win32.join(env.APPDATA, "npm") : win32.dirname(execPath);
}

/** npm's folder of globally installed packages, determined like npm without running it. */
export function findGlobalPackages(location: Location): string {
  const { platform = process.platform, home = findHome() } = location;
  const configuration = readNpmConfiguration({ projectDirectory: undefined, ...location });
  const prefix = pathOf(configuration, "prefix", home) ?? defaultPrefix(location);
  return platform === "win32"
    ? win32.resolve(prefix, "node_modules")
    : posix.resolve(prefix, "lib/node_modules");
}
