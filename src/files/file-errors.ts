import { constants, type Stats } from "node:fs";

/** Non-blocking, because opening a named pipe would wait for a writer. Windows has no such flag. */
export const openFlags: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

export function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown error";
}

/** Describes an entry that is not a regular file. */
export function describeFileType(stats: Pick<Stats, "isDirectory" | "isFIFO" | "isSocket">): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  return "a device";
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the disk",
  EDQUOT: "no space is left for this user",
  EEXIST: "it already exists",
  EISDIR: "it is a folder",
  ENOENT: "its folder does not exist",
  ENOTDIR: "a part of its path is not a folder",
  ELOOP: "symbolic links form a cycle",
  ENAMETOOLONG: "its path is too long",
  EFBIG: "it would exceed the system's limit on file sizes",
};

/** Why the file system refuses a file; `undefined` for other errors. */
export function explainFileError(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("syscall" in error)) return undefined;
  const code = errorCode(error);
  return Object.hasOwn(reasons, code) ? reasons[code] : code;
}
