import MiniSearch from "minisearch";
import { isRecord } from "../../data/parse-json.ts";
import type { SessionTool } from "../session-tool.ts";

/** Scripts without spaces between words: their runs are cut into pairs of characters. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;
/** A name such as `get_issue`, `getIssue` or `get-issue`, or a word. */
const compounds = /[\p{L}\p{N}][\p{L}\p{N}\p{M}_-]*/gu;
/** `HTTP` and `Server` of `HTTPServer`; digits stand alone. */
const parts = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{N}+|\p{L}/gu;
/** Longer words are cut: they are data and not language. */
const longestWord = 40;

/** Without accents and width, so that `cafe` finds `café`. */
function normalize(text: string): string {
  if (/^[\u0000-\u007f]*$/.test(text)) return text;
  return text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]+/g, "")
    .normalize("NFC");
}

/** Each pair of neighbors, and the last character, so that every character begins something. */
function pairsOf(run: string): string[] {
  const characters = [...run];
  return characters.map((character, index) => character + (characters[index + 1] ?? ""));
}

/** The words of a text in lower case, in order: the parts of names and the names as a whole. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [compound] of normalize(text).matchAll(compounds)) {
    const found = [...compound.replace(unspaced, " ").matchAll(parts)].map(([part]) => part.toLowerCase());
    if (found.length > 1) words.push(found.join("").slice(0, longestWord));
    words.push(...found.map((word) => word.slice(0, longestWord)));
    for (const [run] of compound.matchAll(unspaced)) words.push(...pairsOf(run));
  }
  return words;
}

/** How much a word counts, by where it is. */
const boost = { name: 5, title: 3, toolset: 1.5, description: 1, parameters: 0.8 };
/** Of each text, in UTF-16 code units; authors choose how long theirs are. */
const longestText = 4000;
const longestQuery = 1000;
const mostWords = 16;
const mostParameters = 200;

/** A tool that a search found. */
export interface FoundTool {
  tool: SessionTool;
  /** Higher fits better. Comparable within one search only. */
  score: number;
}

function textsOf({ name, title, description, inputSchema, toolsets, _meta }: SessionTool, id: number) {
  const { properties } = inputSchema;
  const parameters = isRecord(properties) ? Object.keys(properties).slice(0, mostParameters) : [];
  const names = `${name} ${_meta?.["trailblaze/originalName"] ?? ""}`;
  return {
    id,
    name: names,
    title,
    description,
    parameters: parameters.join(" "),
    toolset: toolsets.join(" "),
  };
}

const namesOf = ({ name, qualifiedName, _meta }: SessionTool) =>
  [name, qualifiedName, _meta?.["trailblaze/originalName"]].filter((one) => typeof one === "string");

/** How much a name fits as a whole: the advertised name, then other names of the tool, then those that differ in case. */
function rankName(tool: SessionTool, wanted: string): number {
  if (tool.name === wanted) return 3;
  const names = namesOf(tool);
  if (names.includes(wanted)) return 2;
  return names.some((name) => name.toLowerCase() === wanted.toLowerCase()) ? 1 : 0;
}

/** The words of tools, for searching. Nothing in it changes after it was built. */
export class ToolIndex {
  readonly #tools: readonly SessionTool[];
  readonly #index = new MiniSearch({
    fields: Object.keys(boost),
    tokenize: (text) => wordsOf(text.slice(0, longestText)),
    processTerm: (word) => word,
    searchOptions: {
      boost,
      tokenize: (text) => [...new Set(wordsOf(text))].slice(0, mostWords),
      // One letter begins too much; one character of a script without spaces is half a word.
      prefix: (word) => word.length > 1 || word > "\u0e00",
      fuzzy: (word) => (word.length < 4 ? false : word.length < 8 ? 1 : 2),
    },
  });

  constructor(tools: readonly SessionTool[]) {
    this.#tools = tools;
    this.#index.addAll(tools.map(textsOf));
  }

  /**
   * The tools with words of the query, with words that begin with one, or that differ from one by a character or two: best
   * first, and those that fit alike in their order. A tool that has the whole query as its name is the first.
   */
  search(query: string, limit: number, accepts: (tool: SessionTool) => boolean = () => true): FoundTool[] {
    const cut = query.slice(0, longestQuery);
    const scores = new Map<number, number>(this.#index.search(cut).map(({ id, score }) => [id, score]));
    const best = Math.max(0, ...scores.values());
    for (const [id, tool] of this.#tools.entries()) {
      const rank = rankName(tool, cut.trim());
      if (rank > 0) scores.set(id, best + rank);
    }
    return [...scores]
      .sort(([one, high], [other, low]) => low - high || one - other)
      .map(([id, score]) => ({ tool: this.#tools[id] as SessionTool, score }))
      .filter(({ tool }) => accepts(tool))
      .slice(0, limit);
  }
}
