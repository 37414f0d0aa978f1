import { createHash } from "node:crypto";
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../data/parse-json.ts";
import { dependencyKeys } from "../../discovery/project.ts";
import { lockfileNames, lockfilesOf } from "../../discovery/project-manager.ts";
import { makeFolders, openFlags } from "../../files/make-folders.ts";
import {
  identifyProcess,
  isSameProcessRunning,
  type ProcessIdentity,
  readProcessIdentity,
} from "../../files/process-identity.ts";
import { overwriteFile, removeDrafts } from "../../files/replace-file.ts";
import type { ChangeableProject } from "./change-packages.ts";
import { findJournals } from "./journal-folder.ts";
import { readFile, restoreFile, type SavedFile, saveFile } from "./project-files.ts";

/** A change of a project's packages. */
export interface JournaledChange {
  command: "add" | "remove";
  /** npm names. */
  packs: readonly string[];
}

/** A file of the project as it was before the change. */
interface JournaledFile extends SavedFile {
  /** What the change makes of it, while that is known: no bytes if it does not exist then. */
  after?: { bytes: Buffer | undefined };
}

/** The record of a change that is under way or was interrupted, from which the project can be restored. */
export interface Journal {
  /** The interrupted change, and those that were interrupted before it. */
  changes: readonly JournaledChange[];
  workspaceRoot: string;
  owner: ProcessIdentity;
  /** The process of the package manager, which may outlive the owner. */
  manager?: ProcessIdentity | undefined;
  files: readonly JournaledFile[];
}

const pathOf = (directory: string): string | undefined => {
  const folder = findJournals();
  return folder && join(folder, `${createHash("sha256").update(directory).digest("hex")}.json`);
};

const encode = (bytes: Buffer | undefined) => bytes?.toString("base64") ?? null;

/** Throws for what `encode` does not return. */
function decode(text: unknown): Buffer | undefined {
  if (text === null) return undefined;
  const bytes = Buffer.from(String(text), "base64");
  if (encode(bytes) !== text) throw new Error("not the content of a file");
  return bytes;
}

function format({ files, ...journal }: Journal): string {
  const written = files.map(({ path, mode, bytes, after }) => ({
    ...{ path, mode, before: encode(bytes) },
    ...(after && { after: encode(after.bytes) }),
  }));
  return JSON.stringify({ version: 1, ...journal, files: written });
}

function parseFile(value: unknown): JournaledFile {
  if (!isRecord(value) || typeof value.path !== "string" || typeof value.mode !== "number")
    throw new Error("not a file");
  const { path, mode, before, after } = value;
  const file = { path, mode, bytes: decode(before), copy: undefined };
  return after === undefined ? file : { ...file, after: { bytes: decode(after) } };
}

function parseChange(value: unknown): JournaledChange {
  if (!isRecord(value) || !Array.isArray(value.packs)) throw new Error("not a change");
  const { command } = value;
  if (command !== "add" && command !== "remove") throw new Error("not a change");
  return { command, packs: value.packs.map(String) };
}

/** Throws if a part is not valid, because restoring only some files would leave a project that never was. */
function parse(text: string): Journal | undefined {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || value.version !== 1 || typeof value.workspaceRoot !== "string") return undefined;
  const owner = readProcessIdentity(value.owner);
  if (owner === undefined || !Array.isArray(value.changes) || !Array.isArray(value.files)) return undefined;
  if (value.changes.length === 0) return undefined;
  return {
    changes: value.changes.map(parseChange),
    workspaceRoot: value.workspaceRoot,
    owner,
    manager: readProcessIdentity(value.manager),
    files: value.files.map(parseFile),
  };
}

