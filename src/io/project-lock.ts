import { createHash, randomUUID } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "./is-running.ts";

const pollMs = 100;

/** Takes away a lock whose process is gone. One that is being written has no number yet, and counts as held. */
function removeStale(file: string): void {
  const isStale = (path: string) => {
    const pid = Number(readFileSync(path, "utf8"));
    return pid > 0 && !isRunning(pid);
  };
  try {
    if (!isStale(file)) return;
    // Put aside first: another may have taken it away meanwhile, and made its own.
    const aside = `${file}.${randomUUID()}`;
    renameSync(file, aside);
    if (isStale(aside)) rmSync(aside, { force: true });
    else renameSync(aside, file);
  } catch {
    // Released, or taken away by another.
  }
}

/**
 * Waits until no other process of this user changes a project, and keeps others waiting until released. `undefined` where
 * it takes too long. Throws where no lock can be made. The lock lies in `folder`, which is the user's, never in the project.
 */
export async function lockProject(
  folder: string,
  project: string,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal | undefined },
): Promise<(() => void) | undefined> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${createHash("sha256").update(project).digest("hex")}.lock`);
  const giveUpAt = performance.now() + waitMs;
  for (;;) {
    try {
      const descriptor = openSync(file, "wx", 0o600);
      writeSync(descriptor, String(process.pid));
      closeSync(descriptor);
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    removeStale(file);
    if (performance.now() > giveUpAt || signal?.aborted) return undefined;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
