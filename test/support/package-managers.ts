import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { inRepository } from "./repository.ts";
import { type ProcessResult, runProcess, runToSuccess } from "./run-process.ts";
import { writeTree } from "./tree.ts";

export type PackageManager = "npm" | "pnpm" | "yarn";
export const packageManagers: readonly PackageManager[] = ["npm", "pnpm", "yarn"];

const scripts: Record<PackageManager, string> = {
  npm: join(dirname(process.execPath), "../lib/node_modules/npm/bin/npm-cli.js"),
  pnpm: inRepository("node_modules/pnpm/bin/pnpm.cjs"),
  yarn: inRepository("node_modules/yarn/bin/yarn.js"),
};

/** Program and first arguments that start a package manager. */
function startOf(manager: PackageManager): [command: string, ...args: string[]] {
  if (existsSync(scripts[manager])) return [process.execPath, scripts[manager]];
  if (manager === "npm") return ["npm"];
  throw new Error(`${manager} is missing: run npm ci`);
}

export interface IsolatedOptions {
  readonly cwd: string;
  readonly registry: string;
  /** Takes the place of the user's home, caches and settings. */
  readonly home: string;
}

/** An environment in which nothing of the user's npm, pnpm or Yarn configuration takes part. */
export function isolatedEnvironment({ registry, home }: IsolatedOptions): NodeJS.ProcessEnv {
  mkdirSync(home, { recursive: true });
  const { host, pathname } = new URL(registry);
  writeTree(home, {
    // The registry lets everybody publish; npm itself wants a token all the same.
    ".npmrc": `registry=${registry}\n//${host}${pathname}:_authToken=anyone\n`,
    ".yarnrc": `registry "${registry}"\ndisable-self-update-check true\n`,
  });
  const { PATH, SystemRoot, TMPDIR, TEMP } = process.env;
  const inherited = Object.fromEntries(
    Object.entries({ PATH, SystemRoot, TMPDIR, TEMP }).filter(([, value]) => value !== undefined),
  );
  return {
    ...inherited,
    CI: "true",
    HOME: home,
    USERPROFILE: home,
    XDG_CACHE_HOME: join(home, "cache"),
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_DATA_HOME: join(home, "data"),
    XDG_STATE_HOME: join(home, "state"),
    YARN_CACHE_FOLDER: join(home, "yarn-cache"),
    npm_config_registry: registry,
    npm_config_userconfig: join(home, ".npmrc"),
    npm_config_globalconfig: join(home, "global-npmrc"),
    npm_config_cache: join(home, "npm-cache"),
    npm_config_store_dir: join(home, "pnpm-store"),
    npm_config_ignore_scripts: "true",
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
    npm_config_loglevel: "warn",
  };
}

const timeoutMs = 120_000;

/** Runs a package manager that must succeed, with settings of its own. Returns its stdout. */
export function runPackageManager(
  manager: PackageManager,
  args: readonly string[],
  options: IsolatedOptions,
): Promise<string> {
  const [command, ...first] = startOf(manager);
  const env = isolatedEnvironment(options);
  return runToSuccess(command, [...first, ...args], { cwd: options.cwd, env, timeoutMs });
}

/** Starts a package manager in a process group of its own, with lifecycle scripts; the caller ends the group. */
export function startPackageManager(
  manager: PackageManager,
  args: readonly string[],
  options: IsolatedOptions,
): ChildProcess {
  const [command, ...first] = startOf(manager);
  const env = { ...isolatedEnvironment(options), npm_config_ignore_scripts: "false" };
  return spawn(command, [...first, ...args], { cwd: options.cwd, env, stdio: "ignore", detached: true });
}

/** Runs npm with the user's own settings. */
export function runUsersNpm(args: readonly string[], cwd: string): Promise<ProcessResult> {
  const [command, ...first] = startOf("npm");
  return runProcess(command, [...first, ...args], { cwd, env: process.env, timeoutMs });
}
