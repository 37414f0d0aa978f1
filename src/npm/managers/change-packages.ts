import { realpathSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describeFault } from "../../discovery/describe-fault.ts";
import { findProject, type Project } from "../../discovery/project.ts";
import {
  findProjectManager,
  isDriven,
  lockfileNames,
  type ProjectManager,
} from "../../discovery/project-manager.ts";
import { findWorkspace } from "../../discovery/workspace.ts";
import type { DiscoveryPort } from "../../files/discovery-port.ts";
import { LockHeldError, lockFile } from "../../files/file-lock.ts";
import { readNpmConfiguration } from "../../files/npm-configuration.ts";
import { explainFileError, readBytes, replaceFile } from "../../files/write-files.ts";
import { failure, quote, TrailblazeError } from "../../problems/index.ts";
import { quoteForShell } from "../../problems/text.ts";
import type { InstalledClaim } from "./installed-packages.ts";
import {
  findManagerProgram,
  forgetInstall,
  type ManagerEnd,
  type ManagerProgram,
  type ManagerTask,
  managerArguments,
  runManager,
} from "./package-manager.ts";

export interface ChangeOptions {
  /** Folder of the project; default: the working folder of the process. */
  cwd?: string;
  /** The timeout of one run of the package manager in milliseconds; default: ten minutes. */
  timeoutMs?: number;
  /** The timeout of waiting for another process that changes the project, in milliseconds; default: five minutes. */
  lockMs?: number;
  /** Stops the package manager and restores everything. */
  signal?: AbortSignal;
  /** Receives each command of the package manager before it runs. */
  onCommand?: (command: string) => void;
}

/** A project whose packages can be changed. */
export interface ChangeableProject {
  directory: string;
  /** Root of its workspace, if it has one; may be the project itself. */
  workspaceRoot: string | undefined;
  manager: ProjectManager;
  program: ManagerProgram;
}

export interface OpenedProject extends ChangeableProject {
  manifest: NonNullable<Project["manifest"]>;
}

/**
 * Finds the project of a folder and its package manager. Throws `TrailblazeError`: `ProjectNotFound`,
 * `MalformedPackageJson`, `PackageJsonTooLarge`, and `InstallFailed` if the package manager is unsupported or missing.
 */
export async function openProject(port: DiscoveryPort, cwd: string, what: string): Promise<OpenedProject> {
  const project = findProject(port, cwd);
  const { directory, manifest, fault } = project;
  if (manifest === undefined) {
    if (fault === undefined) throw failure("ProjectNotFound", { directory, exists: true });
    throw new TrailblazeError(describeFault(fault, undefined, { context: "operation", isSource: true }));
  }
  const workspace = await findWorkspace(port, project);
  const { name, isModernYarn } = findProjectManager(port, workspace);
  if (!isDriven(name)) {
    const reason = `the project uses ${name}, which Trailblaze does not support`;
    throw failure("InstallFailed", {
      what,
      reason,
      hint: "Run it directly, with lifecycle scripts disabled.",
    });
  }
  const program = findManagerProgram(name);
  if (program === undefined) {
    const reason = `the project uses ${name}, which is not installed`;
    throw failure("InstallFailed", {
      what,
      reason,
      hint: `Install it: npm install --global ${name}`,
    });
  }
  const workspaceRoot = workspace.isDeclared ? workspace.root : undefined;
  return { directory, workspaceRoot, manifest, manager: { name, isModernYarn }, program };
}

/** The reason why a change is undone, or a package that overrides a reserved command. */
export type UndoReason = string | InstalledClaim;

/** What follows a change. `complete` is last, and undoes the change if it rejects. */
interface Checks {
  verify: () => Promise<UndoReason | undefined>;
  complete?: (() => Promise<void>) | undefined;
}

/** A change, with what the package manager takes: names or specs. */
interface PackageChange {
  kind: "add" | "remove";
  packages: readonly string[];
}

/** Files that package managers change when they add or remove packages. */
const writtenFiles = ["package.json", ...lockfileNames, ".yarnrc.yml"];

/** Keeps a file in memory. Returns a function that gives it back its bytes and its mode, or deletes it if it did not exist. */
function saveFile(path: string): () => void {
  const bytes = readBytes(path);
  if (bytes === undefined) return () => rmSync(path, { force: true });
  const [real, mode] = [realpathSync(path), statSync(path).mode & 0o777];
  return () => {
    if (!readBytes(real)?.equals(bytes)) replaceFile(real, bytes, mode);
  };
}

const describeEnd = (manager: string, { exitCode, reason }: ManagerEnd) =>
  exitCode === null ? `${manager} did not finish: ${reason}` : `${manager} exited with code ${exitCode}`;

const credentialKey = /(?:^|:)(?:_authToken|_auth|_password|password|key|otp)$/;