/** Reads a file that this user wrote. Throws for links, for other kinds of files, and for files of other users. */
function readOwnFile(path: string): string {
  const descriptor = openSync(path, openFlags | (constants.O_NOFOLLOW ?? 0));
  try {
    const stats = fstatSync(descriptor);
    const isOwn = process.getuid === undefined || stats.uid === process.getuid();
    if (!stats.isFile() || !isOwn) throw new Error("not a file of this user");
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

/** The journal of a project and its path. `directory` is a real path. A file that is no journal counts as none. */
export function readJournal(directory: string): { journal: Journal; path: string } | undefined {
  const path = pathOf(directory);
  try {
    const journal = path === undefined ? undefined : parse(readOwnFile(path));
    return journal && path ? { journal, path } : undefined;
  } catch {
    return undefined;
  }
}

/** The changes of a project that were interrupted, the first one first. */
export function findInterrupted(directory: string): readonly JournaledChange[] {
  const journal = readJournal(directory)?.journal;
  return journal === undefined || isSameProcessRunning(journal.owner) ? [] : journal.changes;
}

/** Splits a package.json into the dependencies with these names, which it has no longer, and the rest. */
function withoutDependencies(manifest: unknown, names: readonly string[]): unknown {
  if (!isRecord(manifest)) return manifest;
  const kept = Object.entries(manifest).flatMap(([key, value]) => {
    if (!dependencyKeys.includes(key) || !isRecord(value)) return [[key, value]];
    const others = Object.entries(value).filter(([name]) => !names.includes(name));
    return others.length === 0 ? [] : [[key, Object.fromEntries(others)]];
  });
  return Object.fromEntries(kept);
}

/**
 * Whether a package manager may have made one package.json of another by adding or removing packages: nothing but their
 * entries differs, and the layout is a package manager's.
 */
function isManagersWork(before: Buffer, now: Buffer, names: readonly string[]): boolean {
  // Writing a file begins with emptying it.
  if (now.length === 0) return true;
  const [old, text] = [before, now].map((bytes) => bytes.toString("utf8").replace(/\r\n/g, "\n")) as [
    string,
    string,
  ];
  try {
    const value: unknown = JSON.parse(text);
    const [indent = ""] = /^[ \t]+(?=")/m.exec(old) ?? [];
    const isLaidOut = [indent, "  "].some(
      (one) => JSON.stringify(value, null, one) === text.replace(/\n$/, ""),
    );
    const wanted = withoutDependencies(JSON.parse(old), names);
    return isLaidOut && isDeepStrictEqual(withoutDependencies(value, names), wanted);
  } catch {
    return false;
  }
}

/** The files that somebody else has changed since the change was interrupted. Lockfiles can be made again. */
export function findModified({ files, changes }: Journal): string[] {
  const names = changes.flatMap(({ packs }) => packs);
  const isAsLeft = ({ path, bytes, after }: JournaledFile): boolean => {
    let now: Buffer | undefined;
    try {
      now = readFile(path);
    } catch {
      // For example, it is a folder now.
      return false;
    }
    const isSame = (other: Buffer | undefined) => (now && other ? now.equals(other) : now === other);
    if (lockfileNames.includes(basename(path)) || isSame(bytes)) return true;
    if (after !== undefined) return isSame(after.bytes);
    const isManifest = basename(path) === "package.json";
    return isManifest && now !== undefined && bytes !== undefined && isManagersWork(bytes, now, names);
  };
  return files.filter((file) => !isAsLeft(file)).map(({ path }) => path);
}

/** Restores the files of a journal. Returns the paths of those that differed. Throws a file system error. */
export function restoreFromJournal({ files }: Journal): string[] {
  return files.filter(restoreFile).map(({ path }) => path);
}

/** Writes a journal. Throws a file system error. */
function writeJournal(path: string, journal: Journal): void {
  makeFolders(join(path, ".."), 0o700);
  overwriteFile(path, Buffer.from(format(journal)), { mode: 0o600, isLasting: true });
}

/** Notes the process of the package manager that installs what a journal restored. Throws a file system error. */
export function noteInstall(directory: string, journal: Journal, pid: number): void {
  const path = pathOf(directory);
  if (path !== undefined) writeJournal(path, { ...journal, manager: identifyProcess(pid) });
}

/** Deletes what an interrupted change left next to the project's files. Call this while holding the project's lock. */
export function removeLeftovers({ files }: Pick<Journal, "files">): void {
  for (const { path } of files) {
    // Its folder may have been deleted.
    if (existsSync(dirname(path))) removeDrafts(path);
  }
}

/** Deletes the journal of a project whose change was undone. Throws a file system error. */
export function endJournal(directory: string): void {
  rmSync(pathOf(directory) ?? "", { force: true });
}

const filesOfManager = ({ manager }: ChangeableProject) => [
  "package.json",
  ...lockfilesOf(manager.name),
  ...(manager.name === "pnpm" ? ["pnpm-workspace.yaml"] : []),
  ...(manager.isModernYarn ? [".yarnrc.yml"] : []),
];

/** Keeps the journal of a change while it is under way. Without a writable home, there is none. */
export class ChangeJournal {
  readonly #path: string | undefined;
  /** The journal of an interrupted change that this one found. */
  readonly #earlier: Journal | undefined;
  #journal: Journal;

  /** Call this while holding the project's lock. */
  constructor(project: ChangeableProject, change: JournaledChange) {
    const { directory, workspaceRoot = directory } = project;
    this.#path = pathOf(directory);
    const earlier = readJournal(directory)?.journal;
    // After changes of somebody else, their state is the one to go back to.
    this.#earlier = earlier !== undefined && findModified(earlier).length === 0 ? earlier : undefined;
    const folders = [...new Set([directory, workspaceRoot])];
    const saved = folders.flatMap((folder) =>
      filesOfManager(project).map((name) => saveFile(join(folder, name))),
    );
    const willChange = ({ path }: JournaledFile) => saved.some((file) => file.path === path);
    const known =
      this.#earlier?.files.map(({ after, ...file }) =>
        after === undefined || willChange(file) ? file : { ...file, after },
      ) ?? [];
    this.#journal = {
      changes: [...(this.#earlier?.changes ?? []), change],
      workspaceRoot,
      owner: identifyProcess(),
      files: [...known, ...saved.filter(({ path }) => !known.some((file) => file.path === path))],
    };
    this.#write();
  }

  #write(journal = this.#journal): void {
    if (this.#path === undefined) return;
    try {
      writeJournal(this.#path, journal);
    } catch {
      // A change that is not interrupted needs no journal.
    }
  }

  /** Notes the process of the package manager. */
  noteManager(pid: number): void {
    this.#journal = { ...this.#journal, manager: identifyProcess(pid) };
    this.#write();
  }

  /** Notes what the package manager has made of the files. */
  noteResult(): void {
    const files = this.#journal.files.map((file) => ({ ...file, after: { bytes: readFile(file.path) } }));
    this.#journal = { ...this.#journal, manager: undefined, files };
    this.#write();
  }

  /** Notes that another file is about to become this text; `undefined` if it will be deleted. */
  noteEdit(path: string, text: string | undefined): void {
    const { files } = this.#journal;
    const file = files.find((one) => one.path === path) ?? saveFile(path);
    const edited = { ...file, after: { bytes: text === undefined ? undefined : Buffer.from(text) } };
    this.#journal = { ...this.#journal, files: [...files.filter((one) => one.path !== path), edited] };
    this.#write();
  }

  /** Ends the journal of a change that was made, or else undone. */
  end({ isUndone }: { isUndone: boolean }): void {
    if (isUndone && this.#earlier !== undefined) this.#write(this.#earlier);
    else if (this.#path !== undefined) {
      try {
        rmSync(this.#path, { force: true, recursive: true });
      } catch {
        // The change was made all the same.
      }
    }
  }
}
