import { isRecord } from "../../data/parse-json.ts";
import { stringsIn } from "../../data/strings-in.ts";
import type { InspectedItem, InspectedPack } from "../../inspection/types.ts";
import { findHiddenCharacters, type HiddenCharacters } from "../../problems/hidden-characters.ts";
import type { Path, ProblemPlace } from "../../problems/index.ts";
import { quote } from "../../problems/index.ts";
import { type Check, type Finding, findInItem, findInManifest } from "../finding.ts";
import { describeTool, findTools } from "./subjects.ts";

/** Finds the strings in a value, including keys, with invisible characters. A key has the path of its value. */
function* findOddTexts(value: unknown): Generator<HiddenCharacters & { path: Path }> {
  for (const { text, path } of stringsIn(value, [], true)) {
    const { control, hidden } = findHiddenCharacters(text);
    if (control.length + hidden.length > 0) yield { control, hidden, path };
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

function* report(
  { control, hidden }: HiddenCharacters,
  create: (code: "ControlCharacters" | "HiddenText", args: { codePoints: string[] }) => Finding,
): Generator<Finding> {
  if (control.length > 0) yield create("ControlCharacters", { codePoints: control });
  if (hidden.length > 0) yield create("HiddenText", { codePoints: hidden });
}

/**
 * True if a JSON or YAML file certainly contains no such characters, escaped or not. A fast check that is true for nearly
 * every file.
 */
function isPlain(source: string): boolean {
  return !/[^\t\n\r\x20-\x7e]|\\[^nrt"\\/]/.test(source);
}

/** Finds invisible characters in every string that people or models may read. */
export const checkTexts: Check = function* ({ inspected }) {
  const { text, value } = inspected.manifest;
  for (const key of isPlain(text) ? [] : (["description", "trailblaze"] as const))
    for (const odd of findOddTexts(value[key])) {
      const place = key === "trailblaze" ? placeInField(inspected, odd.path) : {};
      yield* report(odd, (code, args) => findInManifest(code, args, [key, ...odd.path], place));
    }
  // Code may compute strings that its text does not show.
  const plainFiles = new Set<string | null>();
  for (const [file, source] of inspected.texts)
    if (/\.(?:json|ya?ml)$/.test(file) && isPlain(source.text)) plainFiles.add(file);
  for (const item of inspected.items)
    for (const odd of plainFiles.has(item.file) ? [] : findOddTexts(writtenDefinition(item)))
      yield* report(odd, (code, args) => findInItem(item, code, args, odd.path));
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
