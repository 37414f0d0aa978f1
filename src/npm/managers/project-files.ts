import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "../../files/make-folders.ts";
import { type Draft, overwriteFile, writeBeside } from "../../files/replace-file.ts";

/** A backup of a file; `bytes` is `undefined` if the file did not exist. */
export interface SavedFile {
  /** Symbolic links followed. */
  path: string;
  bytes: Buffer | undefined;
  mode: number;
  /** A copy next to the file that can replace it without disk space; `undefined` once it has been used. */
  copy: Draft | undefined;
}

export interface SavedFiles {
  /**
   * Restores every file, and removes new ones. Returns false if the disk is full and a copy had to be moved back, which
   * works only once. Throws if a file cannot be restored; the copies remain in this case.
   */
  restore(): boolean;
  /** Removes the copies. */
  discard(): void;
  /** Paths of the remaining copies. */
  readonly copies: readonly string[];
}

/** The bytes of a file; `undefined` if it does not exist. */
export function readFile(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Reads a file to save. Throws if it exists and cannot be read. */
export function saveFile(path: string): SavedFile {
  const bytes = readFile(path);
  if (bytes === undefined) return { path, bytes, mode: 0o644, copy: undefined };
  return { path: realpathSync(path), bytes, mode: statSync(path).mode & 0o777, copy: undefined };
}

/** Restores a file. Returns whether it differed. */
export function restoreFile(file: SavedFile): boolean {
  const { path, bytes, mode, copy } = file;
  const now = readFile(path);
  if (bytes === undefined) {
    rmSync(path, { force: true });
    return now !== undefined;
  }
  if (now?.equals(bytes)) return false;
  try {
    overwriteFile(path, bytes, { mode });
  } catch (error) {
    if (copy === undefined) throw error;
    copy.commit();
    file.copy = undefined;
  }
  return true;
}

/**
 * Saves the contents of files, with copies next to them. Throws if an existing file cannot be read or there is no disk
 * space for its copy.
 */
export function saveFiles(paths: readonly string[]): SavedFiles {
  const saved: SavedFile[] = [];
  const discard = () => {
    for (const { copy } of saved) copy?.discard();
  };
  try {
    for (const path of new Set(paths)) {
      const file = saveFile(path);
      const { path: real, bytes, mode } = file;
      saved.push(bytes === undefined ? file : { ...file, copy: writeBeside(real, bytes, { mode }) });
    }
  } catch (error) {
    discard();
    throw error;
  }
  const findCopies = () => saved.flatMap(({ copy }) => copy?.path ?? []);
  return {
    restore() {
      const before = findCopies().length;
      for (const file of saved) restoreFile(file);
      return findCopies().length === before;
    },
    discard,
    get copies() {
      return findCopies();
    },
  };
}

type Entry = { link: string } | { bytes: Buffer; mode: number } | undefined;

function readEntry(path: string): Entry {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) return { link: readlinkSync(path) };
  return stats?.isFile() ? { bytes: readFileSync(path), mode: stats.mode & 0o777 } : undefined;
}

function isSameEntry(a: Entry, b: Entry): boolean {
  if (a === undefined || b === undefined) return a === b;
  if ("link" in a) return "link" in b && a.link === b.link;
  return "bytes" in b && a.bytes.equals(b.bytes) && a.mode === b.mode;
}

/** Saved files and links. */
export interface SavedEntries {
  restore(): void;
}

/** Saves files and links, without following links. Throws if an existing one cannot be read. */
export function saveEntries(paths: readonly string[]): SavedEntries {
  const saved = [...new Set(paths)].map((path) => ({ path, entry: readEntry(path) }));
  return {
    restore() {
      for (const { path, entry } of saved) {
        if (isSameEntry(readEntry(path), entry)) continue;
        rmSync(path, { force: true });
        if (entry === undefined) continue;
        mkdirSync(dirname(path), { recursive: true });
        if ("link" in entry) symlinkSync(entry.link, path);
        else writeFileSync(path, entry.bytes, { mode: entry.mode });
      }
    },
  };
}
