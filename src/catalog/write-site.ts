import { lstatSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import { describeRefusal } from "../files/edit.ts";
import { errorCode } from "../files/file-errors.ts";
import { type Draft, makeFolders, overwriteFile, removeDrafts, writeBeside } from "../files/write-files.ts";
import { failure } from "../problems/index.ts";

/** The file that says which files of a folder are a catalog's. */
export const markerFile = ".trailblaze-catalog.json";

/** The index is replaced last. */
const siteFiles = ["catalog.json", "index.html"] as const;

export type SiteFile = (typeof siteFiles)[number];

const marker = `${JSON.stringify({ madeBy: "trailblaze catalog", files: siteFiles }, null, 2)}\n`;

const statOf = (path: string) => lstatSync(path, { throwIfNoEntry: false });

const taken = (folder: string, reason: string) => failure("CatalogFolderTaken", { folder, reason });

/** The files that the marker of a folder lists; `undefined` if it is not a catalog's. */
function readMarker(folder: string): unknown[] | undefined {
  const file = join(folder, markerFile);
  if (statOf(file)?.isFile() !== true) return undefined;
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    const isOurs = isRecord(value) && value.madeBy === "trailblaze catalog" && Array.isArray(value.files);
    return isOurs ? (value.files as unknown[]) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function readEntries(folder: string): string[] {
  try {
    return statOf(folder) === undefined ? [] : readdirSync(folder);
  } catch (error) {
    throw errorCode(error) === "ENOTDIR"
      ? taken(folder, "it is not a folder")
      : describeRefusal("use", folder, error);
  }
}

/** Throws `CatalogFolderTaken` if the folder is not ours, or a file of others would be replaced. */
function claim(folder: string): void {
  const own = readEntries(folder).length === 0 ? [] : readMarker(folder);
  if (own === undefined) throw taken(folder, "it has other files");
  for (const file of siteFiles) {
    const found = statOf(join(folder, file));
    if (found !== undefined && (!own.includes(file) || found.isDirectory()))
      throw taken(folder, `its \`${file}\` was not written by \`trailblaze catalog\``);
  }
}

const hasContent = (file: string, bytes: Buffer) =>
  statOf(file)?.isFile() === true && readFileSync(file).equals(bytes);

/**
 * Makes a folder a catalog: writes those of its files that differ, and says which. Other files stay, and links are not followed.
 * If that fails before the first file is replaced, the old catalog stays. `folder` is absolute. Throws `TrailblazeError`:
 * `CatalogFolderTaken`, and `InvalidArguments` if the folder cannot be written.
 */
export function writeSite(
  folder: string,
  texts: Readonly<Record<SiteFile, string>>,
): { file: string; changed: boolean }[] {
  claim(folder);
  const files = siteFiles.map((file) => {
    const path = join(folder, file);
    const bytes = Buffer.from(texts[file]);
    return { file, path, bytes, changed: !hasContent(path, bytes) };
  });
  const markerPath = join(folder, markerFile);
  const isNew = statOf(markerPath) === undefined;
  const drafts: Draft[] = [];
  let made: string[] = [];
  try {
    made = makeFolders(folder);
    // First, so that a later run knows the files even if this one is interrupted.
    if (!hasContent(markerPath, Buffer.from(marker))) overwriteFile(markerPath, Buffer.from(marker), {});
    // Both before one is replaced, so that a full disk or a missing permission changes nothing.
    for (const { path, bytes, changed } of files) {
      if (!changed) continue;
      removeDrafts(path);
      drafts.push(writeBeside(path, bytes, {}));
    }
    for (const draft of drafts) draft.commit();
  } catch (error) {
    for (const draft of drafts) draft.discard();
    if (isNew && files.every(({ path }) => statOf(path) === undefined)) removeNew(markerPath, made);
    throw describeRefusal("write", folder, error);
  }
  return files.map(({ file, changed }) => ({ file, changed }));
}

/** Leaves no marker and no empty folders of a catalog that was not written. */
function removeNew(markerPath: string, made: readonly string[]): void {
  try {
    rmSync(markerPath, { force: true });
    for (const folder of made) rmdirSync(folder);
  } catch {
    // The folder has other files by now, or cannot be written: the error of the caller says so.
  }
}
