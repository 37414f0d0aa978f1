import { randomUUID } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

/** What a file held; `undefined` where there was none. */
interface SavedFile {
  path: string;
  bytes: Buffer | undefined;
  mode: number;
}

export interface SavedFiles {
  /** Gives every file its bytes back, and takes away those that were not there. Throws where it may not. */
  restore(): void;
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function restoreFile({ path, bytes, mode }: SavedFile): void {
  if (bytes === undefined) {
    rmSync(path, { force: true });
    return;
  }
  const now = read(path);
  if (now?.equals(bytes)) return;
  // A link stays one: what it leads to is written.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
    writeFileSync(path, bytes);
    return;
  }
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, bytes, { mode });
  // The mask of this process is for files that are new, which this one is not.
  chmodSync(draft, mode);
  renameSync(draft, path);
}

/** Remembers what files hold, byte for byte. Throws where one is there and cannot be read. */
export function saveFiles(paths: readonly string[]): SavedFiles {
  const saved = [...new Set(paths)].map((path): SavedFile => {
    const bytes = read(path);
    return { path, bytes, mode: bytes === undefined ? 0o644 : statSync(path).mode & 0o777 };
  });
  return {
    restore() {
      for (const file of saved) restoreFile(file);
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

/** Remembers files and links as they are, without following links. Throws where one is there and cannot be read. */
export function saveEntries(paths: readonly string[]): SavedFiles {
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
