// Checks what people read with textlint, for `npm run check:prose`: no word that docs/words.md bans, and American
// spelling. Code blocks and code spans are not prose. `-- FILE…` checks these files only.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { TextlintKernel, type TextlintKernelPlugin, type TextlintKernelRule } from "@textlint/kernel";
import english from "dictionary-en";
import fastGlob from "fast-glob";
import nspell from "nspell";

// CommonJS with a default export, which each loader of ES modules hands over in its own way.
const require = createRequire(import.meta.url);
const { default: markdown } = require("@textlint/textlint-plugin-markdown") as {
  default: TextlintKernelPlugin["plugin"];
};

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

type Rule = TextlintKernelRule["rule"];

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
  return ({ Syntax, report, RuleError, getSource, locator }) => ({
    [Syntax.Str](node) {
      for (const { phrase, instead, unless } of bans) {
        let text = getSource(node);
        for (const exception of unless) {
          text = text.replace(patternOf(exception), (match) => " ".repeat(match.length));
        }
        for (const { 0: match, index } of text.matchAll(patternOf(phrase))) {
          const use = instead.length === 0 ? "rephrase it" : `use "${instead.join('" or "')}"`;
          const padding = locator.range([index, index + match.length]);
          report(node, new RuleError(`docs/words.md bans "${phrase}": ${use}`, { padding }));
        }
      }
    },
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
  return ({ Syntax, report, RuleError, getSource, locator }) => ({
    [Syntax.Str](node) {
      for (const { 0: words, index } of getSource(node).matchAll(token)) {
        const unknown = words
          .replaceAll("’", "'")
          .split("-")
          .find((word) => !isName(word) && !isKnown(word));
        if (unknown === undefined) continue;
        const padding = locator.range([index, index + words.length]);
        report(node, new RuleError(`Unknown word "${unknown}"`, { padding }));
      }
    },
  });
}

/** Creates the check of one Markdown text, which returns a line "line:column message" for each finding. */
export function createProseCheck(bans: readonly Ban[], names: readonly string[]) {
  const kernel = new TextlintKernel();
  const rules = [
    { ruleId: "banned", rule: banPhrases(bans) },
    { ruleId: "spelling", rule: spellAmerican(names) },
  ];
  const plugins = [{ pluginId: "markdown", plugin: markdown }];
  return async (text: string): Promise<string[]> => {
    const { messages } = await kernel.lintText(text, { ext: ".md", plugins, rules });
    return messages.map(({ loc: { start }, message }) => `${start.line}:${start.column} ${message}`);
  };
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
    for (const finding of await check(read(path))) {
      count++;
      console.log(`${path}:${finding}`);
    }
  }
  if (count > 0) process.exitCode = 1;
}
