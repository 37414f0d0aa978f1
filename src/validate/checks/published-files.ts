import { isRecord } from "../../data/parse-json.ts";
import type { NeededFile } from "../facts/needed-files.ts";
import { type Check, type Finding, findInFile, findInItem, findInManifest } from "../finding.ts";

/** From so many files of one folder on, the folder as a whole is what is missing. */
const fewFiles = 4;

function describeFile({ file, item, path, importer }: NeededFile, others: number): Finding {
  const args = { file, importer, others };
  if (path !== undefined) return findInItem(item, "FileNotPublished", args, path);
  const { kind, name } = item.declaration;
  const place = item.base.length > 0 ? { kind } : { kind, item: name };
  // What a definition imports is reported where it is needed, as what it names is.
  return findInFile(importer === undefined ? file : (item.file ?? file), "FileNotPublished", args, place);
}

const folderOf = ({ file }: NeededFile) => file.slice(0, Math.max(0, file.lastIndexOf("/")));

/**
 * The files in their order; those of a folder with many as one group, where the first of them is. What is imported
 * stays by itself, with the module that imports it.
 */
function groupByFolder(files: readonly NeededFile[]): NeededFile[][] {
  const byFolder = new Map<string, NeededFile[]>();
  for (const one of files.filter(({ importer }) => importer === undefined)) {
    const group = byFolder.get(folderOf(one));
    if (group === undefined) byFolder.set(folderOf(one), [one]);
    else group.push(one);
  }
  return files.flatMap((one) => {
    const group = byFolder.get(folderOf(one)) ?? [];
    const isSingle = one.importer !== undefined || folderOf(one) === "" || group.length < fewFiles;
    if (isSingle) return [[one]];
    return group[0] === one ? [group] : [];
  });
}

/**
 * That npm would publish what the items need: definition files, modules of handlers, programs of servers, and what
 * these import. Many that items name in one folder are one problem.
 */
export const checkPublishedFiles: Check = function* ({ unpublished }) {
  for (const [first, ...others] of groupByFolder(unpublished)) {
    if (first !== undefined) yield describeFile(first, others.length);
  }
};

/** What makes the registry's search, and ours, find a pack. */
const keyword = "trailblaze-extension";
const lifecycleScripts = ["preinstall", "install", "postinstall"];

/**
 * What package.json says beside the field: commands that take over Trailblaze's, scripts that run on the user's machine,
 * the keyword that is searched.
 */
export const checkPackageManifest: Check = function* ({ inspected, claims = [] }) {
  for (const { path, ...claim } of claims) yield findInManifest("ReservedCommand", claim, path);
  const { scripts, keywords } = inspected.manifest.value;
  for (const script of lifecycleScripts) {
    if (isRecord(scripts) && Object.hasOwn(scripts, script)) {
      yield findInManifest("LifecycleScript", { script }, ["scripts", script]);
    }
  }
  if (!Array.isArray(keywords) || !keywords.includes(keyword)) {
    yield findInManifest("MissingKeyword", { keyword }, ["keywords"]);
  }
};
