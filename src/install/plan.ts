import { join } from "node:path";
import { editConfigFile, findRealFile, readConfigFile } from "../files/edit.ts";
import type { LockOptions } from "../files/file-lock.ts";
import { findHome as findOwnHome, findUserFolder } from "../files/user-folders.ts";
import type { Scope } from "./clients/client.ts";
import { findClient } from "./clients/index.ts";
import { readHost } from "./clients/locations.ts";
import { decideEdit } from "./decide-edit.ts";
import { loadEditor } from "./editing/config-document.ts";
import type { ConfigFormatName, JsonRecord } from "./editing/config-format.ts";

/** An edit of a file. It is decided again when it is applied, because the file may have changed. */
export type PlannedEdit =
  | {
      action: "install";
      entry: JsonRecord;
      force: boolean;
    }
  | {
      action: "uninstall";
      force: boolean;
    };

/**
 * What an install or an uninstall would do. Plain data: it can be stored and applied. `edit` contains the values of
 * variables and headers, which may be secrets.
 */
export interface InstallPlan {
  /** The client's id. */
  client: string;
  /**
   * Qualified name of a server, or of a pack without servers; the name of a server in the project's config; `null` for the
   * project's session.
   */
  server: string | null;
  /** Absolute path, as the client knows it. */
  file: string;
  /** The entry's key in the client's config. */
  key: string;
  changed: boolean;
  /** Unified diff; empty if nothing changes. */
  diff: string;
  scope: Scope;
  format: ConfigFormatName;
  edit: PlannedEdit;
  /** What users should know, as sentences. */
  notes: string[];
}

/** What was done. */
export interface InstallResult
  extends Pick<InstallPlan, "client" | "server" | "file" | "key" | "changed" | "diff"> {
  /** Absolute path of a backup of the file; `null` if there was no file, or nothing changed. */
  backup: string | null;
}

/** The folder of backups. Without a home folder, it is one that does not exist, so that --file still works. */
function backupFolder(): string {
  const { platform, environment, home } = readHost();
  const state = findUserFolder("state", platform, environment, home ?? findOwnHome()) ?? "/nonexistent";
  return join(state, "trailblaze/backups");
}

/** See the public `applyPlan`. */
export async function applyPlan(plan: InstallPlan, options: LockOptions): Promise<InstallResult> {
  const { client: id, server, file, key, scope, format } = plan;
  const client = findClient(id);
  const editor = await loadEditor(format);
  const unchanged: InstallResult = { client: id, server, file, key, changed: false, backup: null, diff: "" };
  const decide = (text: string | undefined) => decideEdit(client, editor, plan, text);
  const realFile = findRealFile(file);
  // Without a change, the file is not locked and its folder is not created.
  if (!decide(readConfigFile(realFile)).changed) return unchanged;
  const { home } = readHost();
  const { decision, backup } = await editConfigFile(realFile, decide, {
    ...options,
    newMode: scope === "user" ? 0o600 : 0o644,
    backups: backupFolder(),
    keptFolders: [process.cwd(), ...(home === undefined ? [] : [home])],
  });
  return { ...unchanged, changed: decision.changed, backup, diff: decision.diff };
}
