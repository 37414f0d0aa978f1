import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attempt } from "./file-errors.ts";

const temporaries = new Set<string>();

/** Makes a folder, by its real path, that an exit removes, too. */
export function makeTemporary(prefix: string): string {
  const folder = realpathSync.native(mkdtempSync(join(tmpdir(), prefix)));
  temporaries.add(folder);
  return folder;
}

export function removeTemporary(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  temporaries.delete(folder);
}

process.once("exit", () => {
  // Windows keeps the folder of a child that still runs.
  for (const folder of temporaries) attempt(() => removeTemporary(folder));
});
