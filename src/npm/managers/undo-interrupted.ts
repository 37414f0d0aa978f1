import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findProject } from "../../discovery/project.ts";
import { createNodeDiscoveryPort } from "../../files/node-discovery-port.ts";
import { isSameProcessRunning } from "../../files/process-identity.ts";
import { failure, TrailblazeError } from "../../problems/index.ts";
import {
  endJournal,
  findModified,
  type Journal,
  type JournaledChange,
  noteInstall,
  readJournal,
  removeLeftovers,
  restoreFromJournal,
} from "./change-journal.ts";
import { type ChangeOptions, lockProjectOf } from "./change-packages.ts";
import { openProject } from "./open-project.ts";
import { forgetInstall, managerArguments, runManager } from "./package-manager.ts";

/** What was undone. */
export interface UndoneChanges {
  /** The project's folder. */
  directory: string;
  /** Empty if no change was interrupted. */
  changes: readonly JournaledChange[];
  /** Absolute paths of the restored files that differed. */
  files: readonly string[];
  /** Whether the package manager has installed again what package.json declares. */
  isInstalled: boolean;
}

const pollMs = 100;

async function waitForManager(
  { manager }: Journal,
  what: string,
  { lockMs = 300_000, signal, onWait }: ChangeOptions,
): Promise<void> {
  if (manager === undefined || !isSameProcessRunning(manager)) return;
  const who = `process ${manager.pid}`;
  onWait?.(`${who}, the package manager of the interrupted change`);
  const startedAt = performance.now();
  while (isSameProcessRunning(manager)) {
    if (signal?.aborted) throw failure("InstallFailed", { what, reason: "it was interrupted" });
    if (performance.now() - startedAt > lockMs)
      throw failure("InstallFailed", {
        ...{ what, reason: `the package manager (${who}) is still running` },
        hint: "Wait until it ends, or end it.",
      });
    await sleep(pollMs);
  }
}

/** Makes node_modules match the restored files. Returns whether it does. */
async function install(
  directory: string,
  what: string,
  { timeoutMs = 600_000, signal, onCommand }: ChangeOptions,
  onStart: (pid: number) => void,
): Promise<boolean> {
  try {
    const project = await openProject(createNodeDiscoveryPort(), directory, what);
    const { workspaceRoot = directory, manager, program } = project;
    const args = managerArguments(manager, {
      ...{ kind: "install", packages: [], isWorkspaceRoot: workspaceRoot === directory },
    });
    forgetInstall(workspaceRoot);
    onCommand?.([manager.name, ...args].join(" "));
    const end = await runManager(program, { cwd: directory, args, timeoutMs, signal, onStart });
    return end.exitCode === 0;
  } catch (error) {
    if (error instanceof TrailblazeError) return false;
    throw error;
  }
}

/**
 * Undoes the additions and removals of packages that were interrupted in a project, for example by `kill -9`: restores
 * package.json, lockfile and config byte for byte from the journal, then runs the package manager's install. Waits for a
 * package manager that still runs.
 *
 * Trust level: execution. Throws `TrailblazeError`: `ProjectNotFound`, `InterruptedChangeModified` if somebody else has
 * changed one of the files since, without changing anything; `InstallFailed` if waiting takes too long or a file cannot be
 * written.
 */
export async function undoInterrupted(options: ChangeOptions): Promise<UndoneChanges> {
  const { directory } = findProject(createNodeDiscoveryPort(), options.cwd ?? process.cwd());
  const found = readJournal(directory);
  const nothing = { directory, changes: [], files: [], isInstalled: true };
  if (found === undefined) return nothing;
  const { workspaceRoot } = found.journal;
  const what = "undo the interrupted change";
  const release = await lockProjectOf({ directory, workspaceRoot }, what, options);
  try {
    const journal = readJournal(directory)?.journal;
    if (journal === undefined) return nothing;
    await waitForManager(journal, what, options);
    const modified = findModified(journal);
    const last = journal.changes.at(-1);
    if (modified.length > 0 && last !== undefined)
      throw failure("InterruptedChangeModified", { ...last, files: modified, journal: found.path });
    let files: string[];
    let isInstalled: boolean;
    try {
      removeLeftovers(journal);
      files = restoreFromJournal(journal);
      // This process may be killed as well.
      isInstalled = await install(directory, what, options, (pid) => noteInstall(directory, journal, pid));
      // An install may update the lockfile.
      restoreFromJournal(journal);
      endJournal(directory);
    } catch (cause) {
      if (cause instanceof TrailblazeError) throw cause;
      const { code = "unknown error", path = "" } = cause as NodeJS.ErrnoException;
      const reason = `${basename(path) || basename(directory)} cannot be changed (${code})`;
      throw failure("InstallFailed", { what, reason }, {}, { cause });
    }
    return { directory, changes: journal.changes, files, isInstalled };
  } finally {
    release();
  }
}
