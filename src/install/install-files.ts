import { join } from "node:path";
import { ConfigFiles, type OpenedFile } from "../files/config-files.ts";
import type { CurrentFile } from "./decide-edit.ts";
import { type ConfigEditor, ConfigSyntaxError } from "./editing/config-format.ts";
import { parseConfigText } from "./editing/edit-config.ts";
import type { InstallMeans } from "./install-means.ts";
import { type Ledger, parseLedger } from "./ledger.ts";

/** The file that remembers what is ours. */
export const ledgerPath = ({ stateFolder }: InstallMeans) => join(stateFolder, "installs.json");

export const openFiles = ({ stateFolder, waitMs, graceMs, staleMs, onWait, onStep }: InstallMeans) =>
  new ConfigFiles({
    backups: join(stateFolder, "backups"),
    holders: join(stateFolder, "locks"),
    onStep,
    onWait,
    waitMs,
    graceMs,
    staleMs,
  });

/** The ledger; one that cannot be read says nothing. */
export function readLedger(means: InstallMeans, files: ConfigFiles): Ledger {
  try {
    return parseLedger(files.read(ledgerPath(means)));
  } catch {
    return parseLedger(undefined);
  }
}

/** Whether a text can be a whole config: one that another program is writing is blank or broken for a moment. */
export function isWholeConfig(editor: ConfigEditor, text: string): boolean {
  try {
    parseConfigText(editor, text);
    return text.trim() !== "";
  } catch (error) {
    if (error instanceof ConfigSyntaxError || error instanceof RangeError) return false;
    throw error;
  }
}

/** Reads a client's file that another program may be writing. Its snapshot is to be closed. */
export const openConfig = (
  files: ConfigFiles,
  editor: ConfigEditor,
  file: string,
  { avoidBusy = false } = {},
): Promise<OpenedFile> => files.open(file, { isWhole: (text) => isWholeConfig(editor, text), avoidBusy });

/** A client's file, as it was read, and the ledger as it is. */
export const describeCurrent = (
  means: InstallMeans,
  files: ConfigFiles,
  realFile: string,
  text: string | undefined,
): CurrentFile => ({
  realFile,
  text,
  ledger: readLedger(means, files),
  madeFolders: [],
  isOtherFolder: (folder, than) => files.exists(folder) && !files.areSame(folder, than),
});

/** A client's file and the ledger as they are. */
export async function readCurrent(
  means: InstallMeans,
  files: ConfigFiles,
  editor: ConfigEditor,
  file: string,
): Promise<CurrentFile> {
  const realFile = files.findRealFile(file);
  const { snapshot, text } = await openConfig(files, editor, realFile);
  snapshot.close();
  return describeCurrent(means, files, realFile, text);
}
