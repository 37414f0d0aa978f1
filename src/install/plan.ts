import type { Scope } from "./clients/client.ts";
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
export interface InstallResult {
  client: string;
  /** As in the plan. */
  server: string | null;
  file: string;
  key: string;
  changed: boolean;
  /** Absolute path of a backup of the file; `null` if there was no file, or nothing changed. */
  backup: string | null;
  diff: string;
}
