import { posix, win32 } from "node:path";
import type { FoundPack } from "../discovery/types.ts";
import type { Declaration } from "../extension-schema/index.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { definedKinds, type Kind, keyOfKind } from "../kinds.ts";
import { createProblem, type Problem, type ProblemContext, type ProblemPlace } from "../problems/index.ts";

/** Extensions of definition files, in order of preference. */
const formats = ["json", "yaml", "yml", "mjs", "js", "cjs", "ts", "mts"] as const;

export type Format = (typeof formats)[number];

export const isData = (format: Format): boolean => ["json", "yaml", "yml"].includes(format);
export const isTypeScript = (format: Format): boolean => format === "ts" || format === "mts";

const isFormat = (suffix: string): suffix is Format => (formats as readonly string[]).includes(suffix);

/** Splits a file name at the last dot. */
export function splitFileName(fileName: string): { base: string; suffix: string } {
  const dot = fileName.lastIndexOf(".");
  return dot < 0
    ? { base: fileName, suffix: "" }
    : { base: fileName.slice(0, dot), suffix: fileName.slice(dot + 1) };
}

/** A file with one definition, or with definitions by name. */
export interface DefinitionFile {
  /** Relative to the package, with `/`. */
  file: string;
  format: Format;
}

/** The file of an item; `combined` if it has definitions by name. */
export type DefinitionSource = DefinitionFile & { combined: boolean };

interface FilesByName {
  /** In order of preference. */
  known: ReadonlyMap<string, readonly DefinitionFile[]>;
  /** Files of unknown formats. */
  unknown: ReadonlyMap<string, string>;
}

/** The definition files of one kind. */
export interface LocatedKind {
  kind: Kind;
  folder: string;
  /** Whether the folder is a link that leads out of the package. */
  isOutside: boolean;
  /** Files of one item each, by the item's name. */
  perItem: FilesByName;
  combined: DefinitionFile | undefined;
  /** A file in place of the combined one, of an unknown format. */
  oddCombined: string | undefined;
}

function groupByName(fileNames: readonly string[], folder: string): FilesByName {
  const known = new Map<string, DefinitionFile[]>();
  const unknown = new Map<string, string>();
  for (const fileName of fileNames) {
    const { base, suffix } = splitFileName(fileName);
    const file = joinPath(folder, fileName);
    if (!isFormat(suffix)) unknown.set(base, file);
    else if (known.has(base)) known.get(base)?.push({ file, format: suffix });
    else known.set(base, [{ file, format: suffix }]);
  }
  for (const files of known.values())
    files.sort((one, other) => formats.indexOf(one.format) - formats.indexOf(other.format));
  return { known, unknown };
}

/** The problem of an item or a kind with several files. TypeScript next to the JavaScript built from it does not count. */
function findDuplicates(
  [used, ...others]: readonly DefinitionFile[],
  place: ProblemPlace,
  context: ProblemContext,
): Problem[] {
  const isBuilt = used !== undefined && ["mjs", "js", "cjs"].includes(used.format);
  const again = others.filter(({ format }) => !(isBuilt && isTypeScript(format))).map(({ file }) => file);
  if (used === undefined || again.length === 0) return [];
  const args = { used: used.file, others: again };
  return [createProblem("DuplicateDefinitionFiles", args, { ...place, file: used.file }, context)];
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

/** Lists the definition files of a pack, and the problems that concern no single item. Opens no file. */
export function locateDefinitions(
  port: InspectionPort,
  { extension, pack }: FoundPack,
  context: ProblemContext,
): { kinds: LocatedKind[]; problems: Problem[] } {
  const root = normalizeRoot(extension.root);
  const inManifest = { pack: pack.name, file: "package.json", path: ["root"] };
  if (root === undefined || port.describePath(pack.location, root) === "outside") {
    const args = { what: extension.root };
    return { kinds: [], problems: [createProblem("DefinitionOutsidePackage", args, inManifest, context)] };
  }
  const inRoot = port.listFiles(pack.location, root);
  if (inRoot === undefined) {
    const isNeeded = definedKinds.some((kind) => extension[keyOfKind[kind]].length > 0);
    const missing = createProblem("MissingRootDirectory", { root: extension.root }, inManifest, context);
    return { kinds: [], problems: isNeeded ? [missing] : [] };
  }
  const atRoot = groupByName(inRoot, root);
  const problems: Problem[] = [];
  const located = definedKinds.map((kind): LocatedKind => {
    const key = keyOfKind[kind];
    const folder = joinPath(root, key);
    const place = { pack: pack.name, kind };
    const fileNames = port.listFiles(pack.location, folder);
    const isOutside = fileNames === undefined && port.describePath(pack.location, folder) === "outside";
    if (isOutside) problems.push(createProblem("DefinitionOutsidePackage", { what: folder }, place, context));
    const combined = atRoot.known.get(key) ?? [];
    problems.push(...findDuplicates(combined, place, context));
    const perItem = groupByName(fileNames ?? [], folder);
    const oddCombined = atRoot.unknown.get(key);
    return { kind, folder, isOutside, perItem, combined: combined[0], oddCombined };
  });
  return { kinds: located, problems };
}

/** The problem of an item without a definition. */
export function explainMissing(
  { pack }: FoundPack,
  located: LocatedKind,
  { kind, name, path }: Declaration,
  context: ProblemContext,
): Problem {
  const { folder, combined, perItem, oddCombined } = located;
  const place = { pack: pack.name, kind, item: name };
  const odd = perItem.unknown.get(name) ?? (combined === undefined ? oddCombined : undefined);
  if (odd !== undefined) {
    const args = { file: odd, cause: "unknownFormat" } as const;
    return createProblem("UnsupportedDefinitionFormat", args, { ...place, file: odd }, context);
  }
  const args = {
    name,
    own: `${folder}/${name}.{json,yaml,mjs}`,
    combined: combined?.file ?? `${folder}.{json,yaml,mjs}`,
  };
  const file = combined?.file ?? `${folder}/${name}.json`;
  return createProblem("MissingDefinitionFile", args, { ...place, file, path }, context);
}

/**
 * Finds the definition file of a declared item. Prefers its own file to the combined one, and formats in order. `source` is
 * `undefined` if the file is missing or unsupported.
 */
export function locateItem(
  found: FoundPack,
  located: LocatedKind,
  declaration: Declaration,
  context: ProblemContext,
): { source: DefinitionSource | undefined; problems: Problem[] } {
  const place = { pack: found.pack.name, kind: declaration.kind, item: declaration.name };
  const own = located.perItem.known.get(declaration.name) ?? [];
  const [first] = own;
  const used = first ?? located.combined;
  if (used === undefined) {
    const problems = located.isOutside ? [] : [explainMissing(found, located, declaration, context)];
    return { source: undefined, problems };
  }
  const problems = findDuplicates(own, place, context);
  const cause = explainUnsupported(used, found);
  if (cause === undefined) return { source: { ...used, combined: first === undefined }, problems };
  const { file } = used;
  problems.push(createProblem("UnsupportedDefinitionFormat", { file, cause }, { ...place, file }, context));
  return { source: undefined, problems };
}
