import { isRecord } from "../../data/parse-json.ts";
import { stringsIn } from "../../data/strings-in.ts";
import type { InspectedItem, InspectedPack } from "../../inspection/types.ts";
import { findHiddenCharacters } from "../../problems/hidden-characters.ts";
import type { Path, ProblemPlace } from "../../problems/index.ts";
import { quote } from "../../problems/index.ts";
import { type Check, findInItem, findInManifest } from "../finding.ts";
import { describeTool, findTools } from "./subjects.ts";

/** The invisible characters in the strings of a value, including keys, which have the path of their value. */
function* findOddTexts(value: unknown) {
  for (const { text, path } of stringsIn(value, [], true)) {
    const { control, hidden } = findHiddenCharacters(text);
    if (control.length > 0) yield { code: "ControlCharacters", codePoints: control, path } as const;
    if (hidden.length > 0) yield { code: "HiddenText", codePoints: hidden, path } as const;
  }
}

/** The definition without the `inputSchema` that was expanded from short `parameters`. */
function writtenDefinition({ shape, definition }: InspectedItem): unknown {
  if (shape !== "tool" || !isRecord(definition?.parameters)) return definition;
  const { inputSchema: _, ...written } = definition;
  return written;
}

/** The place of a path in the field, with the item that it belongs to. */
function placeInField({ items }: InspectedPack, path: Path): ProblemPlace {
  const owner = items.find(({ declaration }) => declaration.path.every((key, index) => key === path[index]));
  return owner === undefined
    ? { path }
    : { path, kind: owner.declaration.kind, item: owner.declaration.name };
}

/**
 * True if a JSON or YAML file certainly contains no such characters, escaped or not. A fast check that is true for nearly
 * every file.
 */
function isPlain(source: string): boolean {
  return !/[^\t\n\r\x20-\x7e]|\\[^nrt"\\/]/.test(source);
}

/** Finds invisible characters in every string that people or models may read; `checkSkills` does in skills. */
export const checkTexts: Check = function* ({ inspected }) {
  const { text, value } = inspected.manifest;
  for (const key of isPlain(text) ? [] : (["description", "trailblaze"] as const))
    for (const { code, codePoints, path } of findOddTexts(value[key])) {
      const place = key === "trailblaze" ? placeInField(inspected, path) : {};
      yield findInManifest(code, { codePoints }, [key, ...path], place);
    }
  // Code may compute strings that its text does not show.
  const plainFiles = new Set<string | null>();
  for (const [file, source] of inspected.texts)
    if (/\.(?:json|ya?ml)$/.test(file) && isPlain(source.text)) plainFiles.add(file);
  for (const item of inspected.items)
    for (const { code, codePoints, path } of plainFiles.has(item.file) || item.skill !== undefined
      ? []
      : findOddTexts(writtenDefinition(item)))
      yield findInItem(item, code, { codePoints }, path);
};

const isBlank = (text: unknown) => typeof text !== "string" || text.trim() === "";

/** Finds items and bundle entries without a description. */
export const checkDescriptions: Check = function* ({ inspected }) {
  for (const item of inspected.items) {
    const { declaration, definition, shape } = item;
    // Servers need no description, and bundles have descriptions of entries.
    if (definition === null || declaration.kind === "server" || shape === "toolsBundle") continue;
    if (!isBlank(declaration.description) || !isBlank(definition.description)) continue;
    const what = `The ${declaration.kind} ${quote(declaration.name)}`;
    yield findInItem(item, "MissingDescription", { what });
  }
  for (const tool of findTools(inspected.items)) {
    if (!tool.isEntry || !isBlank(tool.definition.description)) continue;
    yield findInItem(tool.item, "MissingDescription", { what: `The ${describeTool(tool)}` }, tool.path);
  }
};
