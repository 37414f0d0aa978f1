import { isRecord } from "../../data/parse-json.ts";
import { findMisspelledKeys } from "../../extension-schema/check-definition.ts";
import { schemaOf } from "../../extension-schema/definition-schema.ts";
import { type KindKey, keyOfKind } from "../../kinds.ts";
import { explainInvalidItemName } from "../../qualified-names/item-name.ts";
import { type Check, findInFile, findInItem } from "../finding.ts";
import { advertisedName } from "./tools.ts";

/** Files of a known format that are no definitions: types and configuration. */
const otherFiles = /\.d\.m?ts$|(?:^|\/)(?:package|tsconfig)\.json$/;

/** The names of declarations, including invalid ones; `undefined` if their list is invalid, so that all would seem undeclared. */
function declaredNames(field: unknown, key: KindKey): Set<unknown> | undefined {
  const list = isRecord(field) ? (field[key] ?? []) : undefined;
  return Array.isArray(list)
    ? new Set(list.map((one: unknown) => (Array.isArray(one) ? one[0] : isRecord(one) ? one.name : one)))
    : undefined;
}

/** Finds definitions of undeclared items: files in the folder of a kind, and keys of a combined file. */
export const checkOrphanDefinitions: Check = function* ({ inspected }) {
  const { manifest, files, definitions } = inspected;
  for (const { kind, perItem, combined: combinedFile } of files) {
    const key = keyOfKind[kind];
    const declared = declaredNames(manifest.value.trailblaze, key);
    if (declared === undefined) continue;
    const isOrphan = (name: string) => !declared.has(name) && explainInvalidItemName(name) === undefined;
    for (const [name, sameName] of perItem) {
      if (!isOrphan(name)) continue;
      for (const { file, format } of sameName)
        if (format !== undefined && !otherFiles.test(file))
          yield findInFile(file, "OrphanDefinitionFile", { name, key }, { kind });
    }
    const file = combinedFile?.file ?? "";
    for (const name of Object.keys(definitions.get(file) ?? {}).filter(isOrphan))
      yield findInFile(file, "OrphanDefinitionFile", { name, key }, { kind, path: [name] });
  }
};

/** Finds items that are defined both in their own file and in the combined file, which is ignored. */
export const checkShadowedDefinitions: Check = function* ({ inspected }) {
  for (const { declaration, file } of inspected.items) {
    const { kind, name } = declaration;
    const combined = inspected.files.find((one) => one.kind === kind)?.combined?.file;
    if (file === null || combined === undefined || file === combined) continue;
    if (!Object.hasOwn(inspected.definitions.get(combined) ?? {}, name)) continue;
    const place = { kind, item: name, path: [name] };
    yield findInFile(combined, "ShadowedDefinition", { name, file, combined }, place);
  }
};

/** Finds misspelled keys of definitions, whose values would be silently ignored. */
export const checkDefinitionKeys: Check = function* ({ inspected }) {
  for (const item of inspected.items) {
    const { shape, definition } = item;
    if (shape === undefined || definition === null) continue;
    for (const { key, suggestion, path } of findMisspelledKeys(schemaOf(shape), definition))
      yield findInItem(item, "UnknownDefinitionKey", { key, suggestion }, path);
  }
};

/** Finds servers, toolsets and prompts with a different name in their definition. Documents have it in `metadata`. */
export const checkItemNames: Check = function* ({ inspected }) {
  for (const item of inspected.items) {
    const { shape, definition, declaration } = item;
    if (declaration.kind === "tool" || definition === null) continue;
    const isDocument = shape === "serverDocument" || shape === "toolsBundle";
    const named = isDocument ? definition.metadata : definition;
    const name = isRecord(named) ? advertisedName(named) : undefined;
    if (name === undefined || name === declaration.name) continue;
    const path = isDocument ? ["metadata", "name"] : ["name"];
    yield findInItem(item, "NameMismatch", { name, item: declaration.name }, path);
  }
};
