import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ProjectManager } from "../../discovery/project-manager.ts";
import { quoteForShell } from "../../problems/text.ts";
import type { FoundProgram } from "../../processes/find-program.ts";
import { findProgramHere } from "../../processes/server-process.ts";

/** A program, and its arguments before all others. */
type ManagerProgram = Pick<FoundProgram, "command" | "args">;

/**
 * Finds a package manager as programs of servers are found, and npm also beside Node: graphical clients do not have the PATH of the
 * shell. Scripts run with this Node: PATH may have another `node`.
 */
export function findManagerProgram(
  name: ProjectManager["name"],
  env: NodeJS.ProcessEnv = process.env,
  node: string = process.execPath,
): ManagerProgram | undefined {
  const found = findProgramHere({ command: name, args: [], cwd: process.cwd(), env });
  const modules = process.platform === "win32" ? dirname(node) : join(dirname(node), "../lib");
  const beside = join(modules, "node_modules/npm/bin/npm-cli.js");
  // What needs Windows' shell is not a package manager.
  const isUsable = found?.verbatim === false;
  if (!isUsable && !(name === "npm" && existsSync(beside))) return undefined;
  const real = isUsable ? realpathSync(found.command) : beside;
  return /\.[cm]?js$/.test(real) ? { command: process.execPath, args: [real] } : found;
}

/** Variables of an npm script that may have started this process, and secrets of a gateway. */
const ofAnotherRun =
  /^npm_(?:package|lifecycle|command|node_execpath|execpath)|^TRAILBLAZE_(?:HTTP_TOKEN|STATE_KEY)$|^npm_config_(?:global|location|local_prefix|workspaces?|include_workspace_root|dry_run|package_lock_only|save\w*|omit|prefix)$/i;

export function createManagerEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !ofAnotherRun.test(name));
  return {
    ...Object.fromEntries(kept),
    npm_config_ignore_scripts: "true",
    // Transitive dependencies must not be git repositories, because fetching them may run code.
    npm_config_allow_git: "root",
    YARN_ENABLE_SCRIPTS: "false",
    npm_config_update_notifier: "false",
    // Otherwise, pnpm would ask for confirmation before it recreates node_modules.
    CI: "true",
    COREPACK_ENABLE_DOWNLOAD_PROMPT: "0",
  };
}

const maximumTail = 16_384;
/** The time between SIGTERM and SIGKILL. */
const killDelayMs = 5000;

/**
 * Runs a package manager. Never rejects. `exitCode` is `null` if it was terminated or could not be started, and `reason` says why;
 * `isLate`: it took too long; `tail`: the end of its output.
 */
export function runManager(
  program: ManagerProgram,
  run: { cwd: string; args: readonly string[]; timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<{ exitCode: number | null; reason: string | undefined; isLate: boolean; tail: string }> {
  const { cwd, args, timeoutMs, signal } = run;
  const timeout = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve) => {
    const child = spawn(program.command, [...program.args, ...args], {
      cwd,
      env: createManagerEnvironment(process.env),
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    let tail = "";
    let reason: string | undefined;
    let killTimer: NodeJS.Timeout | undefined;
    const collect = (chunk: string) => {
      tail = (tail + chunk).slice(-maximumTail);
    };
    child.stdout.setEncoding("utf8").on("data", collect);
    child.stderr.setEncoding("utf8").on("data", collect);
    const settle = (exitCode: number | null) => {
      clearTimeout(killTimer);
      const isLate = reason !== undefined && timeout.aborted;
      resolve({ exitCode: reason === undefined ? exitCode : null, reason, isLate, tail });
    };
    child.on("error", (error: NodeJS.ErrnoException) => {
      if (error.name === "AbortError") {
        reason ??= timeout.aborted ? `it took longer than ${timeoutMs / 1000} s` : "it was interrupted";
        killTimer = setTimeout(() => child.kill("SIGKILL"), killDelayMs);
        return;
      }
      reason ??= `it cannot be started (${error.code ?? "unknown error"})`;
      settle(null);
    });
    // Not `close`: remaining child processes could keep the streams open.
    child.on("exit", (exitCode, ending) => {
      if (exitCode === null) reason ??= `it was terminated by ${ending}`;
      setTimeout(() => settle(exitCode), 200).unref();
    });
    child.on("close", (exitCode) => settle(exitCode));
  });
}

export interface ManagerTask {
  kind: "add" | "remove" | "install";
  /** Specs or names. */
  packages: readonly string[];
  isWorkspaceRoot: boolean;
}

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

export function rebuildCommand({ name, isModernYarn }: ProjectManager, packages: readonly string[]): string {
  if (name === "yarn" && !isModernYarn) return "yarn install --force";
  return [name, "rebuild", ...packages.map(quoteForShell)].join(" ");
}
