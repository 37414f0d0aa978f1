import { isRecord } from "../../data/parse-json.ts";
import type { InspectedItem, InspectedPack } from "../../inspection/types.ts";
import { listSchemas, pathOf } from "../../json-schema/schema-nodes.ts";
import { surveySchema } from "../../json-schema/schema-survey.ts";
import { findHiddenCharacters, type HiddenCharacters } from "../../problems/hidden-characters.ts";
import type { Path, ProblemPlace } from "../../problems/index.ts";
import { quote } from "../../problems/index.ts";
import { countCharacters, longestText } from "../../problems/text.ts";
import { type Check, type Finding, findInItem, findInManifest } from "../finding.ts";
import { describeTool, findSchemas, findTools, placeInDefinition } from "./subjects.ts";

/** A text with characters that do not show, and the way to it; the key of a map is where its value is. */
interface OddText extends HiddenCharacters {
  path: Path;
}

/** The texts in a value, keys of maps included, that are not only what people see. */
function findOddTexts(value: unknown): OddText[] {
  const found: OddText[] = [];
  const path: (string | number)[] = [];

  function look(text: string): void {
    const { control, hidden } = findHiddenCharacters(text);
    if (control.length + hidden.length > 0) found.push({ control, hidden, path: [...path] });
  }

  function visit(inner: unknown): void {
    if (typeof inner === "string") look(inner);
    if (typeof inner !== "object" || inner === null) return;
    const isList = Array.isArray(inner);
    for (const [key, entry] of Object.entries(inner)) {
      path.push(isList ? Number(key) : key);
      if (!isList) look(key);
      visit(entry);
      path.pop();
    }
  }

  visit(value);
  return found;
}

/** A definition as it is written: what was made of short `parameters` says nothing of its own. */
function writtenDefinition({ shape, definition }: InspectedItem): unknown {
  if (shape !== "tool" || !isRecord(definition?.parameters)) return definition;
  const { inputSchema: _, ...written } = definition;
  return written;
}

/** The item whose declaration a path in the field leads into. */
function placeInField({ items }: InspectedPack, path: Path): ProblemPlace {
  const owner = items.find(({ declaration }) => declaration.path.every((key, index) => key === path[index]));
  return owner === undefined
    ? { path }
    : { path, kind: owner.declaration.kind, item: owner.declaration.name };
}

type CreateFinding = (code: "ControlCharacters" | "HiddenText", args: { codePoints: string[] }) => Finding;

function* report({ control, hidden }: OddText, create: CreateFinding): Generator<Finding> {
  if (control.length > 0) yield create("ControlCharacters", { codePoints: control });
  if (hidden.length > 0) yield create("HiddenText", { codePoints: hidden });
}

/**
 * True for the text of a file that cannot hold such a character, escaped or not, in JSON or YAML: nearly every file, and
 * quicker to see than by looking at each of its texts. False does not mean that it holds one.
 */
function isPlain(source: string): boolean {
  return !/[^\t\n\r\x20-\x7e]|\\[^nrt"\\/]/.test(source);
}

/** Characters that do not show, in every text that people or models may read. */
export const checkTexts: Check = function* ({ inspected }) {
  const { text, value } = inspected.manifest;
  if (!isPlain(text)) {
    for (const odd of findOddTexts(value.description)) {
      yield* report(odd, (code, args) => findInManifest(code, args, ["description", ...odd.path]));
    }
    for (const odd of findOddTexts(value.trailblaze)) {
      const place = placeInField(inspected, odd.path);
      yield* report(odd, (code, args) => findInManifest(code, args, ["trailblaze", ...odd.path], place));
    }
  }
  const plain = new Set(
    [...inspected.sources].flatMap(([file, source]) => (isPlain(source.text) ? file : [])),
  );
  for (const item of inspected.items) {
    if (item.file !== null && plain.has(item.file)) continue;
    for (const odd of findOddTexts(writtenDefinition(item))) {
      yield* report(odd, (code, args) => findInItem(item, code, args, odd.path));
    }
  }
};

const isBlank = (text: unknown) => typeof text !== "string" || text.trim() === "";

/** Items that neither their declaration nor their definition describes, and entries of bundles without description. */
export const checkDescriptions: Check = function* ({ inspected }) {
  for (const item of inspected.items) {
    const { declaration, definition, shape } = item;
    // A server's definition has no place for a description, and a bundle says of each entry what it is for.
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

/** What `LongText` says of a value, if it is a text that is too long. */
function measure(value: unknown): { characters: number; limit: number } | undefined {
  if (typeof value !== "string" || value.length <= longestText) return undefined;
  const characters = countCharacters(value);
  return characters > longestText ? { characters, limit: longestText } : undefined;
}

/** The descriptions that an item's definition has outside schemas, with their paths. */
function* findDescriptions({ definition }: InspectedItem): Generator<readonly [unknown, Path]> {
  yield [definition?.description, ["description"]];
  if (!Array.isArray(definition?.arguments)) return;
  for (const [index, argument] of definition.arguments.entries()) {
    if (isRecord(argument)) yield [argument.description, ["arguments", index, "description"]];
  }
}

/** Descriptions, those of parameters included, that would take up much of what a model can read. */
export const checkLongTexts: Check = function* ({ inspected }) {
  const { manifest, items } = inspected;
  const ofPackage = measure(manifest.value.description);
  if (ofPackage !== undefined) yield findInManifest("LongText", ofPackage, ["description"]);
  for (const item of items) {
    const { description, path, kind, name } = item.declaration;
    const declared = measure(description);
    if (declared !== undefined) {
      yield findInManifest("LongText", declared, ["trailblaze", ...path], { path, kind, item: name });
    }
    for (const [text, way] of findDescriptions(item)) {
      const found = measure(text);
      if (found !== undefined) yield findInItem(item, "LongText", found, way);
    }
  }
  for (const { item, definition, path, isEntry } of findTools(items)) {
    const found = isEntry ? measure(definition.description) : undefined;
    if (found !== undefined) yield findInItem(item, "LongText", found, [...path, "description"]);
  }
  for (const written of findSchemas(items)) {
    const survey = surveySchema(written.schema);
    if (survey === undefined) continue;
    const top = { schema: written.schema, parent: undefined, steps: [] };
    for (const node of listSchemas(top, survey.draft, new Set())) {
      const found = measure(node.schema.description);
      if (found === undefined) continue;
      const path = placeInDefinition(written, [...pathOf(node), "description"]);
      yield findInItem(written.tool.item, "LongText", found, path);
    }
  }
};
