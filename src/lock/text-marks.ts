import { isRecord } from "../data/parse-json.ts";
import { findHiddenCharacters } from "../problems/hidden-characters.ts";
import type { Json, LockedItem } from "./types.ts";

// Everything here is linear in the size of a text: expressions begin with a literal and repeat a bounded number of times.

/** The strings of an item. */
export interface Texts {
  /** Strings; the lines of a text are one string. */
  values: string[];
  /** Names of properties. */
  keys: string[];
}

const schemaTypes = new Set(["array", "boolean", "integer", "null", "number", "object", "string"]);

/** Whether a string is only the vocabulary of JSON Schema. */
const isVocabulary = (text: string) =>
  schemaTypes.has(text) || /^https?:\/\/json-schema\.org\/[\w./#-]*$/.test(text);

/** Collects the strings of an item that a model may see, without those of these keys. */
export function collectTexts(item: LockedItem | undefined, without: ReadonlySet<string>): Texts {
  const texts: Texts = { values: [], keys: [] };
  const rest: Json[] = Object.entries(item ?? {}).flatMap(([key, value]) =>
    without.has(key) ? [] : [value],
  );
  for (let value = rest.pop(); value !== undefined; value = rest.pop()) {
    if (typeof value === "string") {
      if (!isVocabulary(value)) texts.values.push(value);
    } else if (Array.isArray(value)) {
      const isText = value.length > 1 && value.every((line) => typeof line === "string");
      if (isText) texts.values.push(value.join("\n"));
      else for (const entry of value) rest.push(entry);
    } else if (isRecord(value)) {
      for (const [key, entry] of Object.entries(value)) {
        texts.keys.push(key);
        rest.push(entry as Json);
      }
    }
  }
  return texts;
}

/** Top-level domains of names without a scheme; no ending of a common file. */
const domains = "ai|app|biz|cloud|co|com|dev|example|io|net|online|org|ru|site|tk|uk|xyz";

const address = new RegExp(
  [
    String.raw`\b[a-z][a-z\d+.-]{0,15}:\/\/[^\s"'\x60<>(){}\[\]|\\]{1,2048}`,
    String.raw`\b(?:data|javascript|mailto):[^\s"'\x60<>(){}\[\]|\\]{1,2048}`,
    // A name begins after a character that cannot be in it, so nothing is tried twice.
    String.raw`(?<![\w.-])(?:[a-z\d](?:[a-z\d-]{0,62})\.){1,126}(?:${domains})(?![\w-])`,
    String.raw`(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])`,
  ].join("|"),
  "gi",
);

/** URLs and hosts in texts, without the punctuation after them. */
export function findAddresses(texts: readonly string[]): Set<string> {
  const found = texts.flatMap((text) => [...text.matchAll(address)].map(([match]) => match));
  return new Set(found.map((match) => match.replace(/[.,;:!?*_]{1,16}$/, "").toLowerCase()));
}

/** Names in texts that are whole words. */
export function findNames(texts: readonly string[], isName: (word: string) => boolean): Set<string> {
  const found = new Set<string>();
  for (const text of texts) {
    for (const [word] of text.matchAll(/[A-Za-z0-9_./-]+/g)) {
      for (const part of [word, word.replace(/[./-]{1,16}$/, ""), ...word.split(/[./]/)]) {
        if (isName(part)) found.add(part);
      }
    }
  }
  return found;
}

/** Blanks in a row before text on the same line, and line breaks, that hide the text from a person. */
const hidingBlanks = 80;
const hidingLines = 10;

/** The lines around a match. */
function linesAround(text: string, start: number, end: number): string {
  const last = text.indexOf("\n", end);
  return text.slice(text.lastIndexOf("\n", start) + 1, last < 0 ? undefined : last);
}

/** The lines that contain a match, each once. */
function* linesWith(text: string, expression: RegExp): Iterable<string> {
  let next = 0;
  for (const { index, 0: match } of text.matchAll(expression)) {
    if (index < next) continue;
    const lines = linesAround(text, index, index + match.length);
    next = Math.max(index + match.length, text.lastIndexOf("\n", index) + 1 + lines.length);
    yield lines;
  }
}

/** Lines with text that people do not see: hidden characters, comments, and text behind many blanks. */
export function findHiddenText(texts: readonly string[]): Set<string> {
  const found = new Set<string>();
  for (const text of texts) {
    for (const line of new Set(text.split("\n"))) {
      const { control, hidden } = findHiddenCharacters(line);
      if (control.length + hidden.length > 0) found.add(line);
    }
    for (const lines of linesWith(text, /<!--|^ {0,3}\[(?:\/\/|comment)\]: {0,3}[#<]/gim)) found.add(lines);
    for (const { index, 0: blanks } of text.matchAll(/[\s\u2800]+/g)) {
      const end = index + blanks.length;
      if (blanks.length < hidingLines || end === text.length) continue;
      const lines = blanks.split("\n").length - 1;
      const width = blanks.length - 1 - blanks.lastIndexOf("\n");
      if (lines > hidingLines || width >= hidingBlanks) {
        const rest = text.slice(end, end + 1024);
        found.add(`${blanks.length} ${rest.split("\n", 1)[0]}`);
      }
    }
  }
  return found;
}

const user = String.raw`\s{1,9}(?:(?:this|it|that|anything|about|to|the)\s{1,9}){0,4}users?\b`;
const tools = String.raw`(?:this|any|the|other|another)\s{1,9}(?:\w{1,20}\s{1,9})?(?:tools?|functions?)\b`;

/** Phrases that descriptions need not contain, and that instructions planted in them do. */
const phrases = new RegExp(
  [
    // Overrides what the model was given before.
    String.raw`\b(?:ignore|disregard|forget)\s{1,9}(?:\w{1,20}\s{1,9}){0,4}(?:previous|prior|above|earlier|preceding|instructions?|prompts?|rules|guidelines)\b`,
    String.raw`\b(?:new|updated|additional|real)\s{1,9}(?:system\s{1,9})?instructions?\s{0,9}:`,
    // Pretends to come from the user or the system.
    String.raw`<\/?(?:important|system|instructions?|assistant|user|secret|hidden|admin)(?![\w-])[^<>]{0,80}>`,
    String.raw`<\|\w{1,20}\|>|\[\/?inst\]|<<\/?sys>>`,
    String.raw`^[ \t]{0,8}(?:[#>*]{1,6} {0,3})?(?:system|assistant|developer)(?: (?:prompt|message|note))?[ *]{0,4}:`,
    // Keeps the user from knowing.
    String.raw`\b(?:do not|don['’]t|must not|never|without)\s{1,9}(?:tell|inform|mention|show|reveal|notify|alert|ask)(?:ing)?${user}`,
    // Directs when and how tools are called, this one or others.
    String.raw`\b(?:before|instead of|whenever|after)\s{1,9}(?:you\s{1,9})?(?:us|call|invok|runn?)(?:e|ing)?\s{1,9}${tools}`,
    String.raw`\balways\s{1,9}(?:use|call|invoke|run|prefer)\s{1,9}${tools}`,
    String.raw`\byou\s{1,9}(?:must|should|have\s{1,9}to|need\s{1,9}to)\s{1,9}(?:always|never|first|not|also)\b`,
    String.raw`\byou\s{1,9}are\s{1,9}now\b`,
  ].join("|"),
  "gim",
);

/** Lines with phrases that address the model. */
export function findInstructions(texts: readonly string[]): Set<string> {
  return new Set(texts.flatMap((text) => [...linesWith(text, phrases)]));
}
