import { type BigIntStats, closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode, openFlags } from "./make-folders.ts";

// Windows does not let a file that is open be replaced.
const keepsOpen = process.platform !== "win32";

const isSameFile = (a: BigIntStats, b: BigIntStats) =>
  a.dev === b.dev &&
  a.ino === b.ino &&
  a.size === b.size &&
  a.mtimeNs === b.mtimeNs &&
  a.ctimeNs === b.ctimeNs;

/** All bytes of an open file from its start, wherever it was read to before. */
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
 * A file as it was read. It is kept open, so that what another program writes into it is found even after a new file took
 * its place.
 */
export class FileSnapshot {
  readonly file: string;
  /** `undefined` where there is no file. */
  readonly bytes: Buffer | undefined;
  readonly stats: BigIntStats | undefined;
  #descriptor: number | undefined;
  /** When a file was last made, moved or removed in the folder. */
  #folderTime: bigint | undefined;

  /** Throws what the system says of a file that cannot be read. `check` may throw before it is read. */
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
   * False where something was made, moved or removed in the folder since the file was read: a program that replaces it by
   * another file makes that beforehand.
   */
  isFolderQuiet(): boolean {
    return this.#readFolderTime() === this.#folderTime;
  }

  /** Does something to the folder that is no other program's doing. */
  changeFolder<Result>(change: () => Result): Result {
    const wasQuiet = this.isFolderQuiet();
    const result = change();
    if (wasQuiet) this.#folderTime = this.#readFolderTime();
    return result;
  }

  /** Whether all bytes are still as they were read. */
  hasSameBytes(): boolean {
    const { bytes } = this;
    try {
      return bytes === undefined || this.#readAgain().equals(bytes);
    } catch {
      return false;
    }
  }

  /** Whether the path still leads to what was read, by one quick look. */
  isInPlace(): boolean {
    try {
      const now = statSync(this.file, { bigint: true, throwIfNoEntry: false });
      return now === undefined || this.stats === undefined ? now === this.stats : isSameFile(now, this.stats);
    } catch {
      return false;
    }
  }

  /** What the file holds by now, if that is not what was read; also where another file took its place. */
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
