import { createHash, randomBytes } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { failure, quote } from "../problems/index.ts";
import { attempt } from "./file-errors.ts";
import { lockFile } from "./file-lock.ts";
import {
  BusyFileError,
  explainFileError,
  followLinks,
  makeFolders,
  readText,
  removeDrafts,
  UnusableFileError,
  writeBeside,
} from "./write-files.ts";

const describeRefusal = (what: string) => (error: unknown, path: string) => {
  const explained = explainFileError(error);
  if (explained === undefined) return error;
  const reason = `Cannot ${what} ${quote(path, 400)}: ${explained}`;
  return failure("InvalidArguments", { reason }, {}, { cause: error });
};

/** Converts an error of a config to `ClientConfigMalformed`, or of the file system and of locks to `ClientConfigUnwritable`. */
export function describeConfigError(error: unknown, file: string): unknown {
  const reason = explainFileError(error);
  if (reason === undefined) return error;
  const isMalformed = error instanceof UnusableFileError && !(error instanceof BusyFileError);
  const code = isMalformed ? "ClientConfigMalformed" : "ClientConfigUnwritable";
  return failure(code, { file, reason }, { file }, { cause: error });
}

/** Lets a function of a path throw what `explain` makes of its errors. */
const explained =
  <Value>(read: (path: string) => Value, explain: (error: unknown, path: string) => unknown) =>
  (path: string): Value => {
    try {
      return read(path);
    } catch (error) {
      throw explain(error, path);
    }
  };

/** Whether there is something else than an empty folder, or one that cannot be read. */
export const isTaken = (path: string): boolean =>
  existsSync(path) && attempt(() => readdirSync(path))?.length !== 0;

/**
 * The text of a file, with its byte order mark; `undefined` if it does not exist. Throws `InvalidArguments` if it cannot be
 * read, or is not UTF-8.
 */
export const readTextFile = explained(readText, describeRefusal("read"));

export interface Edit {
  /** Absolute. */
  file: string;
  /** `undefined` if there is no file. */
  before: string | undefined;
  /** `undefined` to delete the file. */
  after: string | undefined;
  /** Of the file; default: as it is, or the usual one of a new file. */
  mode?: number | undefined;
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
 * Follows links and creates missing folders. After an error, what it created is deleted, and it throws what `explain` makes
 * of the error.
 */
function writeEdits(edits: readonly Edit[], explain: (error: unknown, file: string) => unknown): void {
  const undo: (() => void)[] = [];
  let current = "";
  try {
    const commits = edits.filter(isChange).map(({ file, before, after, mode }) => {
      current = file;
      for (const folder of makeFolders(dirname(file)).toReversed()) undo.unshift(() => rmdirSync(folder));
      const real = followLinks(file);
      const stats = statSync(real, { throwIfNoEntry: false });
      // A read-only file could be replaced, but its owner does not want changes.
      if (stats !== undefined) accessSync(real, constants.W_OK);
      const draft =
        after === undefined ? undefined : writeBeside(real, Buffer.from(after), mode ?? stats?.mode, stats);
      if (draft !== undefined) undo.unshift(() => rmSync(draft, { force: true }));
      return () => {
        current = file;
        if (draft === undefined) rmSync(real, { force: true });
        else renameSync(draft, real);
        if (before === undefined) undo.unshift(() => rmSync(real, { force: true }));
      };
    });
    for (const { file, before } of edits) {
      current = file;
      if (readText(file) === before) continue;
      throw new BusyFileError(before === undefined ? "it already exists" : "another program has changed it");
    }
    for (const commit of commits) commit();
  } catch (error) {
    // A folder to which another process has added a file stays.
    for (const step of undo) attempt(step);
    throw explain(error, current);
  }
}

/** Makes all changes or none. Throws `InvalidArguments`. */
export const applyEdits = (edits: readonly Edit[]): void => writeEdits(edits, describeRefusal("write"));

/** The real path of a config, which may not exist yet. Throws `TrailblazeError` `ClientConfigUnwritable`. */
export const findRealFile = explained((file) => followLinks(resolve(file)), describeConfigError);

/**
 * The text of a config with its byte order mark; `undefined` if it does not exist. Throws `TrailblazeError`
 * `ClientConfigMalformed` or `ClientConfigUnwritable`.
 */
export const readConfigFile = explained(readText, describeConfigError);

const keptBackups = 10;

/** Copies a text to a folder of backups, where the last ten of a file stay, and returns the path of the copy. */
function backUp(file: string, text: string, backups: string): string {
  makeFolders(backups, 0o700);
  const prefix = `${createHash("sha256").update(file).digest("hex").slice(0, 8)}-`;
  const time = new Date().toISOString().replaceAll(":", "-");
  const copy = join(backups, `${prefix}${time}-${randomBytes(2).toString("hex")}-${basename(file)}`);
  writeFileSync(copy, text, { mode: 0o600, flag: "wx" });
  const names = readdirSync(backups).filter((name) => name.startsWith(prefix));
  for (const name of names.sort().slice(0, -keptBackups)) rmSync(join(backups, name), { force: true });
  return copy;
}

interface ConfigEditOptions {
  newMode: number;
  /** Folder of backups, created on demand. Without it, there are none. */
  backups?: string;
  /** Folders that stay when the file is deleted; empty ones below them are deleted too. */
  keptFolders?: readonly string[];
}

/** How often an edit is decided on while another program keeps changing the file. */
const maximumTries = 5;

/**
 * Edits a config that other programs may edit as well: locks it, reads it, replaces it as a whole, and starts again if it has
 * changed meanwhile. `decide` returns the new text, `undefined` to delete the file. `file` is a real path. Returns the last
 * decision and the path of a backup, `null` without one. Rejects with `TrailblazeError` `ClientConfigUnwritable` and with what
 * `decide` throws.
 */
export async function editConfigFile<Decision extends { text: string | undefined }>(
  file: string,
  decide: (text: string | undefined) => Decision,
  { newMode, backups, keptFolders = [dirname(file)] }: ConfigEditOptions,
): Promise<{ decision: Decision; backup: string | null }> {
  let release: (() => void) | undefined;
  let made: readonly string[] = [];
  let isDeleted = false;
  try {
    made = makeFolders(dirname(file), newMode & 0o077 ? undefined : 0o700);
    release = await lockFile(file);
    removeDrafts(file);
    for (let tries = 1; ; tries++) {
      const before = readText(file);
      const decision = decide(before);
      const { text: after } = decision;
      if (after === before) return { decision, backup: null };
      const backup = before === undefined || !backups ? null : backUp(file, before, backups);
      try {
        const mode = before === undefined ? newMode : undefined;
        writeEdits([{ file, before, after, mode }], (error) => error);
        isDeleted = after === undefined;
        return { decision, backup };
      } catch (error) {
        if (backup !== null) rmSync(backup);
        if (!(error instanceof BusyFileError) || tries === maximumTries) throw error;
      }
    }
  } catch (error) {
    throw describeConfigError(error, file);
  } finally {
    release?.();
    // Folders with a file stay.
    if (!isDeleted) for (const folder of made) attempt(() => rmdirSync(folder));
    else
      attempt(() => {
        for (let path = dirname(file); !keptFolders.includes(path); path = dirname(path)) rmdirSync(path);
      });
  }
}
