import { type BigIntStats, closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode, openFlags } from "./make-folders.ts";

// Windows does not allow replacing an open file.
const keepsOpen = process.platform !== "win32";

const isSameFile = (a: BigIntStats, b: BigIntStats) =>
  a.dev === b.dev &&
  a.ino === b.ino &&
  a.size === b.size &&
  a.mtimeNs === b.mtimeNs &&
  a.ctimeNs === b.ctimeNs;

/** Reads all bytes of an open file from its start. */
function readAll(descriptor: number, expected: number): Buffer {
  let bytes = Buffer.alloc(expected + 1);
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, bytes, length, bytes.length - length, length);
    length += read;
    if (read === 0) return bytes.subarray(0, length);
    if (length === bytes.length) bytes = Buffer.concat([bytes], bytes.length * 2);
  }
}

/**
 * The contents of a file when it was read. The file stays open, so that later writes of other programs can be found even
 * after the file was replaced.
 */
export class FileSnapshot {
  readonly file: string;
  /** `undefined` if the file did not exist. */
  readonly bytes: Buffer | undefined;
  readonly stats: BigIntStats | undefined;
  #descriptor: number | undefined;
  /** The modification time of the folder. */
  #folderTime: bigint | undefined;

  /** Throws a file system error if the file cannot be read. `check` may throw before it is read. */
  constructor(file: string, check: (stats: BigIntStats) => void) {
    this.file = file;
    this.#folderTime = this.#readFolderTime();
    try {
      this.#descriptor = openSync(file, openFlags);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
      return;
    }
    try {
      this.stats = fstatSync(this.#descriptor, { bigint: true });
      check(this.stats);
      this.bytes = readAll(this.#descriptor, Number(this.stats.size));
    } catch (error) {
      this.close();
      throw error;
    }
    if (!keepsOpen) this.close();
  }

  #readAgain(): Buffer {
    const { bytes } = this;
    return this.#descriptor === undefined
      ? readFileSync(this.file)
      : readAll(this.#descriptor, bytes?.length ?? 0);
  }

  #readFolderTime(): bigint | undefined {
    return statSync(dirname(this.file), { bigint: true, throwIfNoEntry: false })?.mtimeNs;
  }

  /**
   * False if an entry of the folder was created, moved or deleted since the file was read: programs that replace the file
   * create the new one first.
   */
  isFolderQuiet(): boolean {
    return this.#readFolderTime() === this.#folderTime;
  }

  /** Runs a change to the folder that `isFolderQuiet` ignores. */
  changeFolder<Result>(change: () => Result): Result {
    const wasQuiet = this.isFolderQuiet();
    const result = change();
    if (wasQuiet) this.#folderTime = this.#readFolderTime();
    return result;
  }

  /** Whether the contents are unchanged. */
  hasSameBytes(): boolean {
    const { bytes } = this;
    try {
      return bytes === undefined || this.#readAgain().equals(bytes);
    } catch {
      return false;
    }
  }

  /** Whether the path still refers to the same unchanged file, according to its metadata. */
  isInPlace(): boolean {
    try {
      const now = statSync(this.file, { bigint: true, throwIfNoEntry: false });
      return now === undefined || this.stats === undefined ? now === this.stats : isSameFile(now, this.stats);
    } catch {
      return false;
    }
  }

  /** The new contents of the original file if they have changed, even if it was replaced. */
  readLate(): Buffer | undefined {
    if (this.#descriptor === undefined || this.bytes === undefined) return undefined;
    const now = this.#readAgain();
    return now.equals(this.bytes) ? undefined : now;
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}
