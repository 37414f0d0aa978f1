// Text from packs is hostile until shown otherwise: it may hold escape sequences, bidirectional overrides or
// invisible characters. Everything that people read goes through here.

/** Control, format, private-use and unassigned characters, lone surrogates, and line and paragraph separators. */
const unprintable = /[\p{C}\p{Zl}\p{Zp}]/gu;

function escapeCharacter(character: string): string {
  const codePoint = character.codePointAt(0) ?? 0;
  return `\\u{${codePoint.toString(16).padStart(4, "0")}}`;
}

/** The text on one line, with every character that does not print written as `\u{…}`. */
export function printable(text: string): string {
  // Nearly every text is plain, and the classes of characters above take longer to compile than a list to print.
  if (/^[ -~]*$/.test(text)) return text;
  return text.replace(/[\t\r\n]+/g, " ").replace(unprintable, escapeCharacter);
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
