import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { describeFileType, errorCode, openFlags } from "./make-folders.ts";
import { findPolicyLocation, type PolicyLocation } from "./policy-location.ts";

/** Limit on the size of a policy. */
const maximumBytes = 1 << 20;

/** The result of reading the administrator's policy. Reasons continue after the file's name. */
export type PolicyFileRead =
  | { state: "absent" }
  | { state: "read"; file: string; bytes: Uint8Array }
  /** Someone other than an administrator may have written it. */
  | { state: "unsafe"; file: string; reason: string }
  | { state: "unreadable"; file: string; reason: string };

const noFollow = constants.O_NOFOLLOW ?? 0;
const writableByOthers = 0o022;

/** Why users other than the owner could have changed a file or a folder; `undefined` if they could not. */
function explainUnsafe({ uid, mode }: Stats, owner: number): string | undefined {
  // Windows has no such owners and modes; its folder of programs is writable only by administrators.
  if (process.platform === "win32") return undefined;
  if (uid !== owner) return "does not belong to root";
  return (mode & writableByOthers) === 0 ? undefined : "is writable by its group or by everyone";
}

/**
 * Reads the policy. Where there is none, this costs one system call. Follows no link, opens nothing but a regular file, and
 * reads only what an administrator alone can have written.
 */
export function readPolicyFile({ file, owner }: PolicyLocation = findPolicyLocation()): PolicyFileRead {
  const unsafe = (reason: string): PolicyFileRead => ({ state: "unsafe", file, reason });
  const unreadable = (reason: string): PolicyFileRead => ({ state: "unreadable", file, reason });
  let descriptor: number;
  try {
    const folder = lstatSync(dirname(file), { throwIfNoEntry: false });
    if (folder === undefined) return { state: "absent" };
    if (folder.isSymbolicLink()) return unsafe("its folder is a symbolic link");
    if (!folder.isDirectory()) return unsafe("its folder is not a folder");
    const fault = explainUnsafe(folder, owner);
    const found = lstatSync(file, { throwIfNoEntry: false });
    // Without a file, the folder decides nothing.
    if (found === undefined) return { state: "absent" };
    if (fault !== undefined) return unsafe(`its folder ${fault}`);
    if (found.isSymbolicLink()) return unsafe("it is a symbolic link, not a regular file");
    if (!found.isFile()) return unsafe(`it is ${describeFileType(found)}, not a regular file`);
    descriptor = openSync(file, openFlags | noFollow);
  } catch (error) {
    const code = errorCode(error);
    return code === "ELOOP"
      ? unsafe("it is a symbolic link, not a regular file")
      : unreadable(`it cannot be read (${code})`);
  }
  try {
    // Of what is open: the file may have been replaced since.
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return unsafe(`it is ${describeFileType(stats)}, not a regular file`);
    const fault = explainUnsafe(stats, owner);
    if (fault !== undefined) return unsafe(`it ${fault}`);
    if (stats.size > maximumBytes)
      return unreadable(`it has ${stats.size} bytes, but the limit is ${maximumBytes}`);
    return { state: "read", file, bytes: readFileSync(descriptor) };
  } catch (error) {
    return unreadable(`it cannot be read (${errorCode(error)})`);
  } finally {
    closeSync(descriptor);
  }
}
