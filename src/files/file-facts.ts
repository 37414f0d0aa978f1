import { constants, type Stats } from "node:fs";

/** Opening a FIFO for reading would wait for a writer, so nothing is opened in blocking mode; Windows has no such flag. */
export const openFlags: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

export function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown error";
}

/** What something is that is no regular file. */
export function describeFileType(stats: Pick<Stats, "isDirectory" | "isFIFO" | "isSocket">): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  return "a device";
}
