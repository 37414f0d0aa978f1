import { lstatSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import { describeRefusal } from "../files/author-files.ts";
import { errorCode, makeFolders } from "../files/make-folders.ts";
import { type Draft, overwriteFile, removeDrafts, writeBeside } from "../files/replace-file.ts";
import { failure } from "../problems/index.ts";

/** The file that says which files of a folder are a catalog's. */
export const markerFile = ".trailblaze-catalog.json";

/** What writing has changed. Paths are relative to the folder, with `/`. */
export interface WrittenSite {
  files: { file: string; changed: boolean }[];
  removed: string[];
}

/** Paths that a catalog can have. Others in a marker are not ours, whatever it says. */
const ownPath =
  /^(?:index\.html|catalog\.json|packs\/(?:[a-z0-9_-][a-z0-9._-]*\/)?[a-z0-9_-][a-z0-9._-]*\.html)$/;

const statOf = (path: string) => lstatSync(path, { throwIfNoEntry: false });

const taken = (folder: string, reason: string) => failure("CatalogFolderTaken", { folder, reason });

const formatMarker = (files: Iterable<string>) =>
  `${JSON.stringify({ madeBy: "trailblaze catalog", files: [...files].sort() }, null, 2)}\n`;

/** The paths that the marker of a folder lists; `undefined` if it is not a catalog's. */
function readMarker(folder: string): Set<string> | undefined {
  const file = join(folder, markerFile);
  if (statOf(file)?.isFile() !== true) return undefined;
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (!isRecord(value) || value.madeBy !== "trailblaze catalog" || !Array.isArray(value.files))
      return undefined;
    const paths = value.files.filter((path) => typeof path === "string");
    return new Set(paths.filter((path) => ownPath.test(path)));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The folders of a path inside the site, outermost first. */
function foldersOf(path: string): string[] {
  const segments = path.split("/").slice(0, -1);
  return segments.map((_, index) => segments.slice(0, index + 1).join("/"));
}

/** Whether every folder of a path is a real one, so that the path does not lead elsewhere. */
const isInside = (folder: string, path: string) =>
  foldersOf(path).every((one) => statOf(join(folder, one))?.isDirectory() === true);

/** What is at a path of the site. Throws `InvalidArguments` if the system refuses the path. */
function lookAt(path: string) {
  try {
    return statOf(path);
  } catch (error) {
    throw describeRefusal("write", path, error);
  }
}

/** The files that the folder has from us. Throws `CatalogFolderTaken` if it is not ours, or a file would be replaced. */
function claim(folder: string, files: ReadonlyMap<string, string>): Set<string> {
  const stats = lookAt(folder);
  const entries = stats === undefined ? [] : readEntries(folder);
  const own = entries.length === 0 ? new Set<string>() : readMarker(folder);
  if (own === undefined) throw taken(folder, "it has other files");
  for (const path of files.keys()) {
    for (const one of foldersOf(path)) {
      const found = lookAt(join(folder, one));
      if (found !== undefined && !found.isDirectory()) throw taken(folder, `its \`${one}\` is not a folder`);
    }
    const found = lookAt(join(folder, path));
    if (found !== undefined && (!own.has(path) || found.isDirectory()))
      throw taken(folder, `its \`${path}\` was not written by \`trailblaze catalog\``);
  }
  return own;
}

function readEntries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw errorCode(error) === "ENOTDIR"
      ? taken(folder, "it is not a folder")
      : describeRefusal("use", folder, error);
  }
}

const hasContent = (file: string, bytes: Buffer) =>
  lookAt(file)?.isFile() === true && readFileSync(file).equals(bytes);

function removeEmptyFolders(folder: string, paths: Iterable<string>): void {
  const folders = new Set([...paths].flatMap(foldersOf));
  for (const one of [...folders].sort((a, b) => b.length - a.length)) {
    try {
      if (isInside(folder, `${one}/x`)) rmdirSync(join(folder, one));
    } catch {
      // It has files, or is gone.
    }
  }
}

/**
 * Makes a folder a catalog of these files: writes those that differ, and deletes those of an earlier catalog that are no longer
 * in it. Files of others stay, and links are not followed. The index is replaced last. If that fails before the first file is
 * replaced, the old catalog stays. `folder` is absolute. Throws `TrailblazeError`: `CatalogFolderTaken`, and
 * `InvalidArguments` if the folder cannot be written.
 */
export function writeSite(folder: string, files: ReadonlyMap<string, string>): WrittenSite {
  const own = claim(folder, files);
  const all = [...files].map(([path, text]) => [path, Buffer.from(text)] as const);
  const changed = all.filter(([path, bytes]) => !hasContent(join(folder, path), bytes));
  const removed = [...own].filter((path) => !files.has(path) && isInside(folder, path)).sort();
  const marker = join(folder, markerFile);
  const mark = (paths: Iterable<string>) => {
    const bytes = Buffer.from(formatMarker(paths));
    if (!hasContent(marker, bytes)) overwriteFile(marker, bytes, {});
  };
  const drafts: Draft[] = [];
  let made: string[] = [];
  const isNew = statOf(marker) === undefined;
  try {
    made = makeFolders(folder);
    // First, so that a later run knows the files even if this one is interrupted.
    mark([...own, ...files.keys()]);
    // All of them before one is replaced, so that a full disk or a missing permission changes nothing.
    for (const [path, bytes] of changed) {
      const file = join(folder, path);
      makeFolders(dirname(file));
      removeDrafts(file);
      drafts.push(writeBeside(file, bytes, {}));
    }
    for (const draft of drafts) draft.commit();
  } catch (error) {
    for (const draft of drafts) draft.discard();
    undo({ folder, marker, made, own, isNew, paths: [...files.keys()] });
    throw describeRefusal("write", folder, error);
  }
  for (const path of removed) {
    const found = statOf(join(folder, path));
    if (found !== undefined && !found.isDirectory()) rmSync(join(folder, path));
  }
  removeEmptyFolders(folder, removed);
  mark(files.keys());
  const differs = new Set(changed.map(([path]) => path));
  return { files: all.map(([path]) => ({ file: path, changed: differs.has(path) })).sort(byFile), removed };
}

const byFile = (one: { file: string }, other: { file: string }) =>
  one.file < other.file ? -1 : Number(one.file > other.file);

interface Undo {
  folder: string;
  marker: string;
  made: readonly string[];
  own: ReadonlySet<string>;
  isNew: boolean;
  paths: readonly string[];
}

/** Leaves no empty folders and no marker of a catalog that was not written; the marker lists every file that was. */
function undo({ folder, marker, made, own, isNew, paths }: Undo): void {
  const written = [...new Set([...own, ...paths])].filter(
    (path) => isInside(folder, path) && statOf(join(folder, path)) !== undefined,
  );
  removeEmptyFolders(folder, paths);
  try {
    if (isNew && written.length === 0) rmSync(marker, { force: true });
    else overwriteFile(marker, Buffer.from(formatMarker(written)), {});
    for (const one of made.toReversed()) rmdirSync(one);
  } catch {
    // The folder has other files by now, or cannot be written: the error that led here says so.
  }
}
