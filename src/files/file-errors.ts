import { constants, type Stats } from "node:fs";

/** Non-blocking, because opening a named pipe would wait for a writer. Windows has no such flag. */
export const openFlags: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** The result, or `undefined` for anything that throws, such as a path that the file system refuses or a callback of the host. */
export function attempt<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

export function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown error";
}

/** What an opened file is, which is never a socket. */
export function describeFileType(stats: Pick<Stats, "isDirectory" | "isFIFO">): string {
  if (stats.isDirectory()) return "a folder";
  return stats.isFIFO() ? "a named pipe" : "a device";
}
