import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { failure, quote } from "../problems/index.ts";
import { errorCode, makeFolders } from "./make-folders.ts";
import { overwriteFile } from "./replace-file.ts";

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the disk",
  EEXIST: "something of that name is there",
  EISDIR: "it is a folder",
  ENOENT: "its folder does not exist",
  ENOTDIR: "a part of its path is no folder",
  ELOOP: "symbolic links go in a circle",
  ENAMETOOLONG: "its path is too long",
};

/** What the system refuses, as an argument that cannot be used. */
function describeRefusal(what: string, path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("syscall" in error)) return error;
  const code = errorCode(error);
  const reason = Object.hasOwn(reasons, code) ? reasons[code] : code;
  return failure(
    "InvalidArguments",
    { reason: `${quote(path, 400)} cannot be ${what}: ${reason}` },
    {},
    { cause: error },
  );
}

/** What is at a path where a new folder is wanted. Throws `InvalidArguments` where it cannot be looked at. */
export function describeFolder(path: string): "absent" | "empty" | "filled" | "noFolder" {
  try {
    if (!statSync(path).isDirectory()) return "noFolder";
    return readdirSync(path).length === 0 ? "empty" : "filled";
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "absent";
    throw describeRefusal("used", path, error);
  }
}

/**
 * Writes new files into a folder, all of them or none: where one cannot be written, or is there already, everything that
 * was made is taken away and `InvalidArguments` thrown. Paths have `/`; `folder` is absolute.
 */
export function createFiles(folder: string, files: readonly { path: string; text: string }[]): void {
  const undo: (() => void)[] = [];
  let current = folder;
  const makeFor = (path: string) => {
    for (const made of makeFolders(path).toReversed()) undo.unshift(() => rmdirSync(made));
  };
  try {
    makeFor(folder);
    for (const { path, text } of files) {
      current = join(folder, path);
      makeFor(dirname(current));
      const file = current;
      const descriptor = openSync(file, "wx");
      undo.unshift(() => rmSync(file, { force: true }));
      try {
        writeFileSync(descriptor, text);
      } finally {
        closeSync(descriptor);
      }
    }
  } catch (error) {
    for (const step of undo) {
      try {
        step();
      } catch {
        // Somebody else put something there meanwhile, which is not ours to take away.
      }
    }
    throw describeRefusal("written", current, error);
  }
}

/** The text of a file; `undefined` where there is none. Throws `InvalidArguments` where it cannot be read. */
export function readTextFile(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw describeRefusal("read", file, error);
  }
}

/** A path with symbolic links followed; itself where nothing is there. */
function followLinks(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return file;
    throw error;
  }
}

/**
 * Puts a text in the place of a file, whose mode stays: at every moment there is the old text or the new one. What a link
 * leads to is written. Throws `InvalidArguments`, the file as it was.
 */
export function replaceTextFile(path: string, text: string): void {
  try {
    const file = followLinks(path);
    const mode = statSync(file, { throwIfNoEntry: false })?.mode;
    overwriteFile(file, Buffer.from(text), { mode: mode && mode & 0o7777, isLasting: true });
  } catch (error) {
    throw describeRefusal("written", path, error);
  }
}
