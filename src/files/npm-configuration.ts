import { readFileSync } from "node:fs";
import { join, posix, win32 } from "node:path";
import { parse } from "ini";
import { attempt } from "./file-errors.ts";
import { findHome } from "./user-folders.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Values of npm's configuration by key. Keys written as `key[]` have arrays. */
export type NpmConfiguration = ReadonlyMap<string, string | readonly string[]>;

interface Sources {
  env: Environment;
  /** Folder of the project's .npmrc: the project, or its workspace's root. */
  projectDirectory?: string | undefined;
  platform?: NodeJS.Platform;
  execPath?: string;
  home?: string | undefined;
}

/**
 * Expands `${NAME}` like npm. For undefined variables, `${NAME?}` is empty and `${NAME}` stays. Two backslashes before a reference
 * stand for one, and after an odd number it stays as written.
 */
function expand(text: string, env: Environment): string {
  const reference = /(?<!\\)(\\*)(\$\{([^${}?]+)(\?)?\})/g;
  return text.replace(reference, (_, escapes: string, written: string, name: string, optional?: string) => {
    const value = escapes.length % 2 === 1 ? written : (env[name] ?? (optional ? "" : written));
    return escapes.slice(Math.ceil(escapes.length / 2)) + value;
  });
}

const maximumBytes = 1 << 20;

type Values = Map<string, string | string[]>;

function readFile(file: string | undefined, expandIn: (text: string, key?: string) => string): Values {
  const values: Values = new Map();
  const text = file === undefined ? undefined : attempt(() => readFileSync(file, "utf8"));
  if (text === undefined || text.length > maximumBytes) return values;
  for (const [key, value] of Object.entries(parse(text) as Record<string, unknown>)) {
    const name = expandIn(key);
    const expandValue = (written: unknown) => expandIn(String(written), name);
    if (Array.isArray(value)) values.set(name, value.map(expandValue));
    else if (typeof value !== "object" || value === null) values.set(name, expandValue(value));
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

const fileIn = (folder: string | undefined) => (folder === undefined ? undefined : join(folder, ".npmrc"));

/** The files of the user and of the machine, and the environment. A project may move only the prefix, and with it the global file. */
function readOwnSources(sources: Sources, project: Values) {
  const { env, home = findHome() } = sources;
  const expandIn = (text: string) => expand(text, env);
  const environment = readEnvironment(env);
  const user = readFile(pathOf(environment, "userconfig", home) ?? fileIn(home), expandIn);
  const prefix =
    pathOf(environment, "prefix", home) ?? pathOf(project, "prefix", home) ?? pathOf(user, "prefix", home);
  const globalFile =
    pathOf(environment, "globalconfig", home) ??
    pathOf(user, "globalconfig", home) ??
    join(prefix ?? defaultPrefix(sources), "etc", "npmrc");
  return { environment, files: new Map([...readFile(globalFile, expandIn), ...user]) };
}

/**
 * Reads npm's configuration like npm, without running it: environment, the project's .npmrc, the user's, the global one,
 * in this order. Files that cannot be read count as empty.
 */
export function readNpmConfiguration(sources: Sources): NpmConfiguration {
  const project = readFile(fileIn(sources.projectDirectory), (text) => expand(text, sources.env));
  const { environment, files } = readOwnSources(sources, project);
  return new Map([...files, ...project, ...environment]);
}

const isCredential = (key: string) => key.startsWith("//");

/** The part of a registry's address that the keys of its credentials start with, which ends with a slash. */
const credentialPrefix = (registry: string) => registry.replace(/^https?:(?=\/\/)/i, "").replace(/\/*$/, "/");
const prefixOfKey = (key: string) => credentialPrefix(key.replace(/:[^:]*$/, ""));

/** How registries are reached, with the user's credentials. */
const transportKeys = ["proxy", "https-proxy", "noproxy", "ca", "cafile", "strict-ssl"];

/**
 * Like `readNpmConfiguration`, for projects that are not trusted: the project's .npmrc has credentials only for registries
 * that the user's or the global file names, and its variables are expanded only in them. It says nothing of proxies and
 * certificates. `withheld` has its other credentials as they are in the file.
 */
export function readUntrustedNpmConfiguration(sources: Sources): {
  configuration: NpmConfiguration;
  withheld: ReadonlyMap<string, string>;
} {
  const { environment, files } = readOwnSources(sources, new Map());
  const named = [...files].flatMap(([key, value]) => {
    if (isCredential(key)) return prefixOfKey(key);
    return typeof value === "string" && /(?:^|:)registry$/.test(key) ? credentialPrefix(value) : [];
  });
  const isNamed = (key: string) => named.some((prefix) => key.startsWith(prefix));
  const expandIn = (text: string, key = "") =>
    isCredential(key) && isNamed(key) ? expand(text, sources.env) : text;
  const project = readFile(fileIn(sources.projectDirectory), expandIn);
  for (const key of transportKeys) project.delete(key);
  const withheld = new Map<string, string>();
  for (const [key, value] of project) {
    if (!isCredential(key) || isNamed(key)) continue;
    project.delete(key);
    withheld.set(key, String(value));
  }
  return { configuration: new Map([...files, ...project, ...environment]), withheld };
}

/** The lines of withheld credentials that npm would send to a registry. Values other than references are not shown. */
export function withheldLines(withheld: ReadonlyMap<string, string>, registry: string): string[] {
  const lines = [...withheld].filter(([key]) => credentialPrefix(registry).startsWith(prefixOfKey(key)));
  return lines.map(([key, value]) => `${key}=${/^\$\{[^${}]+\}$/.test(value) ? value : "…"}`);
}

/** The path value of a key, with a leading `~/` expanded. */
function pathOf(configuration: NpmConfiguration, key: string, home: string | undefined): string | undefined {
  const value = configuration.get(key);
  const text = typeof value === "string" && value !== "" ? value : undefined;
  return home === undefined ? text : text?.replace(/^~(?=[/\\])/, () => home);
}

function defaultPrefix({ env, platform = process.platform, execPath = process.execPath }: Sources): string {
  if (env.PREFIX) return env.PREFIX;
  if (platform !== "win32") return posix.dirname(posix.dirname(execPath));
  return env.APPDATA ? win32.join(env.APPDATA, "npm") : win32.dirname(execPath);
}

/** npm's folder of globally installed packages, determined like npm without running it. */
export function findGlobalPackages(sources: Sources): string {
  const { platform = process.platform, home = findHome() } = sources;
  const prefix = pathOf(readNpmConfiguration(sources), "prefix", home) ?? defaultPrefix(sources);
  return platform === "win32"
    ? win32.resolve(prefix, "node_modules")
    : posix.resolve(prefix, "lib/node_modules");
}
