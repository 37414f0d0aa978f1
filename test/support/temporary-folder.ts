import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryFolder {
  /** Absolute and free of symbolic links. */
  readonly path: string;
  /** May be called twice. */
  readonly remove: () => void;
}

const existing = new Set<string>();

// Folders whose test never came to an end.
process.on("exit", () => {
  for (const path of existing) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
});

export function makeTemporaryFolder(): TemporaryFolder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-test-")));
  existing.add(path);
  const remove = () => {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    existing.delete(path);
  };
  return { path, remove };
}
