import { readdirSync } from "node:fs";
import { join } from "node:path";
import { findStateDirectory } from "../../files/user-folders.ts";

/** The folder with the journals of this user's changes; `undefined` if the user's home is unknown. */
export function findJournals(): string | undefined {
  const state = findStateDirectory();
  return state === undefined ? undefined : join(state, "trailblaze", "changes");
}

/** Whether a change of any project is under way or was interrupted. */
export function hasJournals(): boolean {
  try {
    return readdirSync(findJournals() ?? "").length > 0;
  } catch {
    return false;
  }
}
