import { spawn } from "node:child_process";
import { existsSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { ProjectManager } from "../../discovery/project-manager.ts";
import { readLinkedCommands } from "./linked-commands.ts";

export type ManagerName = "npm" | "pnpm" | "yarn";

/** How a package manager is started. */
export interface ManagerProgram {
  command: string;
  /** Come first. */
  args: readonly string[];
}

export interface ManagerRun {
  cwd: string;
  args: readonly string[];
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** How a run ended, and the end of what it wrote. */
export interface ManagerEnd {
  /** `null` where it was ended. */
  exitCode: number | null;
  /** Why it was ended, or could not be started. */
  fault: string | undefined;
  tail: string;
}

/** Where a package manager's own program lies beside the command that starts it, on systems without links. */
const programs: Readonly<Record<ManagerName, readonly string[]>> = {
  npm: ["node_modules/npm/bin/npm-cli.js"],
  pnpm: ["node_modules/pnpm/bin/pnpm.cjs", "node_modules/pnpm/bin/pnpm.mjs"],
  yarn: ["node_modules/yarn/bin/yarn.js"],
};

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** A program in JavaScript runs in this Node: commands that are scripts of a shell would need one, which is unsafe. */
function throughNode(script: string): ManagerProgram {
  return { command: process.execPath, args: [script] };
}

function findIn(folder: string, name: ManagerName, platform: NodeJS.Platform): ManagerProgram | undefined {
  if (platform === "win32") {
    if (isFile(join(folder, `${name}.exe`))) return { command: join(folder, `${name}.exe`), args: [] };
    if (!isFile(join(folder, `${name}.cmd`))) return undefined;
    const script = programs[name].map((path) => join(folder, path)).find(isFile);
    return script === undefined ? undefined : throughNode(script);
  }
  const path = join(folder, name);
  if (!isFile(path)) return undefined;
  const real = realpathSync(path);
  return /\.[cm]?js$/.test(real) ? throughNode(real) : { command: path, args: [] };
}

/** A folder of commands that packages of a project bring, as npx puts it on the PATH. */
const isBinFolder = (folder: string) => /[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder);

/** Whether a command there is the package manager's own, and not one that another package calls so. */
function isGenuine(folder: string, name: ManagerName): boolean {
  const files = readLinkedCommands(folder).filter(({ command }) => command === name || command === "node");
  return files.every(({ isOwned }) => isOwned);
}

/**
 * Finds a package manager on the PATH, and npm also where it comes with Node. Other folders of the project are not looked
 * into.
 */
export function findManagerProgram(
  name: ManagerName,
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
  execPath: string = process.execPath,
): ManagerProgram | undefined {
  for (const folder of (env.PATH ?? env.Path ?? "").split(delimiter)) {
    const found = folder === "" ? undefined : findIn(folder, name, platform);
    if (found !== undefined && (!isBinFolder(folder) || isGenuine(folder, name))) return found;
  }
  if (name !== "npm") return undefined;
  const beside = dirname(execPath);
  const modules = platform === "win32" ? beside : join(beside, "..", "lib");
  const script = join(modules, "node_modules/npm/bin/npm-cli.js");
  return existsSync(script) ? throughNode(script) : undefined;
}

/** The version of a package manager that runs in Node, by the package.json of its package; `undefined` for another one. */
export function readManagerVersion({ args: [script = ""] }: ManagerProgram): string | undefined {
  try {
    const { version } = JSON.parse(readFileSync(join(dirname(script), "../package.json"), "utf8"));
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}

/** What a script of npm that started us was told, which is not meant for another project. */
const ofAnotherRun =
  /^npm_(?:package|lifecycle|command|node_execpath|execpath)|^npm_config_(?:global|location|local_prefix|workspaces?|include_workspace_root|dry_run|package_lock_only|save\w*|omit|prefix)$/i;

/** The environment of a package manager: the user's own, with lifecycle scripts off whatever the project says. */
export function createManagerEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !ofAnotherRun.test(name));
  return {
    ...Object.fromEntries(kept),
    npm_config_ignore_scripts: "true",
    // What comes along from deep below must not be a git repository, whose fetching may run code.
    npm_config_allow_git: "root",
    YARN_ENABLE_SCRIPTS: "false",
    npm_config_update_notifier: "false",
    // Without a terminal, pnpm would ask before it makes node_modules anew, and find nobody.
    CI: "true",
    COREPACK_ENABLE_DOWNLOAD_PROMPT: "0",
  };
}

const maximumTail = 16_384;
/** From being told to end to being ended. */
const patienceMs = 5000;

/** Runs a package manager. Never rejects. */
export function runManager(
  program: ManagerProgram,
  { cwd, args, timeoutMs, signal }: ManagerRun,
): Promise<ManagerEnd> {
  return new Promise((resolve) => {
    const child = spawn(program.command, [...program.args, ...args], {
      cwd,
      env: createManagerEnvironment(process.env),
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
    });
    let tail = "";
    let fault: string | undefined;
    let impatience: NodeJS.Timeout | undefined;
    const collect = (chunk: string) => {
      tail = (tail + chunk).slice(-maximumTail);
    };
    child.stdout.setEncoding("utf8").on("data", collect);
    child.stderr.setEncoding("utf8").on("data", collect);
    const end = (reason: string) => {
      if (fault !== undefined) return;
      fault = reason;
      child.kill("SIGTERM");
      impatience = setTimeout(() => child.kill("SIGKILL"), patienceMs);
    };
    const timer = setTimeout(() => end(`it took longer than ${timeoutMs / 1000} s`), timeoutMs);
    const onAbort = () => end("it was interrupted");
    signal?.addEventListener("abort", onAbort);
    if (signal?.aborted) onAbort();
    let isSettled = false;
    const settle = (exitCode: number | null) => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      clearTimeout(impatience);
      signal?.removeEventListener("abort", onAbort);
      resolve({ exitCode: fault === undefined ? exitCode : null, fault, tail });
    };
    child.on("error", (error: NodeJS.ErrnoException) => {
      fault ??= `it cannot be started (${error.code ?? "unknown error"})`;
      settle(null);
    });
    // Not `close`: what it left running could hold its streams open for ever.
    child.on("exit", (exitCode, ending) => {
      if (exitCode === null) fault ??= `it was terminated by ${ending}`;
      setTimeout(() => settle(exitCode), 200).unref();
    });
    child.on("close", (exitCode) => settle(exitCode));
  });
}