/** Replaces secrets of npm's configuration, and credentials in addresses. */
function redact(text: string, { directory, workspaceRoot = directory }: ChangeableProject): string {
  const secrets = [directory, workspaceRoot].flatMap((projectDirectory) =>
    [...readNpmConfiguration({ projectDirectory, env: process.env })].flatMap(([key, value]) =>
      credentialKey.test(key) && typeof value === "string" && value.length > 3 ? [value] : [],
    ),
  );
  const withoutAddresses = text.replace(/(\w:\/\/)[^\s/@]+@/g, "$1***@");
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, "***"), withoutAddresses);
}

/** The last lines of a package manager's output, redacted. */
const lastLines = (tail: string, project: ChangeableProject): string[] =>
  redact(tail, project)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "")
    .slice(-20);

/** Locks a project against changes by other processes. Throws `InstallFailed` if waiting takes too long. */
async function lockProject(
  { directory, workspaceRoot = directory }: ChangeableProject,
  what: string,
  { lockMs = 300_000, signal }: ChangeOptions,
): Promise<() => void> {
  const file = join(workspaceRoot, "package.json");
  try {
    return await lockFile(file, { waitMs: lockMs, signal });
  } catch (error) {
    // Where it cannot be locked, it cannot be changed either, and the package manager says why.
    if (!(error instanceof LockHeldError)) return () => {};
    const reason = "another process is changing the packages of this project";
    throw failure("InstallFailed", {
      what,
      reason,
      hint: `If there is none, delete ${quote(`${file}.lock`, 400)}.`,
    });
  }
}

/**
 * The reason to undo a change that a package manager finished without an error; `undefined` if there is none, and then the change
 * is complete.
 */
async function findReason(
  { verify, complete }: Checks,
  signal: AbortSignal | undefined,
): Promise<{ reason?: UndoReason | undefined; cause?: unknown }> {
  try {
    const reason = (await verify()) ?? (signal?.aborted ? "it was interrupted" : undefined);
    if (reason === undefined) await complete?.();
    return { reason };
  } catch (cause) {
    const isKnown = cause instanceof TrailblazeError;
    return {
      reason: isKnown ? cause.message.replace(/\.$/, "") : "the installed packages cannot be read",
      cause,
    };
  }
}

/**
 * Adds or removes packages with the project's package manager, with lifecycle scripts disabled. `checks.verify` checks the
 * result. After a failure, restores package.json and lockfiles byte for byte and runs the package manager's install again.
 * Throws `TrailblazeError`: `InstallFailed`, `ReservedCommand`.
 */
export async function changePackages(
  project: ChangeableProject,
  { kind, packages }: PackageChange,
  options: ChangeOptions,
  checks: Checks,
): Promise<void> {
  const { directory, workspaceRoot = directory, manager, program } = project;
  const { timeoutMs = 600_000, signal, onCommand } = options;
  const what = `${kind} ${packages.join(", ")}`;
  const isWorkspaceRoot = project.workspaceRoot === directory;
  const run = (task: Omit<ManagerTask, "isWorkspaceRoot">, ending?: AbortSignal) => {
    const args = managerArguments(manager, { ...task, isWorkspaceRoot });
    onCommand?.([manager.name, ...args].map(quoteForShell).join(" "));
    return runManager(program, { cwd: directory, args, timeoutMs, signal: ending });
  };
  const save = () => {
    try {
      const folders = [...new Set([directory, workspaceRoot])];
      return folders.flatMap((folder) => writtenFiles.map((file) => saveFile(join(folder, file))));
    } catch (cause) {
      const reason = `package.json or a lockfile cannot be read (${explainFileError(cause)})`;
      throw failure("InstallFailed", { what, reason }, {}, { cause });
    }
  };

  const release = await lockProject(project, what, options);
  try {
    const saved = save();
    const end = await run({ kind, packages }, signal);
    const isDone = end.exitCode === 0;
    const { reason, cause } = isDone
      ? await findReason(checks, signal)
      : { reason: describeEnd(manager.name, end), cause: undefined };
    if (reason === undefined) return;
    const output = isDone ? undefined : lastLines(end.tail, project);
    let restored: boolean | "nothing" = "nothing";
    try {
      for (const restore of saved) restore();
      forgetInstall(workspaceRoot);
      const { exitCode } = await run({ kind: "install", packages: [] });
      // An install may update the lockfile.
      for (const restore of saved) restore();
      restored = exitCode === 0;
    } catch {
      // A file cannot be written.
    }
    if (typeof reason === "object") throw failure("ReservedCommand", { ...reason, what, restored });
    throw failure("InstallFailed", { what, reason, restored, output }, {}, { cause });
  } finally {
    release();
  }
}
