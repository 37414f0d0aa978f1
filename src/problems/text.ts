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

/** The text as `printable` gives it, in double quotes, cut after `limit` characters. */
export function quote(text: string, limit = 80): string {
  const characters = [...text];
  const cut = characters.length > limit ? `${characters.slice(0, limit).join("")}…` : text;
  return `"${printable(cut)}"`;
}

/** Joins names for a sentence: `a`, `a or b`, `a, b or c`. */
export function listOf(names: readonly string[], conjunction: "and" | "or" = "or"): string {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} ${conjunction} ${names.at(-1)}`;
}
