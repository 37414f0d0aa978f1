import { stringsIn } from "../../data/json-values.ts";
import { createLineIndex } from "../../data/line-index.ts";
import { isRecord } from "../../data/parse-json.ts";
import type { InspectedItem, InspectedPack } from "../../inspection/types.ts";
import { findHiddenCharacters } from "../../problems/hidden-characters.ts";
import { type Path, type ProblemPlace, quote } from "../../problems/index.ts";
import { instructionsFile } from "../../skills/skill-folders.ts";
import { type Check, findInFile, findInItem, findInManifest } from "../finding.ts";
import { advertisedName, findTools } from "./tools.ts";

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

/** Finds invisible characters in every string that people or models may read; `checkSkills` does in skills. */
export const checkTexts: Check = function* ({ inspected }) {
  const { value } = inspected.manifest;
  for (const key of ["description", "trailblaze"] as const)
    for (const { code, codePoints, path } of findOddTexts(value[key])) {
      const place = key === "trailblaze" ? placeInField(inspected, path) : {};
      yield findInManifest(code, { codePoints }, [key, ...path], place);
    }
  for (const item of inspected.items)
    for (const { code, codePoints, path } of item.skill ? [] : findOddTexts(writtenDefinition(item)))
      yield findInItem(item, code, { codePoints }, path);
};

const isBlank = (text: unknown) => typeof text !== "string" || text.trim() === "";

export const checkDescriptions: Check = function* ({ inspected }) {
  for (const item of inspected.items) {
    const { declaration, definition, shape } = item;
    // Servers need no description, and bundles have descriptions of entries.
    if (definition === null || declaration.kind === "server" || shape === "toolsBundle") continue;
    if (!isBlank(declaration.description) || !isBlank(definition.description)) continue;
    const what = `The ${declaration.kind} ${quote(declaration.name)}`;
    yield findInItem(item, "MissingDescription", { what });
  }
  for (const { item, definition, path, isEntry } of findTools(inspected.items)) {
    if (!isEntry || !isBlank(definition.description)) continue;
    const name = advertisedName(definition);
    const entry = name === undefined ? `${Number(path.at(-1)) + 1}` : quote(name);
    const what = `The entry ${entry} of the toolset ${quote(item.declaration.name)}`;
    yield findInItem(item, "MissingDescription", { what }, path);
  }
};

/** The targets of links of Markdown, in the text and at its end. */
const links = /\]\(\s*<?([^()<>\s]+)|^ {0,3}\[[^\]\n]+\]:\s*<?([^<>\s]+)/gm;
const code = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~)).*\n[\s\S]*?(?:^ {0,3}\1|$(?![\s\S]))|`[^`\n]+`/gm;

/** No skill has this name, so a link that leads out does not lead back. */
const base = "skill://host/-/";

/** The path that a link leads to, from the skill's folder; `undefined` for one that leads to the folder itself or out of it. */
function readTarget(link: string): string | undefined {
  const url = URL.canParse(link, base) ? new URL(link, base) : undefined;
  const path = url?.href.startsWith(base) ? url.pathname.slice("/-/".length).replace(/\/+(?=\/|$)/g, "") : "";
  try {
    return decodeURIComponent(path) || undefined;
  } catch {
    return path;
  }
}

const blank = (part: string) => part.replace(/[^\n]/g, " ");

/** Finds broken links in the instructions of skills, and invisible characters in all of their Markdown. */
export const checkSkills: Check = function* ({ port, inspected: { items, pack } }) {
  const seen = new Set<string>();
  for (const { skill } of items) {
    if (skill === undefined) continue;
    const { name, folder, text, files } = skill;
    const place = { kind: "skill", item: name } as const;
    const placeOf = createLineIndex(text);
    for (const link of text.replace(code, blank).matchAll(links)) {
      const target = readTarget(link[1] ?? link[2] ?? "");
      if (target === undefined || files.some(({ path }) => `${path}/`.startsWith(`${target}/`))) continue;
      const { line } = placeOf(link.index);
      yield findInFile(`${folder}/${instructionsFile}`, "BrokenLink", { target }, { ...place, line });
    }
    for (const { path, size } of files) {
      const file = `${folder}/${path}`;
      // What is in a nested skill is in that around it, too.
      if (!/\.md$/i.test(path) || seen.has(file)) continue;
      seen.add(file);
      const content = port.readFile(pack.location, file, size);
      const lines = content.state === "read" ? new TextDecoder().decode(content.bytes).split("\n") : [];
      for (const [index, line] of lines.entries()) {
        const { hidden: codePoints } = findHiddenCharacters(line);
        if (codePoints.length > 0)
          yield findInFile(file, "HiddenText", { codePoints }, { ...place, line: index + 1 });
      }
    }
  }
};
