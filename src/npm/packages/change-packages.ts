import { join } from "node:path";
import { lockfileNames, type ProjectManager } from "../../discovery/project-manager.ts";
import { failure, TrailblazeError } from "../../problems/index.ts";
import { reservedCommands } from "../../qualified-names/reserved-commands.ts";
import type { ManagerEnd, ManagerProgram, PackageManagerPort } from "../package-manager.ts";
import type { SavedEntries, SavedFiles } from "../project-files.ts";
import type { InstalledClaim } from "./find-claims.ts";
import { type ManagerTask, managerArguments } from "./manager-arguments.ts";

export interface ChangeMeans {
  managers: PackageManagerPort;
  saveFiles(paths: readonly string[]): SavedFiles;
  /** Remembers links as links. */
  saveEntries(paths: readonly string[]): SavedEntries;
  /** Keeps other processes from changing the project; `undefined` where one does so for too long. */
  lock(project: string): Promise<(() => void) | undefined>;
  /** Takes the user's credentials out of a text. */
  redact(text: string): string;
  /** For one run of the package manager. */
  timeoutMs: number;
  signal: AbortSignal | undefined;
  /** Is told of each command before it runs. */
  onCommand: ((command: string) => void) | undefined;
}

/** A project whose packages can be changed. */
export interface ChangeableProject {
  directory: string;
  /** Root of its workspace, if it has one; may be the project itself. */
  workspaceRoot: string | undefined;
  manager: ProjectManager;
  program: ManagerProgram;
}

/** What is wrong with what was installed: why, or a package that takes a command. */
export type ChangeFault = string | InstalledClaim;

/** What npm takes away with a package that had taken it, and does not lay anew for the package that it belongs to. */
const linkedCommands = reservedCommands.flatMap((name) => [name, `${name}.cmd`, `${name}.ps1`]);

/** Files beside package.json that package managers write to while they add or remove. */
const writtenFiles = ["package.json", ...lockfileNames, "pnpm-workspace.yaml", ".yarnrc.yml"];

const codeOfFailure = /\b(?:npm (?:error|ERR!) code (\w+)|(ERR_PNPM_\w+))/;

function describeEnd(manager: string, { exitCode, fault, tail }: ManagerEnd): string {
  if (exitCode === null) return `${manager} did not come to its end: ${fault}`;
  const [, ofNpm, ofPnpm] = codeOfFailure.exec(tail) ?? [];
  const code = ofNpm ?? ofPnpm;
  return `${manager} ended with exit code ${exitCode}${code === undefined ? "" : ` (${code})`}`;
}

/** The last lines of what a package manager wrote that say something. */
function lastWords(tail: string, redact: ChangeMeans["redact"]): string | undefined {
  const noise = /^\s*$|A complete log of this run|\bat .*:\d+:\d+\)?$|^info Visit/;
  const lines = tail.split(/\r?\n/).filter((line) => !noise.test(line));
  const text = redact(lines.slice(-8).join(" ").slice(-600)).trim();
  return text === "" ? undefined : text;
}

class Change {
  readonly #means: ChangeMeans;
  readonly #project: ChangeableProject;

  constructor(means: ChangeMeans, project: ChangeableProject) {
    this.#means = means;
    this.#project = project;
  }

