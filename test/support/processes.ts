import { existsSync, readFileSync } from "node:fs";
import type { Stream } from "node:stream";

/** A process that has ended does not count, even if nobody has collected it yet. */
export function isRunning(pid: number): boolean {
  // 0 and below stand for whole groups, this run's own among them.
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    if (process.platform !== "linux") return true;
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

/** The process ids that were written so far, each on a line: a writer may have been killed before its first. */
export function readPids(file: string): number[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean).map(Number) : [];
}

/** Collects what a stream gives. Returns what it has given so far. */
export function collect(stream: Stream | null): () => string {
  let text = "";
  stream?.on("data", (chunk) => {
    text += chunk;
  });
  return () => text;
}
