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

export function describeFileType(stats: Pick<Stats, "isDirectory" | "isFIFO" | "isSocket">): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  return "a device";
}
