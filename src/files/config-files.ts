import { isUtf8 } from "node:buffer";
import { createHash, randomBytes } from "node:crypto";
import {
  accessSync,
  constants,
  readdirSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { failure } from "../problems/index.ts";
import { LockHeldError, type LockOptions, lockFile } from "./file-lock.ts";
import {
  explainFileError,
  followLinks,
  makeFolders,
  readRegularFile,
  removeDrafts,
  writeBeside,
} from "./write-files.ts";

/** How often an edit is decided on while another program keeps changing the file. */
const maximumTries = 5;
const keptBackups = 10;
/** A file that was changed this recently may be incomplete. */
const writingMs = 250;
const pauseMs = 25;

/** Runs a step. Converts errors of the file system and of locks to `ClientConfigUnwritable`. */
async function onDisk<Result>(file: string, step: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    const reason = error instanceof LockHeldError ? error.message : explainFileError(error);
    throw reason === undefined ? error : unwritable(file, reason, error);
  }
}

const unwritable = (file: string, reason: string, cause?: unknown) =>
  failure("ClientConfigUnwritable", { file, reason }, { file }, { cause });

const malformed = (file: string, reason: string) =>
  failure("ClientConfigMalformed", { file, reason }, { file });

export function fileExists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** Whether a folder exists and is not the same as another. */
export function isOtherFolder(folder: string, than: string): boolean {
  try {
    return realpathSync(folder) !== realpathSync(than);
  } catch {
    return fileExists(folder);
  }
}

/** The real path of a file, which may not exist yet. Rejects with `TrailblazeError` `ClientConfigUnwritable`. */
export const findRealFile = (file: string): Promise<string> => onDisk(file, () => followLinks(resolve(file)));

/**
 * The text of a config with its byte order mark; `undefined` if it does not exist. Waits for a moment if another program has
 * just changed the file and it is not whole. Rejects with `TrailblazeError` `ClientConfigMalformed` or `ClientConfigUnwritable`.
 */
export async function readConfigFile(
  file: string,
  isWhole: (text: string) => boolean,
): Promise<string | undefined> {
  for (;;) {
    const read = await onDisk(file, () =>
      readRegularFile(file, (reason) => {
        throw malformed(file, reason);
      }),
    );
    if (read === undefined) return undefined;
    const text = isUtf8(read.bytes) ? read.bytes.toString() : undefined;
    const mayBeWriting = Math.abs(Date.now() - read.changedAt) < writingMs;
    if (text !== undefined && (isWhole(text) || !mayBeWriting)) return text;
    if (!mayBeWriting) throw malformed(file, "it is not UTF-8");
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

const backupPrefix = (file: string) => `${createHash("sha256").update(file).digest("hex").slice(0, 8)}-`;

/** Copies a text to a folder of backups and returns the path of the copy. */
function backUp(file: string, text: string, backups: string): string {
  makeFolders(backups, 0o700);
  const time = new Date().toISOString().replaceAll(":", "-");
  const name = `${backupPrefix(file)}${time}-${randomBytes(2).toString("hex")}-${basename(file)}`;
  writeFileSync(join(backups, name), text, { mode: 0o600, flag: "wx" });
  return join(backups, name);
}

function deleteOldBackups(file: string, backups: string): void {
  const names = readdirSync(backups).filter((name) => name.startsWith(backupPrefix(file)));
  for (const name of names.sort().slice(0, -keptBackups)) rmSync(join(backups, name), { force: true });
}

/** Deletes a folder and those around it, up to one that is in use or has to stay. */
function removeFolders(folder: string, mayRemove: (folder: string) => boolean): void {
  try {
    for (let path = folder; mayRemove(path); path = dirname(path)) rmdirSync(path);
  } catch {
    // It is in use.
  }
}

export interface EditOptions extends LockOptions {
  /** Whether a text is complete. A file that has just changed and is not is read again. */
  isWhole: (text: string) => boolean;
  /** Mode of a new file. */
  newMode: number;
  /** Folder of backups, created on demand. Without it, there are none. */
  backups?: string | undefined;
  /** Folders that stay when the file is deleted; empty ones below them are deleted too. */
  keptFolders?: readonly string[] | undefined;
}

/**
 * Edits a config that other programs may edit as well: locks it, reads it, replaces it as a whole, and starts again if it has
 * changed meanwhile. `decide` returns the new text, `undefined` to delete the file. `file` is a real path. Returns the last
 * decision and the path of a backup, `null` without one. Rejects with `TrailblazeError` `ClientConfigUnwritable` and with what
 * `decide` throws.
 */
export const editConfigFile = <Decision extends { text: string | undefined }>(
  file: string,
  decide: (text: string | undefined) => Decision,
  { isWhole, newMode, backups, keptFolders = [dirname(file)], ...lockOptions }: EditOptions,
): Promise<{ decision: Decision; backup: string | null }> =>
  onDisk(file, async () => {
    const made = makeFolders(dirname(file), newMode & 0o077 ? undefined : 0o700);
    let mayRemove = (folder: string) => made.includes(folder);
    try {
      const release = await lockFile(file, lockOptions);
      try {
        removeDrafts(file);
        for (let tries = 0; tries < maximumTries; tries++) {
          const before = await readConfigFile(file, isWhole);
          const decision = decide(before);
          if (decision.text === before) return { decision, backup: null };
          const backup = before === undefined || !backups ? null : backUp(file, before, backups);
          let isReplaced = false;
          try {
            isReplaced = replace(file, before, decision.text, newMode);
          } finally {
            if (!isReplaced && backup !== null) rmSync(backup);
          }
          if (!isReplaced) continue;
          if (backup !== null && backups) deleteOldBackups(file, backups);
          if (decision.text === undefined)
            mayRemove = (folder) => !keptFolders.includes(folder) && dirname(folder) !== folder;
          return { decision, backup };
        }
      } finally {
        release();
      }
    } finally {
      removeFolders(dirname(file), mayRemove);
    }
    throw unwritable(file, "another program keeps changing it");
  });

/** Replaces, creates or deletes a file. Returns false if its text is no longer `before`. */
function replace(
  file: string,
  before: string | undefined,
  after: string | undefined,
  newMode: number,
): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  // A read-only file could be replaced, but its owner does not want changes.
  if (stats !== undefined) accessSync(file, constants.W_OK);
  const mode = stats === undefined ? newMode : stats.mode & 0o7777;
  const draft =
    after === undefined
      ? { commit: () => rmSync(file, { force: true }), discard: () => {} }
      : writeBeside(file, Buffer.from(after), { mode, owner: stats });
  try {
    const now = readRegularFile(file, (reason) => {
      throw malformed(file, reason);
    });
    if (now?.bytes.toString() !== before) return false;
    draft.commit();
    return true;
  } finally {
    draft.discard();
  }
}
