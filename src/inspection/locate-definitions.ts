import { posix, win32 } from "node:path";
import type { FoundPack } from "../discovery/types.ts";
import type { Declaration, Extension } from "../extension-schema/index.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { type Kind, keyOfKind, kinds } from "../kinds.ts";
import { createProblem, type Problem, type ProblemContext } from "../problems/index.ts";
import { type Format, formats, isFormat, isTypeScript, splitFileName } from "./formats.ts";
import { createMissingFinder } from "./missing-definition.ts";
import { ReadOnce } from "./read-once.ts";

/** A file with one definition, or with definitions by name. */
export interface DefinitionFile {
  /** Relative to the package, with `/`. */
  file: string;
  format: Format;
}

/** A declared item and its definition file; `undefined` if the file is missing or unsupported. */
export interface LocatedItem {
  declaration: Declaration;
  source: (DefinitionFile & { combined: boolean }) | undefined;
}

/** The definition files of one kind. */
export interface LocatedKind {
  kind: Kind;
  /** Files of one item each, by the item's name, in order of preference. */
  perItem: ReadonlyMap<string, readonly DefinitionFile[]>;
  /** Files of unknown formats, by their name without extension. */
  unknown: ReadonlyMap<string, string>;
  combined: DefinitionFile | undefined;
  /** Finds likely replacements for missing definitions of this kind. */
  missing: () => ReturnType<typeof createMissingFinder>;
}

export interface LocatedDefinitions {
  items: LocatedItem[];
  kinds: LocatedKind[];
  problems: Problem[];
}

interface Candidates {
  known: Map<string, DefinitionFile[]>;
  /** Files of unknown formats, by their name without extension. */
  unknown: Map<string, string>;
}

function sortByFormat(files: DefinitionFile[]): void {
  files.sort((a, b) => formats.indexOf(a.format) - formats.indexOf(b.format));
}

function groupByName(fileNames: readonly string[], folder: string): Candidates {
  const known = new Map<string, DefinitionFile[]>();
  const unknown = new Map<string, string>();
  for (const fileName of fileNames) {
    const { base, suffix } = splitFileName(fileName);
    const file = joinPath(folder, fileName);
    if (!isFormat(suffix)) unknown.set(base, file);
    else if (known.has(base)) known.get(base)?.push({ file, format: suffix });
    else known.set(base, [{ file, format: suffix }]);
  }
  for (const files of known.values()) if (files.length > 1) sortByFormat(files);
  return { known, unknown };
}

/** Files that define an item again. TypeScript next to the JavaScript built from it does not count. */
function findDuplicates([used, ...others]: readonly DefinitionFile[]): DefinitionFile[] {
  const isBuilt = used !== undefined && ["mjs", "js", "cjs"].includes(used.format);
  return others.filter(({ format }) => !(isBuilt && isTypeScript(format)));
}

/** TypeScript is supported in packs under development if the running Node supports it. */
function explainUnsupported({ format }: DefinitionFile, { pack }: FoundPack) {
  if (!isTypeScript(format)) return undefined;
  if (pack.origin !== "self" && pack.origin !== "workspace") return "installedTypeScript";
  const { typescript } = process.features as { typescript?: string | false };
  return typescript ? undefined : "typesNotStripped";
}

/** The root relative to the package, `""` for the package itself; `undefined` for an absolute path. */
function normalizeRoot(root: string): string | undefined {
  if (posix.isAbsolute(root) || win32.isAbsolute(root)) return undefined;
  const normal = posix.normalize(root.replaceAll("\\", "/")).replace(/\/$/, "");
  return normal === "." ? "" : normal;
}

const joinPath = (folder: string, name: string) => (folder === "" ? name : `${folder}/${name}`);

/** Returns a function that tells whether a path inside a package may define declared items. Pure. */
export function createDefinitionFilter(extension: Extension): (path: string) => boolean {
  const root = normalizeRoot(extension.root) ?? "..";
  const bases = kinds.flatMap((kind) => {
    const combined = joinPath(root, keyOfKind[kind]);
    return [combined, ...extension[keyOfKind[kind]].map(({ name }) => `${combined}/${name}`)];
  });
  const known = new Set(bases);
  return (path) => {
    const { base, suffix } = splitFileName(path);
    return isFormat(suffix) && known.has(base);
  };
}

