import type { Readable } from "node:stream";

export function readLines(
  stream: Readable,
  limit: number,
  onLine: (line: string) => void,
  onExcess: () => void,
): void;
