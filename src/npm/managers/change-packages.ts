import { join } from "node:path";
import { lockfileNames, type ProjectManager } from "../../discovery/project-manager.ts";
import { readNpmConfiguration } from "../../files/npm-configuration.ts";
import { findStateDirectory } from "../../files/user-folders.ts";
import { failure, TrailblazeError } from "../../problems/index.ts";
import { quoteForShell } from "../../problems/text.ts";
import { reservedCommands } from "../../qualified-names/reserved-commands.ts";
import { ChangeJournal, readJournal, removeLeftovers } from "./change-journal.ts";
import type { InstalledClaim } from "./find-claims.ts";
import {
  forgetInstall,
  type ManagerEnd,
  type ManagerProgram,
  type ManagerTask,
  managerArguments,
  runManager,
} from "./package-manager.ts";
import { type SavedEntries, type SavedFiles, saveEntries, saveFiles } from "./project-files.ts";
import { lockProject } from "./project-lock.ts";

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
  /** Called once if another process is changing the project, with a description: "process 123, which …". */
  onWait?: (what: string) => void;
}

/** A project whose packages can be changed. */
export interface ChangeableProject {
  directory: string;
  /** Root of its workspace, if it has one; may be the project itself. */
  workspaceRoot: string | undefined;
  manager: ProjectManager;
  program: ManagerProgram;
}

/** The reason why a change is undone, or a package that overrides a reserved command. */
export type UndoReason = string | InstalledClaim;

/** Notes that a file of the project is about to become this text, or deleted, so that a kill in between can be undone. */
export type NoteEdit = (path: string, text: string | undefined) => void;

type Verify = (noteEdit: NoteEdit) => Promise<UndoReason | undefined>;

/** A change, with npm names and what the package manager takes: names or specs. */
interface PackageChange {
  kind: "add" | "remove";
  names: readonly string[];
  packages: readonly string[];
}

/** Files of reserved commands. When npm removes a package that overrides them, it deletes them and does not restore them. */
const linkedCommands = reservedCommands.flatMap((name) => [name, `${name}.cmd`, `${name}.ps1`]);

/** Files that package managers change when they add or remove packages. */
const writtenFiles = ["package.json", ...lockfileNames, "pnpm-workspace.yaml", ".yarnrc.yml"];

const codeOfFailure = /\b(?:npm (?:error|ERR!) code (\w+)|(ERR_PNPM_\w+))/;

function describeEnd(manager: string, { exitCode, reason, tail }: ManagerEnd): string {
  if (exitCode === null) return `${manager} did not finish: ${reason}`;
  const [, ofNpm, ofPnpm] = codeOfFailure.exec(tail) ?? [];
  const code = ofNpm ?? ofPnpm;
  return `${manager} exited with code ${exitCode}${code === undefined ? "" : ` (${code})`}`;
}

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

const mostLines = 20;

/** The last relevant lines of a package manager's output, redacted. */
function lastLines(tail: string, project: ChangeableProject): string[] {
  const noise = /^\s*$|A complete log of this run|\bat .*:\d+:\d+\)?$|^info Visit/;
  const lines = redact(tail, project).split(/\r?\n/);
  return lines.filter((line) => !noise.test(line)).slice(-mostLines);
}

class Change {
  readonly #project: ChangeableProject;
  readonly #options: ChangeOptions;
  #journal: ChangeJournal | undefined;

  constructor(project: ChangeableProject, options: ChangeOptions) {
    this.#project = project;
    this.#options = options;
  }

