import type { Scope } from "./clients/client.ts";
import type { ConfigFormatName } from "./editing/config-format.ts";
import type { JsonRecord } from "./editing/config-value.ts";

/** What is to be done to a file; found out anew when it is done, since the file may have changed by then. */
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

/** What an install or an uninstall would do. Data: it can be shown, stored and applied. */
export interface InstallPlan {
  /** The client's id. */
  client: string;
  /** Qualified name, or the short name of a server in the project's config. */
  server: string;
  /** Absolute path, as the client knows it. */
  file: string;
  /** The entry's name in the client's config. */
  key: string;
  changed: boolean;
  /** Unified diff; empty where nothing changes. */
  diff: string;
  scope: Scope;
  format: ConfigFormatName;
  edit: PlannedEdit;
  /** What people should know besides, a sentence each. */
  notes: string[];
}

/** What was done. */
export interface InstallResult {
  client: string;
  server: string;
  file: string;
  key: string;
  changed: boolean;
  /** Absolute path of a copy of the file as it was; `null` where there was none, or nothing changed. */
  backup: string | null;
  diff: string;
}
