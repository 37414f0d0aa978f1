import { join } from "node:path";
import { findHome as findOwnHome, findStateDirectory } from "../files/user-folders.ts";
import { readHost } from "./clients/locations.ts";

/** The folder of backups. Without a home folder, it is one that does not exist, so that --file still works. */
export function backupFolder(): string {
  const { platform, environment, home } = readHost();
  const state = findStateDirectory(platform, environment, home ?? findOwnHome()) ?? "/nonexistent";
  return join(state, "trailblaze/backups");
}
