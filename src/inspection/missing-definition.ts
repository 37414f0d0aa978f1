import { type KindKey, keyOfKind, kinds } from "../kinds.ts";
import type { MissingDefinition } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/index.ts";
import { isFormat, splitFileName } from "./formats.ts";

/** Ignores case, hyphens, underscores, periods and spaces. */
const plain = (name: string) => name.toLowerCase().replace(/[-_. ]/g, "");

/** Finds the name that one was probably meant to be; each is looked at once, however many are missing. */
function createFinder(candidates: readonly string[]): (name: string) => string | undefined {
  const byPlainName = new Map(candidates.map((one) => [plain(one), one]));
  return (name) => byPlainName.get(plain(name)) ?? findNearestNames(name, candidates)[0];
}

const joinPath = (folder: string, name: string) => (folder === "" ? name : `${folder}/${name}`);

/** Files without a declaration, by their name without its ending. */
function readFolder(
  fileNames: readonly string[],
  declared: ReadonlySet<string> = new Set(),
): Map<string, string> {
  const files = new Map<string, string>();
  for (const fileName of fileNames) {
    const { base, suffix } = splitFileName(fileName);
    if (isFormat(suffix) && !declared.has(base) && !files.has(base)) files.set(base, fileName);
  }
  return files;
}

/** Where definitions of one kind are: its folder, and its combined file if there is one. */
interface DefinitionPlace {
  key: KindKey;
  root: string;
  fileNames: readonly string[];
  declared: ReadonlySet<string>;
  combined: string | undefined;
}

/**
 * Returns a function that describes an item without a definition, with its likely replacement. `entries` is the content of the
 * combined file. Lists folders and does not open files.
 */
export function createMissingFinder(
  listFolder: (folder: string) => string[] | undefined,
  { key, root, fileNames, declared, combined }: DefinitionPlace,
): (name: string, entries?: Readonly<Record<string, unknown>>) => MissingDefinition {
  const folder = joinPath(root, key);
  const orphans = readFolder(fileNames, declared);
  const findOrphan = createFinder([...orphans.keys()]);
  let findEntry: ((name: string) => string | undefined) | undefined;
  let misnamed: { folder: string; files: ReadonlyMap<string, string> }[] | undefined;

  const suggest = (name: string, entries: Readonly<Record<string, unknown>>): MissingDefinition["meant"] => {
    const near = findOrphan(name);
    const fileName = near === undefined ? undefined : orphans.get(near);
    if (fileName !== undefined)
      return { file: `${folder}/${fileName}`, renameTo: `${name}.${splitFileName(fileName).suffix}` };
    findEntry ??= createFinder(Object.keys(entries).filter((one) => !declared.has(one)));
    const entry = findEntry(name);
    if (entry !== undefined && combined !== undefined) return { file: combined, key: entry, renameTo: name };
    // Folders that authors confuse with the right one: `tool`, `Tools`, the root itself.
    misnamed ??= [...misnamedFolders(key).map((one) => joinPath(root, one)), root].map((one) => ({
      folder: one,
      files: readFolder(listFolder(one) ?? []),
    }));
    const found = misnamed.find(({ files }) => files.has(name));
    return found && { file: joinPath(found.folder, `${found.files.get(name)}`), moveTo: folder };
  };

  return (name, entries = {}) => ({
    name,
    own: `${folder}/${name}.{json,yaml,mjs}`,
    combined: combined ?? `${folder}.{json,yaml,mjs}`,
    meant: suggest(name, entries),
  });
}

function misnamedFolders(key: KindKey): string[] {
  const names = kinds.filter((kind) => keyOfKind[kind] === key).flatMap((kind) => [kind, key]);
  return names
    .flatMap((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)])
    .filter((one) => one !== key);
}
