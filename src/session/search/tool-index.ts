import leven from "leven";
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
const weights = { name: 5, title: 3, toolset: 1.5, description: 1, parameters: 0.8 };
/** Of each text, in UTF-16 code units; authors choose how long theirs are. */
const longestText = 4000;
const longestQuery = 1000;
const mostWords = 16;
const mostParameters = 200;
/** How much words that begin with a searched one, or that resemble it, count. */
const prefixWeight = 0.5;
const similarWeight = 0.4;
const mostExpansions = 40;
/** The tools that one search looks at for words that are only similar or longer. */
const mostExpanded = 60_000;
/** As BM25: how soon more of the same word stops to count, and how much longer texts count less. */
const saturation = 1.5;
const lengthShare = 0.5;

/** The tools with a word. */
interface Posting {
  tools: Int32Array;
  /** By the place in `tools`: how much the word says about the tool, between 0 and 1, and more if it is rare. */
  impacts: Float32Array;
}

/** A tool that a search found. */
export interface FoundTool {
  tool: SessionTool;
  /** Higher fits better. Comparable within one search only. */
  score: number;
}

function textsOf({ name, title, description, inputSchema, toolsets, _meta }: SessionTool) {
  const { properties } = inputSchema;
  const parameters = isRecord(properties) ? Object.keys(properties).slice(0, mostParameters) : [];
  const original = _meta?.["trailblaze/originalName"];
  return [
    [weights.name, original === undefined ? name : `${name} ${original}`],
    [weights.title, title],
    [weights.description, description],
    [weights.parameters, parameters.join(" ")],
    [weights.toolset, toolsets.join(" ")],
  ] as const;
}

/** A bit for each letter: words whose bits differ much are not similar. */
function lettersOf(word: string): number {
  let bits = 0;
  for (let index = 0; index < word.length; index++) bits |= 1 << (word.charCodeAt(index) & 31);
  return bits;
}

