// Text from packs is hostile until shown otherwise: it may hold escape sequences, bidirectional overrides or
// invisible characters. Everything that people read goes through here.

import { replaceUnprintable } from "./hidden-characters.ts";

function escapeCharacter(character: string): string {
  const codePoint = character.codePointAt(0) ?? 0;
  return `\\u{${codePoint.toString(16).padStart(4, "0")}}`;
}

/** The text on one line, with every character that does not print written as `\u{…}`. */
export function printable(text: string): string {
  return replaceUnprintable(text.replace(/[\t\r\n]+/g, " "), escapeCharacter);
}

/** The text with its lines as they are, each as `printable` gives it. */
export function printableLines(text: string): string {
  return text.split(/\r?\n/).map(printable).join("\n");
}

/** A number with its thousands apart, as `12,345`. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** The most characters of one text that people are shown, and the most of a description that validation lets pass. */
export const longestText = 4096;

export function countCharacters(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

/** The text, cut after `limit` characters with a note of how many there are more; `note` ends it. */
export function shorten(text: string, limit = longestText, note = ""): string {
  if (text.length <= limit) return text;
  const head = [...text.slice(0, 2 * limit)].slice(0, limit).join("");
  const rest = countCharacters(text.slice(head.length));
  if (rest === 0) return text;
  return `${head}… (${formatCount(rest)} more character${rest === 1 ? "" : "s"}${note})`;
}

/** The text as `printable` gives it, in double quotes, cut after `limit` characters. */
export function quote(text: string, limit = 80): string {
  const characters = [...text];
  const cut = characters.length > limit ? `${characters.slice(0, limit).join("")}…` : text;
  return `"${printable(cut)}"`;
}

/** A limit in bytes for a sentence: `32 MiB`, or `1000 bytes` where it is no whole number of MiB. */
export function formatSize(bytes: number): string {
  return bytes % (1 << 20) === 0 ? `${bytes / (1 << 20)} MiB` : `${bytes} bytes`;
}

/** Joins names for a sentence: `a`, `a or b`, `a, b or c`. */
export function listOf(names: readonly string[], conjunction: "and" | "or" = "or"): string {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} ${conjunction} ${names.at(-1)}`;
}

/** The text with a full stop, unless it ends a sentence already. */
export const endSentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`);

/** A word of a command line that is shown: in quotation marks where a shell would read it as something else. */
export const quoteForShell = (word: string): string =>
  /^[\p{L}\p{N}_@%+=:,./\\-]+$/u.test(word) ? word : JSON.stringify(word);
