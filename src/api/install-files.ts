import { join } from "node:path";
import type { CurrentFile } from "../install/decide-edit.ts";
import { type Ledger, parseLedger } from "../install/ledger.ts";
import { ConfigFiles } from "../io/config-files.ts";
import type { InstallMeans } from "./install-means.ts";

/** The file that remembers what is ours. */
export const ledgerPath = ({ stateFolder }: InstallMeans) => join(stateFolder, "installs.json");

export const openFiles = ({ stateFolder, waitMs, staleMs, onStep }: InstallMeans) =>
  new ConfigFiles({
    backups: join(stateFolder, "backups"),
    onStep,
    ...(waitMs === undefined ? {} : { waitMs }),
    ...(staleMs === undefined ? {} : { staleMs }),
  });

/** The ledger; one that cannot be read says nothing. */
export function readLedger(means: InstallMeans, files: ConfigFiles): Ledger {
  try {
    return parseLedger(files.read(ledgerPath(means)));
  } catch {
    return parseLedger(undefined);
  }
}

/** A client's file and the ledger as they are. */
export function readCurrent(means: InstallMeans, files: ConfigFiles, file: string): CurrentFile {
  const realFile = files.findRealFile(file);
  return {
    realFile,
    text: files.read(realFile),
    ledger: readLedger(means, files),
    madeFolders: [],
    isOtherFolder: (folder, than) => files.exists(folder) && !files.areSame(folder, than),
  };
}
