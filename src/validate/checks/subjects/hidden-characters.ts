// What a text may hold that a person does not see.

/** C0 and C1 controls but tab, line feed and carriage return. */
const controls = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/gu;

const pictograph = "\\p{Extended_Pictographic}(?:\\p{Emoji_Modifier}|\\ufe0f)?";
/** Scripts in which a joiner between two letters is part of how a word is written. */
const joining = `[${[
  ...[
    "Arabic",
    "Syriac",
    "Mongolian",
    "Devanagari",
    "Bengali",
    "Gurmukhi",
    "Gujarati",
    "Oriya",
    "Tamil",
    "Telugu",
  ],
  ...["Kannada", "Malayalam", "Sinhala", "Khmer", "Myanmar"],
]
  .map((script) => `\\p{Script=${script}}`)
  .join("")}]`;

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
  "\\u{1f3f4}\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}",
  `(?<=${joining})[\\u200c\\u200d](?=${joining})`,
].join("|");

const hidden = new RegExp(`(?:${proper})|(${invisible})`, "gu");

function toCodePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

const unique = (characters: readonly string[]) => [...new Set(characters)].map(toCodePoint);

/** What a text holds that a person does not see: code points as `U+202E`, each once, in order. */
export interface HiddenCharacters {
  control: string[];
  hidden: string[];
}

export function findHiddenCharacters(text: string): HiddenCharacters {
  // Nearly every text is this.
  if (/^[\t\n\r\x20-\x7e]*$/.test(text)) return { control: [], hidden: [] };
  return {
    control: unique(text.match(controls) ?? []),
    hidden: unique([...text.matchAll(hidden)].flatMap(([, character]) => character ?? [])),
  };
}
