import { join } from "node:path";
import { ConfigFiles, type ConfigFilesOptions, type OpenedFile } from "../files/config-files.ts";
import { findHome as findOwnHome } from "../files/make-folders.ts";
import { findStateDirectory } from "../processes/log-folder.ts";
import { readHost } from "./clients/locations.ts";
import type { CurrentFile } from "./decide-edit.ts";
import { ConfigDocument, openConfig } from "./editing/config-document.ts";
import type { ConfigEditor, ConfigSyntaxError } from "./editing/config-format.ts";
import { type Ledger, parseLedger } from "./ledger.ts";

/** Where the state of Trailblaze lies without a home: a folder that does not exist, so that --file works all the same. */
const noPlace = "/nonexistent";

/** The folder of the ledger and of backups. */
function findStateFolder(): string {
  const { platform, environment, home } = readHost();
  return join(findStateDirectory(platform, environment, home ?? findOwnHome()) ?? noPlace, "trailblaze");
}

/** The file that remembers what is ours. */
export const ledgerPath = () => join(findStateFolder(), "installs.json");

export function openFiles(options: Omit<ConfigFilesOptions, "backups" | "holders"> = {}): ConfigFiles {
  const state = findStateFolder();
  return new ConfigFiles({ ...options, backups: join(state, "backups"), holders: join(state, "locks") });
}

/** The ledger; one that cannot be read says nothing. */
export function readLedger(files: ConfigFiles): Ledger {
  try {
    return parseLedger(files.read(ledgerPath()));
  } catch {
    return parseLedger(undefined);
  }
}

/** Whether a config can be whole: one that another program is writing is blank or broken for a moment. */
export const isWholeConfig = (config: ConfigDocument | ConfigSyntaxError): boolean =>
  config instanceof ConfigDocument && config.text.trim() !== "";

/** A client's file as it was opened, and what it holds. */
export interface OpenedConfig extends OpenedFile {
  config: ConfigDocument | ConfigSyntaxError;
}

/** Reads a client's file that another program may be writing. Its snapshot is to be closed. */
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

/** A client's file, as it was read, and the ledger as it is. */
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

/** A client's file and the ledger as they are. */
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
