import { createHash } from "node:crypto";
import { join } from "node:path";
import { LockHeldError, lockFile } from "../../files/file-lock.ts";
import { makeFolders } from "../../files/make-folders.ts";

/**
 * Locks a project against changes by other processes of this user. Returns a function that releases the lock, or
 * `undefined` if waiting takes too long. Throws if the lock cannot be created. `folder`, which contains it, is in the
 * user's home.
 */
export async function lockProject(
  folder: string,
  project: string,
  options: { waitMs: number; signal: AbortSignal | undefined; onWait?: ((what: string) => void) | undefined },
): Promise<(() => void) | undefined> {
  makeFolders(folder, 0o700);
  const file = join(folder, `project-${createHash("sha256").update(project).digest("hex")}`);
  const purpose = "is changing the packages of this project";
  try {
    const lock = await lockFile(file, { ...options, purpose });
    return () => lock.release();
  } catch (error) {
    if (error instanceof LockHeldError) return undefined;
    throw error;
  }
}
