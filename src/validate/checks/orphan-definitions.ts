import { isRecord } from "../../data/parse-json.ts";
import { isTypeScript, splitFileName } from "../../inspection/formats.ts";
import type { DefinitionFile } from "../../inspection/locate-definitions.ts";
import { type KindKey, keyOfKind } from "../../kinds.ts";
import { explainInvalidItemName } from "../../qualified-names/index.ts";
import { type Check, findInFile } from "../finding.ts";

/** Configuration files, which are not definitions. */
const configurationFiles: ReadonlySet<string> = new Set(["package.json", "tsconfig.json"]);

/** Whether a file may be a definition: not types, configuration, or the source of another file. */
function isDefinition({ file, format }: DefinitionFile, sameName: readonly DefinitionFile[]): boolean {
  const fileName = file.slice(file.lastIndexOf("/") + 1);
  if (configurationFiles.has(fileName)) return false;
  if (!isTypeScript(format)) return true;
  const isBuilt = sameName.some((other) => ["mjs", "js", "cjs"].includes(other.format));
  return !isBuilt && !splitFileName(fileName).base.endsWith(".d");
}

/** Whether the declarations of a kind are valid. Otherwise, every definition would appear to be undeclared. */
function isReadable(field: unknown, key: KindKey): boolean {
  return isRecord(field) && (field[key] === undefined || Array.isArray(field[key]));
}

/** The names of declarations, including invalid ones, whose definitions are not orphans. */
function declaredNames(field: unknown, key: KindKey): Set<string> {
  const list = isRecord(field) ? field[key] : undefined;
  const names = Array.isArray(list)
    ? list.map((entry: unknown) => (Array.isArray(entry) ? entry[0] : isRecord(entry) ? entry.name : entry))
    : [];
  return new Set(names.filter((name): name is string => typeof name === "string"));
}

/** Finds definitions of undeclared items: files in the folder of a kind, and keys of a combined file. */
export const checkOrphanDefinitions: Check = function* ({ inspected }) {
  const { manifest, files, combined } = inspected;
  for (const { kind, perItem, combined: combinedFile } of files) {
    const key = keyOfKind[kind];
    if (!isReadable(manifest.value.trailblaze, key)) continue;
    const declared = declaredNames(manifest.value.trailblaze, key);
    const isOrphan = (name: string) => !declared.has(name) && explainInvalidItemName(name) === undefined;
    for (const [name, sameName] of perItem) {
      if (!isOrphan(name)) continue;
      for (const one of sameName.filter((file) => isDefinition(file, sameName))) {
        yield findInFile(one.file, "OrphanDefinitionFile", { name, key }, { kind });
      }
    }
    if (combinedFile === undefined) continue;
    for (const name of Object.keys(combined.get(combinedFile.file) ?? {}).filter(isOrphan)) {
      const place = { kind, path: [name] };
      yield findInFile(combinedFile.file, "OrphanDefinitionFile", { name, key }, place);
    }
  }
};

/** Finds items that are defined both in their own file and in the combined file, which is ignored. */
export const checkShadowedDefinitions: Check = function* ({ inspected }) {
  const combinedFiles = new Map(inspected.files.map(({ kind, combined }) => [kind, combined?.file]));
  for (const { declaration, file } of inspected.items) {
    const { kind, name } = declaration;
    const combined = combinedFiles.get(kind);
    if (file === null || combined === undefined || file === combined) continue;
    if (!Object.hasOwn(inspected.combined.get(combined) ?? {}, name)) continue;
    const place = { kind, item: name, path: [name] };
    yield findInFile(combined, "ShadowedDefinition", { name, file, combined }, place);
  }
};