/**
 * Finds the definition file of each declared item. Prefers its own file to the combined one, and formats in order. Lists
 * folders and does not open files.
 */
export function locateDefinitions(
  port: InspectionPort,
  found: FoundPack,
  {
    context = "operation",
    only,
    once = new ReadOnce(),
  }: { context?: ProblemContext; only?: readonly Declaration[]; once?: ReadOnce } = {},
): LocatedDefinitions {
  const { extension, pack } = found;
  const located: LocatedDefinitions = { items: [], kinds: [], problems: [] };
  const root = normalizeRoot(extension.root);
  const declarations = only ?? kinds.flatMap((kind) => extension[keyOfKind[kind]]);
  const report = (...args: Parameters<typeof createProblem>) => located.problems.push(createProblem(...args));
  const withoutSource = () => declarations.map((declaration) => ({ declaration, source: undefined }));

  const inManifest = { pack: pack.name, file: "package.json", path: ["root"] };
  if (root === undefined || port.describePath(pack.location, root) === "outside") {
    report("DefinitionOutsidePackage", { what: extension.root }, inManifest, context);
    return { ...located, items: withoutSource() };
  }
  const list = (folder: string) =>
    once.get(["folder", pack.location, folder], () => {
      const fileNames = port.listFiles(pack.location, folder);
      return { fileNames, ...groupByName(fileNames ?? [], folder) };
    });
  const atRoot = list(root);
  if (atRoot.fileNames === undefined) {
    if (declarations.length > 0)
      report("MissingRootDirectory", { root: extension.root }, inManifest, context);
    return { ...located, items: withoutSource() };
  }

  for (const kind of kinds) {
    const key = keyOfKind[kind];
    const folder = joinPath(root, key);
    const { fileNames, known, unknown } = list(folder);
    const isOutside = fileNames === undefined && port.describePath(pack.location, folder) === "outside";
    if (isOutside) report("DefinitionOutsidePackage", { what: folder }, { pack: pack.name, kind }, context);
    const combinedFiles = atRoot.known.get(key) ?? [];
    const [combined] = combinedFiles;
    const missing = () =>
      once.get(["missing", pack.location, key], () => {
        const declared = new Set(extension[key].map(({ name }) => name));
        const place = { key, root, fileNames: fileNames ?? [], declared, combined: combined?.file };
        return createMissingFinder((one) => port.listFiles(pack.location, one), place);
      });
    located.kinds.push({ kind, perItem: known, unknown, combined, missing });
    if (combined !== undefined) reportDuplicates(combinedFiles, { pack: pack.name, kind });

    for (const declaration of declarations.filter((one) => one.kind === kind)) {
      const place = { pack: pack.name, kind, item: declaration.name };
      const own = known.get(declaration.name) ?? [];
      const [first] = own;
      const source = first ?? combined;
      if (first !== undefined) reportDuplicates(own, place);
      if (source === undefined && isOutside) {
        located.items.push({ declaration, source: undefined });
        continue;
      }
      if (source === undefined) {
        const odd = unknown.get(declaration.name) ?? atRoot.unknown.get(key);
        if (odd !== undefined) {
          const args = { file: odd, cause: "unknownFormat" } as const;
          report("UnsupportedDefinitionFormat", args, { ...place, file: odd }, context);
        } else {
          const file = `${folder}/${declaration.name}.json`;
          const args = missing()(declaration.name);
          report("MissingDefinitionFile", args, { ...place, file, path: declaration.path }, context);
        }
        located.items.push({ declaration, source: undefined });
        continue;
      }
      const cause = explainUnsupported(source, found);
      if (cause !== undefined) {
        const args = { file: source.file, cause } as const;
        report("UnsupportedDefinitionFormat", args, { ...place, file: source.file }, context);
        located.items.push({ declaration, source: undefined });
        continue;
      }
      located.items.push({ declaration, source: { ...source, combined: first === undefined } });
    }
  }
  return located;

  function reportDuplicates(
    files: readonly DefinitionFile[],
    place: { pack: string; kind: Kind; item?: string },
  ) {
    const [used] = files;
    const others = findDuplicates(files).map(({ file }) => file);
    if (used === undefined || others.length === 0) return;
    report("DuplicateDefinitionFiles", { used: used.file, others }, { ...place, file: used.file }, context);
  }
}
