import { join } from "node:path";
import { ConfigFiles, type ConfigFilesOptions, type OpenedFile } from "../files/config-files.ts";
import { findHome as findOwnHome, findStateDirectory } from "../files/user-folders.ts";

import { readHost } from "./clients/locations.ts";
import type { CurrentFile } from "./decide-edit.ts";
import { ConfigDocument, openConfig } from "./editing/config-document.ts";
import type { ConfigEditor, ConfigSyntaxError } from "./editing/config-format.ts";
import { type Ledger, parseLedger } from "./ledger.ts";

/** The state folder without a home folder. It does not exist, so that --file still works. */
const noPlace = "/nonexistent";

/** The folder of the ledger and of backups. */
function findStateFolder(): string {
  const { platform, environment, home } = readHost();
  return join(findStateDirectory(platform, environment, home ?? findOwnHome()) ?? noPlace, "trailblaze");
}

export const ledgerPath = () => join(findStateFolder(), "installs.json");

export function openFiles(options: Omit<ConfigFilesOptions, "backups" | "holders"> = {}): ConfigFiles {
  const state = findStateFolder();
  return new ConfigFiles({ ...options, backups: join(state, "backups"), holders: join(state, "locks") });
}

/** The ledger; an unreadable one is empty. */
export function readLedger(files: ConfigFiles): Ledger {
  try {
    return parseLedger(files.read(ledgerPath()));
  } catch {
    return parseLedger(undefined);
  }
}

/** False for a blank or invalid config, which another program may be writing. */
export const isWholeConfig = (config: ConfigDocument | ConfigSyntaxError): boolean =>
  config instanceof ConfigDocument && config.text.trim() !== "";

/** A client's opened file and its parsed config. */
export interface OpenedConfig extends OpenedFile {
  config: ConfigDocument | ConfigSyntaxError;
}

/** Reads a client's file that another program may be writing. The caller closes its snapshot. */
export async function openConfigFile(
  files: ConfigFiles,
  editor: ConfigEditor,
  file: string,
  { avoidBusy = false } = {},
): Promise<OpenedConfig> {
  let config = openConfig(editor, "");
  const none = config;
  const isWhole = (text: string) => {
    config = openConfig(editor, text);
    return isWholeConfig(config);
  };
  const opened = await files.open(file, { isWhole, avoidBusy });
  return { ...opened, config: opened.text === undefined ? none : config };
}

/** A client's file as it was read, and the current ledger. */
export const describeCurrent = (
  files: ConfigFiles,
  realFile: string,
  { text, config }: Pick<OpenedConfig, "text" | "config">,
): CurrentFile => ({
  realFile,
  text,
  config,
  ledger: readLedger(files),
  madeFolders: [],
  isOtherFolder: (folder, than) => files.exists(folder) && !files.areSame(folder, than),
});

/** The current file of a client, and the ledger. */
export async function readCurrent(
  files: ConfigFiles,
  editor: ConfigEditor,
  file: string,
): Promise<CurrentFile> {
  const realFile = files.findRealFile(file);
  const opened = await openConfigFile(files, editor, realFile);
  opened.snapshot.close();
  return describeCurrent(files, realFile, opened);
}
