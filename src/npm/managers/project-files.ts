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

/** What a file held; `undefined` where there was none. */
interface SavedFile {
  /** Symbolic links followed. */
  path: string;
  bytes: Buffer | undefined;
  mode: number;
  /** Lies beside the file, and can take its place without any space; absent once it has. */
  copy: Draft | undefined;
}

export interface SavedFiles {
  /**
   * Gives every file its bytes back, and removes those that were not there. False where the disk is so full that a copy had to
   * be moved back, which works once. Throws where it may not; the copies then stay.
   */
  restore(): boolean;
  /** Removes the copies. */
  discard(): void;
  /** Paths of the copies that are left. */
  readonly copies: readonly string[];
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function restoreFile(file: SavedFile): void {
  const { path, bytes, mode, copy } = file;
  if (bytes === undefined) {
    rmSync(path, { force: true });
    return;
  }
  if (read(path)?.equals(bytes)) return;
  try {
    overwriteFile(path, bytes, { mode });
  } catch (error) {
    if (copy === undefined) throw error;
    copy.commit();
    file.copy = undefined;
  }
}

/**
 * Remembers what files hold, byte for byte, and keeps copies beside them. Throws where one is there and cannot be read, or
 * where there is no space for its copy.
 */
export function saveFiles(paths: readonly string[]): SavedFiles {
  const saved: SavedFile[] = [];
  const discard = () => {
    for (const { copy } of saved) copy?.discard();
  };
  try {
    for (const path of new Set(paths)) {
      const bytes = read(path);
      if (bytes === undefined) saved.push({ path, bytes, mode: 0o644, copy: undefined });
      else {
        const [real, mode] = [realpathSync(path), statSync(path).mode & 0o777];
        saved.push({ path: real, bytes, mode, copy: writeBeside(real, bytes, { mode }) });
      }
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

/** Files and links as they were. */
export interface SavedEntries {
  restore(): void;
}

/** Remembers files and links as they are, without following links. Throws where one is there and cannot be read. */
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
