import { posix } from "node:path";
import type { InspectedItem } from "../../inspection/types.ts";
import { findHiddenCharacters } from "../../problems/hidden-characters.ts";
import type { Skill } from "../../skills/read-skill.ts";
import { instructionsFile } from "../../skills/skill-folders.ts";
import { type Check, type Finding, findInFile } from "../finding.ts";

/** The targets of links of Markdown, in the text and at its end. */
const links = /\]\(\s*<?([^()<>\s]+)|^ {0,3}\[[^\]\n]+\]:\s*<?([^<>\s]+)/gm;
const code = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~)).*\n[\s\S]*?(?:^ {0,3}\1|$(?![\s\S]))|`[^`\n]+`/gm;

/** The path that a relative link leads to, from the skill's folder; `undefined` for any other link. */
function readTarget(link: string): string | undefined {
  if (/^(?:[a-z][a-z\d+.-]*:|[/#?])/i.test(link)) return undefined;
  const [path = ""] = link.split(/[?#]/);
  try {
    const target = posix.normalize(decodeURIComponent(path)).replace(/\/$/, "");
    return /^\.\.(?:\/|$)/.test(target) ? undefined : target;
  } catch {
    return path;
  }
}

const lineAt = (text: string, index: number) => text.slice(0, index).split("\n").length;

/** Limit on the reported lines of one file. */
const maximumReported = 100;

function* findBrokenLinks({ text, files, folder }: Skill, place: object): Generator<Finding> {
  const blank = (part: string) => part.replace(/[^\n]/g, " ");
  let reported = 0;
  const isThere = (target: string) =>
    target === "." || files.some(({ path }) => path === target || path.startsWith(`${target}/`));
  for (const { 1: inline, 2: reference, index } of text.replace(code, blank).matchAll(links)) {
    const target = readTarget(inline ?? reference ?? "");
    if (target === undefined || isThere(target)) continue;
    if (reported === maximumReported) return;
    reported += 1;
    const line = lineAt(text, index);
    yield findInFile(`${folder}/${instructionsFile}`, "BrokenLink", { target }, { ...place, line });
  }
}

function* findHiddenText(file: string, text: string, place: object): Generator<Finding> {
  if (findHiddenCharacters(text).hidden.length === 0) return;
  const lines = text
    .split("\n")
    .map((line, index) => [findHiddenCharacters(line).hidden, index + 1] as const);
  for (const [codePoints, line] of lines.filter(([{ length }]) => length > 0).slice(0, maximumReported))
    yield findInFile(file, "HiddenText", { codePoints }, { ...place, line });
}

/** Finds broken links in the instructions of skills, and invisible characters in all of their Markdown. */
export const checkSkills: Check = function* ({ port, inspected }) {
  const { items, pack } = inspected;
  const read = new Set<string>();
  const depthOf = ({ skill }: InspectedItem) => skill?.path.length ?? 0;
  // What is in a nested skill belongs to that.
  for (const { skill } of [...items].sort((one, other) => depthOf(other) - depthOf(one))) {
    if (skill === undefined) continue;
    const place = { kind: "skill", item: skill.name } as const;
    yield* findBrokenLinks(skill, place);
    for (const { path, size } of skill.files) {
      const file = `${skill.folder}/${path}`;
      if (!/\.md$/i.test(path) || read.has(file)) continue;
      read.add(file);
      const content = port.readFile(pack.location, file, size);
      if (content.state === "read")
        yield* findHiddenText(file, new TextDecoder().decode(content.bytes), place);
    }
  }
};
