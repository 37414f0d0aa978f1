// What a text may hold that a person does not see.

/** C0 and C1 controls but tab, line feed and carriage return. */
const controls = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/gu;

const pictograph = "\\p{Extended_Pictographic}(?:\\p{Emoji_Modifier}|\\ufe0f)?";
/** Scripts in which a joiner between two letters is part of how a word is written. */
const joiningScripts =
  "Arabic Syriac Mongolian Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Myanmar";
const joined = joiningScripts.replace(/\w+ ?/g, (script) => `\\p{Script=${script.trim()}}`);

/** Letters as tag characters, which spell the region of a flag. */
const tags = (letters: string) =>
  [...letters].map((letter) => `\\u{${(0xe0000 + letter.charCodeAt(0)).toString(16)}}`).join("");

/**
 * What does not show, or changes the order in which text shows: everything that Unicode calls ignorable by default
 * (zero-width characters, tags, variation selectors, soft hyphen, fillers, bidirectional controls), annotation marks,
 * and surrogates without their other half.
 */
const invisible = "[\\p{Default_Ignorable_Code_Point}\\p{Bidi_Control}\\ufff9-\\ufffb\\p{Surrogate}]";

/** Invisible characters where they belong: in emoji, in the three flags that are spelt with tags, between joined letters. */
const proper = [
  `${pictograph}(?:\\u200d${pictograph})+`,
  "\\p{Emoji}[\\ufe00-\\ufe0f]",
  `\\u{1f3f4}${tags("gb")}(?:${["eng", "sct", "wls"].map(tags).join("|")})\\u{e007f}`,
  `(?<=[${joined}])[\\u200c\\u200d](?=[${joined}])`,
].join("|");

let hidden: RegExp | undefined;

/** Made where there is something to look at: the tables behind it take more than a millisecond. */
function hiddenExpression(): RegExp {
  hidden ??= new RegExp(`(?:${proper})|(${invisible})`, "gu");
  return hidden;
}

function toCodePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

const unique = (characters: readonly string[]) => [...new Set(characters)].map(toCodePoint);

/** What a text holds that a person does not see: code points as `U+202E`, each once, in order. */
export interface HiddenCharacters {
  control: string[];
  hidden: string[];
}

/** Looks through a text that people or models may read. */
export function findHiddenCharacters(text: string): HiddenCharacters {
  // Nearly every text is this.
  if (/^[\t\n\r\x20-\x7e]*$/.test(text)) return { control: [], hidden: [] };
  return {
    control: unique(text.match(controls) ?? []),
    hidden: unique([...text.matchAll(hiddenExpression())].flatMap(([, character]) => character ?? [])),
  };
}
