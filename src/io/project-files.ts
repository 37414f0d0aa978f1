import { randomUUID } from "node:crypto";
import { chmodSync, lstatSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";

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
