import type { InspectionPort } from "../files/inspection-port.ts";
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

/** Finds likely replacements for missing definitions of one kind. Lists folders and does not open files. */
export class MissingDefinitions {
  readonly #key: KindKey;
  readonly #root: string;
  /** Files without a declaration: base names to file names. */
  readonly #orphans: ReadonlyMap<string, string>;
  readonly #declared: ReadonlySet<string>;
  readonly #combined: string | undefined;
  readonly #listFolder: (folder: string) => string[] | undefined;
  #misnamed: { folder: string; files: ReadonlyMap<string, string> }[] | undefined;
  readonly #findOrphan: (name: string) => string | undefined;
  #findEntry: ((name: string) => string | undefined) | undefined;

  constructor(
    port: InspectionPort,
    location: string,
    {
      key,
      root,
      fileNames,
      declared,
      combined,
    }: {
      key: KindKey;
      root: string;
      fileNames: readonly string[];
      declared: ReadonlySet<string>;
      combined: string | undefined;
    },
  ) {
    this.#key = key;
    this.#root = root;
    this.#declared = declared;
    this.#combined = combined;
    this.#listFolder = (folder) => port.listFiles(location, folder);
    const orphans = new Map<string, string>();
    for (const fileName of fileNames) {
      const { base, suffix } = splitFileName(fileName);
      if (isFormat(suffix) && !declared.has(base)) orphans.set(base, fileName);
    }
    this.#orphans = orphans;
    this.#findOrphan = createFinder([...orphans.keys()]);
  }

  /** The arguments of the problem for an item without a definition. `entries` is the content of the combined file. */
  describe(name: string, entries: Readonly<Record<string, unknown>> = {}): MissingDefinition {
    const folder = joinPath(this.#root, this.#key);
    const combined = this.#combined ?? `${folder}.{json,yaml,mjs}`;
    const described = { name, own: `${folder}/${name}.{json,yaml,mjs}`, combined };
    const suggestion = this.#suggest(name, folder, entries);
    return suggestion === undefined ? described : { ...described, meant: suggestion };
  }

  #suggest(
    name: string,
    folder: string,
    entries: Readonly<Record<string, unknown>>,
  ): MissingDefinition["meant"] {
    const near = this.#findOrphan(name);
    const fileName = near === undefined ? undefined : this.#orphans.get(near);
    if (fileName !== undefined) {
      const { suffix } = splitFileName(fileName);
      return { file: `${folder}/${fileName}`, renameTo: `${name}.${suffix}` };
    }
    // `entries` is always from the same file.
    this.#findEntry ??= createFinder(Object.keys(entries).filter((one) => !this.#declared.has(one)));
    const key = this.#findEntry(name);
    if (key !== undefined && this.#combined !== undefined)
      return { file: this.#combined, key, renameTo: name };
    for (const misnamed of this.#listMisnamed()) {
      const found = misnamed.files.get(name);
      if (found !== undefined) return { file: joinPath(misnamed.folder, found), moveTo: folder };
    }
    return undefined;
  }

  /** Folders that authors confuse with the right one: `tool`, `Tools`, the root itself. */
  #listMisnamed() {
    this.#misnamed ??= [...misnamedFolders(this.#key), ""].flatMap((one) => {
      const folder = one === "" ? this.#root : joinPath(this.#root, one);
      const names = this.#listFolder(folder);
      const files = new Map<string, string>();
      for (const fileName of names ?? []) {
        const { base, suffix } = splitFileName(fileName);
        if (isFormat(suffix) && !files.has(base)) files.set(base, fileName);
      }
      return names === undefined ? [] : [{ folder, files }];
    });
    return this.#misnamed;
  }
}

function misnamedFolders(key: KindKey): string[] {
  const names = kinds.filter((kind) => keyOfKind[kind] === key).flatMap((kind) => [kind, key]);
  return names
    .flatMap((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)])
    .filter((one) => one !== key);
}
