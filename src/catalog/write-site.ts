import { lstatSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import { applyEdits, describeFolder, isChange, planEdit, readTextFile } from "../files/edit.ts";
import { failure } from "../problems/index.ts";

/** The file that says which files of a folder are a catalog's. */
export const markerFile = ".trailblaze-catalog.json";

/** The index is replaced last. */
const siteFiles = ["catalog.json", "index.html"] as const;

export type SiteFile = (typeof siteFiles)[number];

const marker = `${JSON.stringify({ madeBy: "trailblaze catalog", files: siteFiles }, null, 2)}\n`;

/** The files that the marker of a folder lists; `undefined` if it is not a catalog's. */
function readMarker(folder: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(readTextFile(join(folder, markerFile)) ?? "null");
    const isOurs = isRecord(value) && value.madeBy === "trailblaze catalog" && Array.isArray(value.files);
    return isOurs ? (value.files as unknown[]) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Throws `CatalogFolderTaken` if the folder is not ours, or a file of others would be replaced. */
function claim(folder: string): void {
  const taken = (reason: string) => failure("CatalogFolderTaken", { folder, reason });
  const state = describeFolder(folder);
  if (state === "noFolder") throw taken("it is not a folder");
  const own = state === "filled" ? readMarker(folder) : [];
  if (own === undefined) throw taken("it has other files");
  for (const file of siteFiles) {
    const found = lstatSync(join(folder, file), { throwIfNoEntry: false });
    if (found !== undefined && !(own.includes(file) && found.isFile()))
      throw taken(`its \`${file}\` was not written by \`trailblaze catalog\``);
  }
}

/**
 * Makes a folder a catalog: writes those of its files that differ, all or none, and says which. Other files stay. `folder` is
 * absolute. Throws `TrailblazeError`: `CatalogFolderTaken`, and `InvalidArguments` if the folder cannot be written.
 */
export function writeSite(
  folder: string,
  texts: Readonly<Record<SiteFile, string>>,
): { file: string; changed: boolean }[] {
  claim(folder);
  const edits = siteFiles.map((file) => ({ file, edit: planEdit(join(folder, file), texts[file]) }));
  const ofMarker = planEdit(join(folder, markerFile), marker);
  applyEdits([ofMarker, ...edits.map(({ edit }) => edit)], { makesFolders: true });
  return edits.map(({ file, edit }) => ({ file, changed: isChange(edit) }));
}
