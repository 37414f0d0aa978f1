import { isRecord } from "../../data/parse-json.ts";
import type { InspectedItem, InspectedPack } from "../../inspection/types.ts";
import { findHiddenCharacters, type HiddenCharacters } from "../../problems/hidden-characters.ts";
import type { Path, ProblemPlace } from "../../problems/index.ts";
import { type Check, type Finding, findInItem, findInManifest } from "../finding.ts";

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
