import { createHash } from "node:crypto";
import { join } from "node:path";
import { LockHeldError, lockFile } from "../../files/file-lock.ts";
import { makeFolders } from "../../files/make-folders.ts";

/**
 * Waits until no other process of this user changes a project, and keeps others waiting until released. `undefined` if
 * it takes too long. Throws if no lock can be made. The lock lies in `folder`, which is the user's, never in the project.
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
    const lock = await lockFile(file, {
      ...options,
      purpose,
      holders: folder,
      graceMs: Number.POSITIVE_INFINITY,
    });
    return () => lock.release();
  } catch (error) {
    if (error instanceof LockHeldError) return undefined;
    throw error;
  }
}
