import { posix, win32 } from "node:path";
import type { FoundPack } from "../discovery/types.ts";
import type { Declaration } from "../extension-schema/parse-extension.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { type DefinedKind, definedKinds, keyOfKind } from "../kinds.ts";
import type { ProblemArguments, ProblemCode, ProblemPlace } from "../problems/index.ts";

/** In order of preference. */
const formats = ["json", "yaml", "yml", "mjs", "js", "cjs", "ts", "mts"] as const;

export type Format = (typeof formats)[number];

export const isData = (format: Format): boolean => ["json", "yaml", "yml"].includes(format);
export const isTypeScript = (format: Format | undefined): boolean => format === "ts" || format === "mts";

/** A file with one definition, or with definitions by name. */
export interface DefinitionFile {
  /** Relative to the package, with `/`. */
  file: string;
  /** `undefined` for an unknown one. */
  format: Format | undefined;
}

export interface LocatedKind {
  kind: DefinedKind;
  folder: string;
  /** Whether the folder is a link that leads out of the package. */
  isOutside: boolean;
  /** Files of one item each, by the item's name, in order of preference. */
  perItem: ReadonlyMap<string, readonly DefinitionFile[]>;
  combined: DefinitionFile | undefined;
}

export type Report = <Code extends ProblemCode>(
  code: Code,
  args: ProblemArguments[Code],
  place: ProblemPlace,
) => void;

function groupByName(fileNames: readonly string[], folder: string): Map<string, DefinitionFile[]> {
  const files = new Map<string, DefinitionFile[]>();
  for (const fileName of fileNames) {
    const { name, ext } = posix.parse(fileName);
    const format = formats.find((one) => `.${one}` === ext);
    if (ext.length > 1)
      files.set(name, [...(files.get(name) ?? []), { file: posix.join(folder, fileName), format }]);
  }
  const rankOf = ({ format }: DefinitionFile) => [...formats, undefined].indexOf(format);
  for (const [name, group] of files) {
    // JavaScript is built from TypeScript next to it.
    const isBuilt = group.some(({ format = "" }) => ["mjs", "js", "cjs"].includes(format));
    const used = isBuilt ? group.filter(({ format }) => !isTypeScript(format)) : group;
    used.sort((one, other) => rankOf(one) - rankOf(other));
    files.set(name, used);
  }
  return files;
}

/** Reports several files of an item or a kind. */
function reportDuplicates(files: readonly DefinitionFile[], place: ProblemPlace, report: Report): void {
  const [used, ...others] = files.flatMap(({ file, format }) => (format === undefined ? [] : file));
  if (used === undefined || others.length === 0) return;
  report("DuplicateDefinitionFiles", { used, others }, { ...place, file: used });
}

/** Why a file cannot be read. TypeScript is supported in packs under development if the running Node supports it. */
function explainUnsupported({ format }: DefinitionFile, { pack }: FoundPack) {
  if (format === undefined) return "unknownFormat";
  if (!isTypeScript(format)) return undefined;
  if (pack.origin !== "self" && pack.origin !== "workspace") return "installedTypeScript";
  const { typescript } = process.features as { typescript?: string | false };
  return typescript ? undefined : "typesNotStripped";
}

/** Lists the definition files of a pack. Reports what concerns no single item. Opens no file. */
export function locateDefinitions(
  port: InspectionPort,
  { extension, pack: { location } }: FoundPack,
  report: Report,
): LocatedKind[] {
  const root = extension.root.replaceAll("\\", "/");
  const inManifest = { file: "package.json", path: ["root"] };
  // Windows' absolute paths are outside on every system.
  if (win32.isAbsolute(root) || port.describePath(location, root) === "outside") {
    report("DefinitionOutsidePackage", { what: extension.root }, inManifest);
    return [];
  }
  const inRoot = port.listFiles(location, root);
  if (inRoot === undefined) {
    const isNeeded = definedKinds.some((kind) => extension[keyOfKind[kind]].length > 0);
    if (isNeeded) report("MissingRootDirectory", { root: extension.root }, inManifest);
    return [];
  }
  const atRoot = groupByName(inRoot, root);
  return definedKinds.map((kind) => {
    const key = keyOfKind[kind];
    const folder = posix.join(root, key);
    const fileNames = port.listFiles(location, folder);
    const isOutside = fileNames === undefined && port.describePath(location, folder) === "outside";
    if (isOutside) report("DefinitionOutsidePackage", { what: folder }, { kind });
    const combined = atRoot.get(key) ?? [];
    reportDuplicates(combined, { kind }, report);
    return { kind, folder, isOutside, perItem: groupByName(fileNames ?? [], folder), combined: combined[0] };
  });
}

export function reportMissing(
  { folder, combined, perItem }: LocatedKind,
  { kind, name, path }: Declaration,
  report: Report,
): void {
  // One of a known format would have been used.
  const [unknown] = perItem.get(name) ?? [];
  if (unknown !== undefined) {
    const { file } = unknown;
    report("UnsupportedDefinitionFormat", { file, cause: "unknownFormat" }, { kind, item: name, file });
    return;
  }
  const args = {
    name,
    own: `${folder}/${name}.{json,yaml,mjs}`,
    combined: combined?.file ?? `${folder}.{json,yaml,mjs}`,
  };
  const file = combined?.file ?? `${folder}/${name}.json`;
  report("MissingDefinitionFile", args, { kind, item: name, file, path });
}

/**
 * Finds the definition file of a declared item. Prefers its own file to the combined one, and formats in order. Reports a file that
 * is missing or unsupported.
 */
export function locateItem(
  found: FoundPack,
  located: LocatedKind,
  declaration: Declaration,
  report: Report,
): { file: string; format: Format; combined: boolean } | undefined {
  const place = { kind: declaration.kind, item: declaration.name };
  const own = located.perItem.get(declaration.name) ?? [];
  const candidates = [own[0], located.combined].flatMap((one) => one ?? []);
  const used = candidates.find(({ format }) => format !== undefined) ?? candidates[0];
  if (used === undefined) {
    if (!located.isOutside) reportMissing(located, declaration, report);
    return undefined;
  }
  reportDuplicates(own, place, report);
  const { file, format } = used;
  const cause = explainUnsupported(used, found);
  if (cause !== undefined) report("UnsupportedDefinitionFormat", { file, cause }, { ...place, file });
  else if (format !== undefined) return { file, format, combined: used !== own[0] };
  return undefined;
}
