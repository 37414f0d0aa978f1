import { isUtf8 } from "node:buffer";
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { failure, quote } from "../problems/index.ts";
import { explainFileError } from "./explain-file-error.ts";
import { errorCode } from "./file-errors.ts";
import { followLinks, makeFolders, overwriteFile } from "./write-files.ts";

/** Converts a file system error to `InvalidArguments`. */
export function describeRefusal(what: string, path: string, error: unknown): unknown {
  const reason = explainFileError(error);
  if (reason === undefined) return error;
  return failure(
    "InvalidArguments",
    { reason: `Cannot ${what} ${quote(path, 400)}: ${reason}` },
    {},
    { cause: error },
  );
}

/** The state of a path for a new folder. Throws `InvalidArguments` if it cannot be read. */
export function describeFolder(path: string): "absent" | "empty" | "filled" | "noFolder" {
  try {
    if (!statSync(path).isDirectory()) return "noFolder";
    return readdirSync(path).length === 0 ? "empty" : "filled";
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "absent";
    throw describeRefusal("use", path, error);
  }
}

/**
 * Creates all files in a folder or none: if one cannot be written or already exists, deletes everything that it created
 * and throws `InvalidArguments`. Paths have `/`; `folder` is absolute.
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
      closeSync(openSync(file, "wx"));
      undo.unshift(() => rmSync(file, { force: true }));
      writeFileSync(file, text);
    }
  } catch (error) {
    for (const step of undo) {
      try {
        step();
      } catch {
        // Another process has added a file to the folder, so it stays.
      }
    }
    throw describeRefusal("write", current, error);
  }
}

/**
 * The text of a file, with its byte order mark; `undefined` if it does not exist. Throws `InvalidArguments` if it cannot be
 * read, or is not UTF-8.
 */
export function readTextFile(file: string): string | undefined {
  try {
    const bytes = readFileSync(file);
    if (isUtf8(bytes)) return bytes.toString("utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw describeRefusal("read", file, error);
  }
  throw failure("InvalidArguments", { reason: `Cannot read ${quote(file, 400)}: it is not UTF-8` });
}

/**
 * Replaces the text of a file atomically, keeping its mode. Follows links. Throws `InvalidArguments` and leaves the file
 * unchanged if that fails.
 */
export function replaceTextFile(path: string, text: string): void {
  try {
    const file = followLinks(path);
    const mode = statSync(file, { throwIfNoEntry: false })?.mode;
    overwriteFile(file, Buffer.from(text), { mode: mode && mode & 0o7777 });
  } catch (error) {
    throw describeRefusal("write", path, error);
  }
}
