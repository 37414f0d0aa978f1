import { join } from "node:path";
import { editConfigFile, findRealFile, readConfigFile } from "../files/config-files.ts";
import type { LockOptions } from "../files/file-lock.ts";
import { findHome as findOwnHome, findStateDirectory } from "../files/user-folders.ts";
import { findClient } from "./clients/index.ts";
import { readHost } from "./clients/locations.ts";
import { decideEdit } from "./decide-edit.ts";
import { isWholeConfig, loadEditor } from "./editing/config-document.ts";
import type { InstallPlan, InstallResult } from "./plan.ts";

/** The folder of backups. Without a home folder, it is one that does not exist, so that --file still works. */
function backupFolder(): string {
  const { platform, environment, home } = readHost();
  const state = findStateDirectory(platform, environment, home ?? findOwnHome()) ?? "/nonexistent";
  return join(state, "trailblaze/backups");
}

/** See the public `applyPlan`. */
export async function applyPlan(plan: InstallPlan, options: LockOptions): Promise<InstallResult> {
  const { client: id, server, file, key, scope, format } = plan;
  const client = findClient(id);
  const editor = await loadEditor(format);
  const describe = (changed: boolean, backup: string | null, diff: string): InstallResult => ({
    client: id,
    server,
    file,
    key,
    changed,
    backup,
    diff,
  });
  const decide = (text: string | undefined) => decideEdit(client, editor, plan, text);
  const isWhole = isWholeConfig(editor);
  const realFile = await findRealFile(file);
  // Without a change, the file is not locked and its folder is not created.
  if (!decide(await readConfigFile(realFile, isWhole)).changed) return describe(false, null, "");
  const { home } = readHost();
  const { decision, backup } = await editConfigFile(realFile, decide, {
    ...options,
    isWhole,
    newMode: scope === "user" ? 0o600 : 0o644,
    backups: backupFolder(),
    keptFolders: [process.cwd(), ...(home === undefined ? [] : [home])],
  });
  return describe(decision.changed, backup, decision.diff);
}
