import { isUtf8 } from "node:buffer";
import { readdirSync, readFileSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { failure, quote } from "../problems/index.ts";
import { errorCode } from "./file-errors.ts";
import { explainFileError, followLinks, makeFolders, writeBeside } from "./write-files.ts";

/** Converts a file system error to `InvalidArguments`. */
function describeRefusal(what: string, path: string, error: unknown): unknown {
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

/** A planned change of a file. */
export interface Edit {
  /** Absolute. */
  file: string;
  /** `undefined` if there is no file. */
  before: string | undefined;
  after: string;
  /** Makes the file executable. */
  isProgram?: boolean;
}

/** Plans the text of a file. Line ends and a byte order mark, which other programs change, are no difference. */
export function planEdit(file: string, text: string): Edit {
  const before = readTextFile(file);
  const isSame = before?.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n") === text;
  return { file, before, after: isSame ? before : text };
}

export const isChange = ({ before, after }: Edit): boolean => before !== after;

/**
 * Makes all changes or none: writes each text beside its file, compares all files with what was planned, and replaces them.
 * Keeps modes, follows links and, if told to, creates missing folders. Throws `InvalidArguments`; then what it created is deleted.
 */
export function applyEdits(edits: readonly Edit[], { makesFolders = false } = {}): void {
  const undo: (() => void)[] = [];
  let current = "";
  try {
    const commits = edits.filter(isChange).map(({ file, before, after, isProgram = false }) => {
      current = file;
      const folders = makesFolders ? makeFolders(dirname(file)) : [];
      for (const folder of folders.toReversed()) undo.unshift(() => rmdirSync(folder));
      const real = followLinks(file);
      const mode = isProgram ? 0o755 : statSync(real, { throwIfNoEntry: false })?.mode;
      const draft = writeBeside(real, Buffer.from(after), { mode: mode && mode & 0o7777 });
      undo.unshift(draft.discard);
      return () => {
        current = file;
        draft.commit();
        if (before === undefined) undo.unshift(() => rmSync(real, { force: true }));
      };
    });
    for (const { file, before } of edits) {
      if (readTextFile(file) === before) continue;
      const reason = before === undefined ? "it already exists" : "another program has changed it";
      throw failure("InvalidArguments", { reason: `Cannot write ${quote(file, 400)}: ${reason}` });
    }
    for (const commit of commits) commit();
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