  #run(kind: ManagerTask["kind"], packages: readonly string[], signal: AbortSignal | undefined) {
    const { directory, workspaceRoot, manager, program } = this.#project;
    const { timeoutMs = 600_000, onCommand } = this.#options;
    const isWorkspaceRoot = workspaceRoot === directory;
    const args = managerArguments(manager, { kind, packages, isWorkspaceRoot });
    onCommand?.([manager.name, ...args].map(quoteForShell).join(" "));
    const onStart = (pid: number) => this.#journal?.noteManager(pid);
    return runManager(program, { cwd: directory, args, timeoutMs, signal, onStart });
  }

  /** Undoes all changes. Returns false if some could not be undone. */
  async #undo(saved: SavedFiles, commands: SavedEntries): Promise<boolean> {
    const { directory, workspaceRoot = directory } = this.#project;
    try {
      // On a full disk, the package manager would fail again and could damage restored files.
      if (!saved.restore()) return false;
      forgetInstall(workspaceRoot);
      const end = await this.#run("install", [], undefined);
      commands.restore();
      return end.exitCode === 0;
    } catch {
      return false;
    } finally {
      // An install may update the lockfile.
      saved.restore();
    }
  }

  async make({ kind, names, packages }: PackageChange, verify: Verify): Promise<void> {
    const { directory, workspaceRoot = directory } = this.#project;
    const { signal } = this.#options;
    const folders = [directory, workspaceRoot];
    const pathsOf = (files: readonly string[]) =>
      folders.flatMap((folder) => files.map((file) => join(folder, file)));
    const what = `${kind} ${packages.join(", ")}`;
    const interrupted = readJournal(directory)?.journal;
    if (interrupted !== undefined) removeLeftovers(interrupted);
    let saved: SavedFiles;
    try {
      saved = saveFiles(pathsOf(writtenFiles));
    } catch (cause) {
      const code = (cause as NodeJS.ErrnoException).code;
      const reason = `package.json or a lockfile cannot be backed up (${code})`;
      throw failure("InstallFailed", { what, reason }, {}, { cause });
    }
    const commands = saveEntries(pathsOf(linkedCommands.map((name) => join("node_modules/.bin", name))));
    const journal = new ChangeJournal(this.#project, { command: kind, packs: names });
    this.#journal = journal;
    const end = await this.#run(kind, packages, signal);
    const { undoReason, cause } = await this.#assess(end, () => {
      journal.noteResult();
      return verify((path, text) => journal.noteEdit(path, text));
    });
    if (undoReason === undefined) {
      saved.discard();
      journal.end({ isUndone: false });
      return;
    }
    const output = end.exitCode === 0 ? [] : lastLines(end.tail, this.#project);
    let restored: boolean;
    try {
      restored = await this.#undo(saved, commands);
    } catch {
      const reason =
        typeof undoReason === "string"
          ? undoReason
          : `${undoReason.package} provides a command "${undoReason.command}"`;
      throw failure("InstallFailed", { what, reason, copies: saved.copies, output }, {}, { cause });
    }
    saved.discard();
    journal.end({ isUndone: true });
    if (typeof undoReason === "object") throw failure("ReservedCommand", { ...undoReason, what, restored });
    const args = { what, reason: undoReason, restored, ...(output.length > 0 && { output }) };
    throw failure("InstallFailed", args, {}, { cause });
  }

  /** The reason to undo a finished change, if there is one. */
  async #assess(
    end: ManagerEnd,
    verify: () => Promise<UndoReason | undefined>,
  ): Promise<{ undoReason: UndoReason | undefined; cause?: unknown }> {
    const { manager } = this.#project;
    if (end.exitCode !== 0) return { undoReason: describeEnd(manager.name, end) };
    try {
      const undoReason = await verify();
      return { undoReason: undoReason ?? (this.#options.signal?.aborted ? "it was interrupted" : undefined) };
    } catch (cause) {
      const isKnown = cause instanceof TrailblazeError;
      return {
        undoReason: isKnown ? cause.message.replace(/\.$/, "") : "the installed packages cannot be read",
        cause,
      };
    }
  }
}

/** Locks the project against changes by other processes. Throws `InstallFailed` if waiting takes too long. */
export async function lockProjectOf(
  { directory, workspaceRoot = directory }: Pick<ChangeableProject, "directory" | "workspaceRoot">,
  what: string,
  { lockMs = 300_000, signal, onWait }: ChangeOptions,
): Promise<() => void> {
  const state = findStateDirectory();
  if (state === undefined) return () => {};
  let release: (() => void) | undefined;
  try {
    const locks = join(state, "trailblaze", "locks");
    release = await lockProject(locks, workspaceRoot, { waitMs: lockMs, signal, onWait });
  } catch {
    // Without a writable home, there is no place for locks.
    return () => {};
  }
  if (release !== undefined) return release;
  const reason = "another process is changing the packages of this project";
  throw failure("InstallFailed", { what, reason });
}

/**
 * Adds or removes packages with the project's package manager, with lifecycle scripts disabled. `verify` checks the
 * result. After a failure, restores package.json and lockfiles byte for byte and runs the package manager's install again.
 * Throws `TrailblazeError`: `InstallFailed`, `ReservedCommand`.
 */
export async function changePackages(
  project: ChangeableProject,
  change: PackageChange,
  options: ChangeOptions,
  verify: Verify,
): Promise<void> {
  const release = await lockProjectOf(project, `${change.kind} ${change.packages.join(", ")}`, options);
  try {
    await new Change(project, options).make(change, verify);
  } finally {
    release();
  }
}