  #run(kind: ManagerTask["kind"], packages: readonly string[], signal: AbortSignal | undefined) {
    const { directory, workspaceRoot, manager, program } = this.#project;
    const { managers, timeoutMs, onCommand } = this.#means;
    const isWorkspaceRoot = workspaceRoot === directory;
    const args = managerArguments(manager, { kind, packages, isWorkspaceRoot });
    onCommand?.([manager.name, ...args].join(" "));
    return managers.run(program, { cwd: directory, args, timeoutMs, signal });
  }

  /** Brings everything back, as far as it can be. True where it could. */
  async #undo(saved: SavedFiles, commands: SavedEntries): Promise<boolean> {
    const { directory, workspaceRoot = directory } = this.#project;
    try {
      // On a full disk the manager could only fail again, and damage what has just been saved from it.
      if (!saved.restore()) return false;
      this.#means.managers.forgetInstall(workspaceRoot);
      const end = await this.#run("install", [], undefined);
      commands.restore();
      return end.exitCode === 0;
    } catch {
      return false;
    } finally {
      // An install writes to the lockfile as well, if only to bring it up to date.
      saved.restore();
    }
  }

  async make(
    kind: "add" | "remove",
    packages: readonly string[],
    findFault: () => Promise<ChangeFault | undefined>,
  ): Promise<void> {
    const { directory, workspaceRoot = directory } = this.#project;
    const { saveFiles, saveEntries, redact, signal } = this.#means;
    const folders = [directory, workspaceRoot];
    const pathsOf = (files: readonly string[]) =>
      folders.flatMap((folder) => files.map((file) => join(folder, file)));
    const what = `${kind} ${packages.join(", ")}`;
    let saved: SavedFiles;
    try {
      saved = saveFiles(pathsOf(writtenFiles));
    } catch (cause) {
      const code = (cause as NodeJS.ErrnoException).code;
      const reason = `package.json or a lockfile cannot be saved beforehand (${code})`;
      throw failure("InstallFailed", { what, reason }, {}, { cause });
    }
    const commands = saveEntries(pathsOf(linkedCommands.map((name) => join("node_modules/.bin", name))));
    const end = await this.#run(kind, packages, signal);
    const { fault, cause } = await this.#assess(end, findFault);
    if (fault === undefined) {
      saved.discard();
      return;
    }
    const hint = end.exitCode === 0 ? undefined : lastWords(end.tail, redact);
    let restored: boolean;
    try {
      restored = await this.#undo(saved, commands);
    } catch {
      const reason = typeof fault === "string" ? fault : `${fault.package} has a command "${fault.command}"`;
      throw failure("InstallFailed", { what, reason, copies: saved.copies }, {}, { cause });
    }
    saved.discard();
    if (typeof fault === "object") throw failure("ReservedCommand", { ...fault, what, restored });
    const args = { what, reason: fault, restored, ...(hint === undefined || !restored ? {} : { hint }) };
    throw failure("InstallFailed", args, {}, { cause });
  }

  /** What is wrong after the package manager ended, if anything is. */
  async #assess(
    end: ManagerEnd,
    findFault: () => Promise<ChangeFault | undefined>,
  ): Promise<{ fault: ChangeFault | undefined; cause?: unknown }> {
    const { manager } = this.#project;
    if (end.exitCode !== 0) return { fault: describeEnd(manager.name, end) };
    try {
      const fault = await findFault();
      return { fault: fault ?? (this.#means.signal?.aborted ? "it was interrupted" : undefined) };
    } catch (cause) {
      const isKnown = cause instanceof TrailblazeError;
      return {
        fault: isKnown ? cause.message.replace(/\.$/, "") : "what was installed cannot be read",
        cause,
      };
    }
  }
}

/**
 * Has the project's package manager add or remove packages, lifecycle scripts off. `findFault` looks at the result. After
 * any failure package.json and lockfiles are as they were, byte for byte, and the manager's install has been run again.
 * Throws `TrailblazeError`: `InstallFailed`, `ReservedCommand`.
 */
export async function changePackages(
  means: ChangeMeans,
  project: ChangeableProject,
  kind: "add" | "remove",
  packages: readonly string[],
  findFault: () => Promise<ChangeFault | undefined>,
): Promise<void> {
  const release = await means.lock(project.workspaceRoot ?? project.directory);
  if (release === undefined) {
    const reason = "another process is changing the packages of this project";
    throw failure("InstallFailed", { what: `${kind} ${packages.join(", ")}`, reason });
  }
  try {
    await new Change(means, project).make(kind, packages, findFault);
  } finally {
    release();
  }
}