function countBits(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

const namesOf = ({ name, qualifiedName, _meta }: SessionTool) =>
  [name, qualifiedName, _meta?.["trailblaze/originalName"]].filter((one) => typeof one === "string");

function countWords(tool: SessionTool): { counts: ReadonlyMap<string, number>; length: number } {
  const counts = new Map<string, number>();
  let length = 0;
  for (const [weight, text] of textsOf(tool)) {
    if (typeof text !== "string") continue;
    for (const word of wordsOf(text.slice(0, longestText))) {
      counts.set(word, (counts.get(word) ?? 0) + weight);
      length += 1;
    }
  }
  return { counts, length };
}

/** The words of tools, for searching. Nothing in it changes after it was built. */
export class ToolIndex {
  readonly #tools: readonly SessionTool[];
  readonly #postings: ReadonlyMap<string, Posting>;
  /** Sorted. */
  readonly #words: readonly string[];
  /** The indexes of tools by their names in lower case. */
  readonly #names = new Map<string, number[]>();
  #letters: Int32Array | undefined;

  constructor(tools: readonly SessionTool[]) {
    this.#tools = tools;
    const counted = tools.map(countWords);
    const average = counted.reduce((sum, { length }) => sum + length, 0) / Math.max(1, tools.length);
    const collected = new Map<string, { tools: number[]; impacts: number[] }>();
    for (const [index, { counts, length }] of counted.entries()) {
      const norm = saturation * (1 - lengthShare + (lengthShare * length) / Math.max(1, average));
      for (const [word, count] of counts) {
        const posting = collected.get(word) ?? { tools: [], impacts: [] };
        if (posting.tools.length === 0) collected.set(word, posting);
        posting.tools.push(index);
        posting.impacts.push(count / (count + norm));
      }
    }
    this.#postings = new Map(
      [...collected].map(([word, { tools: indexes, impacts }]) => {
        const rarity = Math.log(1 + (tools.length - indexes.length + 0.5) / (indexes.length + 0.5));
        const posting = { tools: Int32Array.from(indexes), impacts: Float32Array.from(impacts) };
        return [word, { ...posting, impacts: posting.impacts.map((impact) => impact * rarity) }];
      }),
    );
    this.#words = [...this.#postings.keys()].sort();
    for (const [index, tool] of tools.entries()) {
      for (const name of new Set(namesOf(tool).map((one) => one.toLowerCase())))
        this.#names.set(name, [...(this.#names.get(name) ?? []), index]);
    }
  }

  /**
   * The tools with words of the query, with words that begin with one, or that differ from one by a character or two: best
   * first, and those that fit alike in their order. A tool that has the whole query as its name is the first.
   */
  search(query: string, limit: number, accepts: (tool: SessionTool) => boolean = () => true): FoundTool[] {
    const cut = query.slice(0, longestQuery);
    const scores = this.#score([...new Set(wordsOf(cut))].slice(0, mostWords));
    const wanted = cut.trim();
    const named = this.#names.get(wanted.toLowerCase()) ?? [];
    const best = scores.reduce((one, other) => Math.max(one, other), 0);
    for (const index of named) {
      // The advertised name stands before other names of tools, and those before names that differ in case.
      const tool = this.#toolAt(index);
      scores[index] = best + (tool.name === wanted ? 3 : namesOf(tool).includes(wanted) ? 2 : 1);
    }
    for (let index = 0; index < scores.length; index++) {
      if (scores[index] !== 0 && !accepts(this.#toolAt(index))) scores[index] = 0;
    }
    // To sort all of them with a comparison would take longer than the search.
    const sorted = scores.slice().sort();
    const lowest = sorted[sorted.length - limit] ?? 0;
    const found: { index: number; score: number }[] = [];
    for (let index = 0; index < scores.length; index++) {
      const score = scores[index] ?? 0;
      if (score > 0 && score >= lowest) found.push({ index, score });
    }
    return found
      .sort((one, other) => other.score - one.score || one.index - other.index)
      .slice(0, limit)
      .map(({ index, score }) => ({ tool: this.#toolAt(index), score }));
  }

  #toolAt(index: number): SessionTool {
    return this.#tools[index] as SessionTool;
  }

  #score(words: readonly string[]): Float64Array {
    const scores = new Float64Array(this.#tools.length);
    const best = new Float64Array(this.#tools.length);
    let left = mostExpanded;
    for (const word of words) {
      best.fill(0);
      // Of the words that one searched word stands for, the best one of each tool counts.
      const add = ({ tools, impacts }: Posting, weight: number) => {
        for (let at = 0; at < tools.length; at++) {
          const tool = tools[at] as number;
          const value = weight * (impacts[at] as number);
          const before = best[tool] as number;
          if (value <= before) continue;
          scores[tool] = (scores[tool] as number) + value - before;
          best[tool] = value;
        }
      };
      const exact = this.#postings.get(word);
      if (exact !== undefined) add(exact, 1);
      for (const [other, weight] of this.#expand(word)) {
        const posting = this.#postings.get(other);
        if (posting === undefined || posting.tools.length > left) continue;
        left -= posting.tools.length;
        add(posting, weight);
      }
    }
    return scores;
  }

  /** Words that begin with a word, or that resemble it, with how much they count. */
  #expand(word: string): Map<string, number> {
    const expansions = new Map<string, number>();
    // One letter begins too much; one character of a script without spaces is half a word.
    if (word.length > 1 || word > "\u0e00") {
      for (let at = this.#findPlace(word); expansions.size < mostExpansions; at++) {
        const other = this.#words[at];
        if (other === undefined || !other.startsWith(word)) break;
        if (other !== word) expansions.set(other, (prefixWeight * word.length) / other.length);
      }
    }
    if (word.length < 4) return expansions;
    const distance = word.length < 8 ? 1 : 2;
    const letters = lettersOf(word);
    this.#letters ??= Int32Array.from(this.#words, lettersOf);
    for (let at = 0; at < this.#words.length && expansions.size < mostExpansions; at++) {
      if (countBits((this.#letters[at] as number) ^ letters) > 2 * distance) continue;
      const other = this.#words[at] as string;
      if (Math.abs(other.length - word.length) > distance || expansions.has(other) || other === word)
        continue;
      if (leven(word, other, { maxDistance: distance + 1 }) <= distance) expansions.set(other, similarWeight);
    }
    return expansions;
  }

  /** The index of the first word that is not before `word`. */
  #findPlace(word: string): number {
    let low = 0;
    let high = this.#words.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#words[middle] as string) < word) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