/** Has the next install of Yarn 1 look at what is there: with nothing to install, it would leave everything. */
export function forgetInstall(folder: string): void {
  rmSync(join(folder, "node_modules/.yarn-integrity"), { force: true });
}

export interface ManagerTask {
  kind: "add" | "remove" | "install";
  /** Specs or names. */
  packages: readonly string[];
  /** Whether the project is the root of a workspace, where some ask for an option. */
  isWorkspaceRoot: boolean;
}

/** The arguments that make a package manager do a task, lifecycle scripts off. Pure. */
export function managerArguments(
  { name, isModernYarn }: ProjectManager,
  { kind, packages, isWorkspaceRoot }: ManagerTask,
): string[] {
  switch (name) {
    case "npm": {
      const verb = { add: "install", remove: "uninstall", install: "install" }[kind];
      return [verb, "--ignore-scripts", "--save", "--no-audit", "--no-fund", "--no-progress", ...packages];
    }
    case "pnpm": {
      const root = isWorkspaceRoot && kind !== "install" ? ["--workspace-root"] : [];
      const frozen = kind === "install" ? ["--no-frozen-lockfile"] : [];
      return [
        kind,
        "--config.ignore-scripts=true",
        "--reporter=append-only",
        ...root,
        ...frozen,
        ...packages,
      ];
    }
    case "yarn": {
      if (isModernYarn) return [kind, ...(kind === "remove" ? [] : ["--mode=skip-build"]), ...packages];
      const root = isWorkspaceRoot && kind !== "install" ? ["--ignore-workspace-root-check"] : [];
      const pure = kind === "install" ? ["--pure-lockfile"] : [];
      return [kind, "--ignore-scripts", "--non-interactive", "--no-progress", ...root, ...pure, ...packages];
    }
  }
}
