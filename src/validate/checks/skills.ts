import { createLineIndex } from "../../data/line-index.ts";
import { findHiddenCharacters } from "../../problems/hidden-characters.ts";
import { instructionsFile } from "../../skills/skill-folders.ts";
import { type Check, findInFile } from "../finding.ts";

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
