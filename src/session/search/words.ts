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
