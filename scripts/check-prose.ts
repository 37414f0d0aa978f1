// Checks what people read, for `npm run check:prose`: no word that docs/words.md bans, and American spelling. Code
// blocks and code spans are not prose. `-- FILE…` checks these files only.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import english from "dictionary-en";
import fastGlob from "fast-glob";
import MarkdownIt from "markdown-it";
import nspell from "nspell";

const inRepository = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const read = (path: string) => readFileSync(inRepository(path), "utf8");

/** What is prose, relative to the repository. */
const prose = [
  "*.md",
  "docs/**/*.md",
  ".github/**/*.md",
  "packages/*/README.md",
  "fixtures/sample-plugins/README.md",
];

/** Returns what is wrong with a paragraph, a heading or a cell of a table. */
type Rule = (text: string) => string[];

/** A word or phrase that prose does not use. */
export interface Ban {
  readonly phrase: string;
  /** The dictionary's words for it; none for the phrases of its closing list. */
  readonly instead: readonly string[];
  /** Longer phrases that contain it and are fine. */
  readonly unless: readonly string[];
}

/** Matches a phrase and its plural, across line breaks. X stands for any word. */
function patternOf(phrase: string): RegExp {
  const words = phrase.split(" ").map((word) => (word === "X" ? "[A-Za-z]+" : word));
  return new RegExp(`\\b${words.join("\\s+")}s?\\b`, "gi");
}

/** What docs/words.md bans: the words of its "not" columns without a note in parentheses, and its closing list. */
export function readBans(dictionary: string): Ban[] {
  const bans = new Map<string, Ban>();
  const add = (list: string, better: readonly string[]) => {
    for (const part of list.split(",").map((text) => text.trim())) {
      const [, phrase, unless] = /^([^(]+?)(?: \(unless "(.+)"\))?$/.exec(part) ?? [];
      if (phrase === undefined) continue;
      const words = [...(bans.get(phrase)?.instead ?? []), ...better];
      bans.set(phrase, { phrase, instead: words, unless: unless?.split(`" or "`) ?? [] });
    }
  };
  for (const [, word = "", not = ""] of dictionary.matchAll(/^\| (.+?) \| .+? \| (.+) \|$/gm)) {
    if (word !== "word") add(not, [word]);
  }
  add(/^Do not use: (.+)\.$/m.exec(dictionary)?.[1] ?? "", []);
  return [...bans.values()];
}

function banPhrases(bans: readonly Ban[]): Rule {
  return (text) =>
    bans.flatMap(({ phrase, instead, unless }) => {
      const rest = unless.reduce((shorter, exception) => shorter.replace(patternOf(exception), ""), text);
      const use = instead.length === 0 ? "rephrase it" : `use "${instead.join('" or "')}"`;
      return patternOf(phrase).test(rest) ? [`docs/words.md bans "${phrase}": ${use}`] : [];
    });
}

/** Words, or several with hyphens, between spaces and punctuation. Paths, numbers and words in quotes are not. */
const token = /(?<=^|[\s(“—–])[A-Za-z]+(?:['’-][A-Za-z]+)*(?=[)”.,:;!?…]*(?:$|[\s—–]))/g;
const isName = (word: string) => /[a-z][A-Z]|^[A-Z]+(?:'?s)?$/.test(word);

/** Knows what an American English dictionary has, and `names` in any case, with "s" and "'s". */
function spellAmerican(names: readonly string[]): Rule {
  const speller = nspell(Buffer.from(english.aff), Buffer.from(english.dic));
  const known = new Set(names);
  const isKnown = (word: string) =>
    speller.correct(word) ||
    known.has(word.toLowerCase()) ||
    known.has(word.toLowerCase().replace(/'?s$/, ""));
  return (text) =>
    [...text.matchAll(token)].flatMap(([words]) => {
      const unknown = words
        .replaceAll("’", "'")
        .split("-")
        .find((word) => !isName(word) && !isKnown(word));
      return unknown === undefined ? [] : [`Unknown word "${unknown}"`];
    });
}

/** Prose of one place in a Markdown text: its words, with line breaks and a mark for each code span. */
function* readProse(markdown: string): Generator<{ line: number; text: string }> {
  let line = 1;
  for (const { type, map, children } of new MarkdownIt({ html: true }).parse(markdown, {})) {
    if (map !== null) line = map[0] + 1;
    if (type !== "inline") continue;
    const parts = (children ?? []).map(({ type, content }) => {
      if (type === "text") return content;
      if (type === "softbreak" || type === "hardbreak") return "\n";
      return type === "code_inline" ? "`" : "";
    });
    yield { line, text: parts.join("") };
  }
}

/** Creates the check of one Markdown text, which returns a line "line: message" for each finding. */
export function createProseCheck(bans: readonly Ban[], names: readonly string[]) {
  const rules = [banPhrases(bans), spellAmerican(names)];
  return (markdown: string): string[] =>
    [...readProse(markdown)].flatMap(({ line, text }) =>
      rules.flatMap((check) => check(text).map((message) => `${line}: ${message}`)),
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const given = process.argv.slice(2);
  const check = createProseCheck(
    readBans(read("docs/words.md")),
    read("scripts/names.txt").trim().split(/\s+/),
  );
  let count = 0;
  for (const path of await fastGlob(given.length === 0 ? prose : given, { cwd: inRepository(".") })) {
    // The dictionary has to name what it bans.
    if (path === "docs/words.md") continue;
    for (const finding of check(read(path))) {
      count++;
      console.log(`${path}:${finding}`);
    }
  }
  if (count > 0) process.exitCode = 1;
}
