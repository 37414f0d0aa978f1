// The single definition of invisible text. Validation reports it, and every output escapes it: the terminal, JSON, and
// generated source.

/** C0 and C1 controls except tab, line feed and carriage return. */
const controls = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/gu;

const pictograph = "\\p{Extended_Pictographic}(?:\\p{Emoji_Modifier}|\\ufe0f)?";
/** Scripts in which joiners between letters are part of the spelling. */
const joiningScripts =
  "Arabic Syriac Mongolian Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Myanmar";
const joined = joiningScripts.replace(/\w+ ?/g, (script) => `\\p{Script=${script.trim()}}`);

/**
 * Characters that are invisible or change the order of text: everything that Unicode calls ignorable by default
 * (zero-width characters, tags, variation selectors, soft hyphen, fillers, bidirectional controls, unassigned ones),
 * annotation marks, and lone surrogates.
 */
const invisible = "\\p{Default_Ignorable_Code_Point}\\p{Bidi_Control}\\ufff9-\\ufffb\\p{Surrogate}";

/** Invisible characters and other unprintable ones: controls, private use, unassigned, and line separators. */
const unprintable = `(?!\\n)[${invisible}\\p{C}\\p{Zl}\\p{Zp}]`;

/** Emoji whose appearance depends on invisible characters: selectors, joiners, and the tags of three flags. */
const emoji = [
  `${pictograph}(?:\\u200d${pictograph})+`,
  "\\p{Emoji}[\\ufe0e\\ufe0f]",
  "\\p{RGI_Emoji_Tag_Sequence}",
].join("|");

/** Joiners between letters of scripts that need them: allowed in a pack, but escaped in output. */
const joiners = `(?<=[${joined}])[\\u200c\\u200d](?=[${joined}])`;

// Compiled on demand, because each takes more than a millisecond.
const expressions = new Map<string, RegExp>();

function expressionOf(source: string): RegExp {
  const expression = expressions.get(source) ?? new RegExp(source, "gv");
  expressions.set(source, expression);
  return expression;
}

/** Replaces every unprintable character except line feeds and those in emoji. */
export function replaceUnprintable(text: string, replace: (character: string) => string): string {
  // The fast path for nearly every text.
  if (/^[\n -~]*$/.test(text) || text.search(expressionOf(unprintable)) === -1) return text;
  return text.replace(expressionOf(`(?:${emoji})|(${unprintable})`), (shown, character?: string) =>
    character === undefined ? shown : replace(character),
  );
}

const escapeUnits = (text: string): string =>
  text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** JSON or source text whose strings hide nothing, and which has no command for a CI runner such as `##[group]`. */
export const escapeJson = (json: string): string =>
  replaceUnprintable(json.replace(/(##\w*)\[/g, "$1\\u005b"), escapeUnits);

const toCodePoint = (character: string) =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

const unique = (characters: readonly string[]) => [...new Set(characters)].map(toCodePoint);

/** The control and invisible characters of a text that people or models may read: unique code points such as `U+202E`, in order. */
export function findHiddenCharacters(text: string): { control: string[]; hidden: string[] } {
  if (/^[\t\n\r\x20-\x7e]*$/.test(text)) return { control: [], hidden: [] };
  const found = text.matchAll(expressionOf(`(?:${emoji}|${joiners})|([${invisible}])`));
  return {
    control: unique(text.match(controls) ?? []),
    hidden: unique([...found].flatMap(([, character]) => character ?? [])),
  };
}

/** A path as it is written, with `/`: an absolute one of Windows is known by its form. */
export const withSlashes = (path: string): string =>
  /^(?:[a-z]:|\\)\\/i.test(path) ? path.replaceAll("\\", "/") : path;
