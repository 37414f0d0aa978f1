import { createHash, randomBytes } from "node:crypto";
import { accessSync, constants, readdirSync, realpathSync, rmdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { failure } from "../problems/index.ts";
import { explainFileError } from "./explain-file-error.ts";
import { LockHeldError, type LockOptions, lockFile } from "./file-lock.ts";
import {
  followLinks,
  makeFolders,
  readRegularFile,
  removeDrafts,
  writeBeside,
  writeNewFile,
} from "./write-files.ts";

/** How often an edit is decided on while another program keeps changing the file. */
const maximumTries = 5;
const keptBackups = 10;
/** A file that was changed this recently may be incomplete. */
const writingMs = 250;
const pauseMs = 25;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const unwritable = (file: string, reason: string, cause?: unknown) =>
  failure("ClientConfigUnwritable", { file, reason }, { file }, { cause });

/** Converts errors of the file system and of locks to `ClientConfigUnwritable`. */
function describeRefusal(file: string, error: unknown): unknown {
  if (error instanceof LockHeldError) return unwritable(file, error.message, error);
  const reason = explainFileError(error);
  return reason === undefined ? error : unwritable(file, reason, error);
}

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

/** The real path of a file, which may not exist yet. Throws `TrailblazeError` `ClientConfigUnwritable`. */
export function findRealFile(file: string): string {
  try {
    return followLinks(resolve(file));
  } catch (error) {
    throw describeRefusal(file, error);
  }
}

const malformed = (file: string, reason: string) =>
  failure("ClientConfigMalformed", { file, reason }, { file });

/** The bytes of a file and when it was changed; `undefined` if it does not exist. */
function readBytes(file: string): { bytes: Buffer; changedAt: number } | undefined {
  try {
    return readRegularFile(file, (reason) => {
      throw malformed(file, reason);
    });
  } catch (error) {
    throw describeRefusal(file, error);
  }
}

function decode(file: string, bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed(file, "it is not UTF-8");
  }
}

/** A config as it was read. */
interface ReadConfig {
  bytes: Buffer | undefined;
  text: string | undefined;
}

async function readWhole(file: string, isWhole: (text: string) => boolean): Promise<ReadConfig> {
  for (;;) {
    const read = readBytes(file);
    if (read === undefined) return { bytes: undefined, text: undefined };
    const { bytes, changedAt } = read;
    let text: string | undefined;
    let caught: unknown;
    try {
      text = decode(file, bytes);
    } catch (error) {
      caught = error;
    }
    const isFresh = Math.abs(Date.now() - changedAt) < writingMs;
    if (text !== undefined && (isWhole(text) || !isFresh)) return { bytes, text };
    if (!isFresh) throw caught;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/**
 * The text of a config with its byte order mark; `undefined` if it does not exist. Waits for a moment if another program has
 * just changed the file and it is not whole. Throws `TrailblazeError` `ClientConfigMalformed` or `ClientConfigUnwritable`.
 */
export async function readConfigFile(
  file: string,
  isWhole: (text: string) => boolean,
): Promise<string | undefined> {
  return (await readWhole(file, isWhole)).text;
}

const backupPrefix = (file: string) => `${createHash("sha256").update(file).digest("hex").slice(0, 8)}-`;

/** Copies the bytes of a file to a folder of backups and returns the path of the copy. */
function backUp(file: string, bytes: Buffer, backups: string): string {
  makeFolders(backups, 0o700);
  const time = new Date().toISOString().replaceAll(":", "-");
  const backup = join(
    backups,
    `${backupPrefix(file)}${time}-${randomBytes(2).toString("hex")}-${basename(file)}`,
  );
  writeNewFile(backup, bytes, { mode: 0o600 });
  return backup;
}

function deleteOldBackups(file: string, backups: string): void {
  const names = readdirSync(backups).filter((name) => name.startsWith(backupPrefix(file)));
  for (const name of names.sort().slice(0, -keptBackups)) rmSync(join(backups, name), { force: true });
}

/** Deletes folders from the inside out until one is not empty. */
function removeFolders(folders: Iterable<string>): void {
  try {
    for (const folder of folders) rmdirSync(folder);
  } catch {
    // It is in use.
  }
}

/** The folder of a file and those around it, up to one of `ends`. */
function* foldersOf(file: string, ends: readonly string[]): Generator<string> {
  for (
    let folder = dirname(file);
    !ends.includes(folder) && dirname(folder) !== folder;
    folder = dirname(folder)
  )
    yield folder;
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
 * decision and the path of a backup, `null` without one. Throws `TrailblazeError` `ClientConfigUnwritable` and what `decide` throws.
 */
export async function editConfigFile<Decision extends { text: string | undefined }>(
  file: string,
  decide: (text: string | undefined) => Decision,
  { isWhole, newMode, backups, keptFolders, ...lockOptions }: EditOptions,
): Promise<{ decision: Decision; backup: string | null }> {
  const isPrivate = (newMode & 0o077) === 0;
  let made: string[] = [];
  let isDeleted = false;
  try {
    made = makeFolders(dirname(file), isPrivate ? 0o700 : undefined);
    const lock = await lockFile(file, lockOptions);
    try {
      removeDrafts(file);
      for (let tries = 0; tries < maximumTries; tries++) {
        const { bytes, text } = await readWhole(file, isWhole);
        const decision = decide(text);
        if (decision.text === text) return { decision, backup: null };
        let backup: string | null = null;
        const isSame = () => {
          const now = readBytes(file)?.bytes;
          return bytes === undefined ? now === undefined : now?.equals(bytes) === true;
        };
        try {
          if (bytes !== undefined && backups !== undefined) backup = backUp(file, bytes, backups);
          if (!replace(file, decision.text, newMode, () => lock.isHeld() && isSame())) continue;
        } catch (error) {
          if (backup !== null) rmSync(backup, { force: true });
          throw error;
        }
        isDeleted = decision.text === undefined;
        made = [];
        if (backups !== undefined && backup !== null) deleteOldBackups(file, backups);
        return { decision, backup };
      }
    } finally {
      lock.release();
    }
  } catch (error) {
    throw describeRefusal(file, error);
  } finally {
    removeFolders(isDeleted ? foldersOf(file, keptFolders ?? [dirname(file)]) : made);
  }
  throw unwritable(file, "another program keeps changing it");
}

/** Replaces or deletes a file, unless `mayReplace` refuses at the last moment. */
function replace(
  file: string,
  text: string | undefined,
  newMode: number,
  mayReplace: () => boolean,
): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  // A read-only file could be replaced, but its owner does not want changes.
  if (stats !== undefined) accessSync(file, constants.W_OK);
  if (text === undefined) {
    if (!mayReplace()) return false;
    rmSync(file, { force: true });
  } else {
    const mode = stats === undefined ? newMode : stats.mode & 0o7777;
    const draft = writeBeside(file, Buffer.from(text), { mode, owner: stats });
    try {
      if (!mayReplace()) return false;
      draft.commit();
    } finally {
      draft.discard();
    }
  }
  return true;
}
