import {
  describeExit,
  formatCount,
  listOf,
  type ProcessExit,
  printable,
  printableLines,
  quote,
  quoteForShell,
} from "./text.ts";

/** Errors make a validation fail; warnings do so under `strict`. */
export type Severity = "error" | "warning" | "info";

/**
 * A template, or a function for what depends on more; `undefined` leaves it to the next condition. In a template, `"{name}"` is
 * quoted and cut after 80 characters, or after others as in `"{file:400}"`; `{reason}` is on one line; `formats` has the other
 * formats. A part in brackets, `[ of pack {pack}]`, is left out unless its first argument is set.
 */
type Words<Args> = string | ((args: Args) => string | undefined);

interface Part<Args> {
  /** Default: `error`. */
  readonly severity?: Severity;
  readonly message?: Words<Args>;
  /** An instruction that fixes the problem. */
  readonly hint?: Words<Args>;
}

/** The catalog's entry for one code: the only source of its messages. Its title and explanation are in docs/problems.md. */
export interface CatalogEntry<Args> extends Part<Args> {
  /**
   * What applies instead where an argument is set, by its name, or has a value, by `name=value`: the first one that has the
   * severity, message or hint.
   */
  readonly when?: Readonly<Record<string, Part<Args>>>;
}

/** Lists names: the first ten, and how many others there are. */
export const listSome = (names: readonly string[]): string =>
  listOf(names.length > 11 ? [...names.slice(0, 10), `${names.length - 10} others`] : names, "and");

/** Whether a failed change of a project was undone as a whole, without node_modules (`false`), or not at all; `undefined` without changes. */
export type Restored = boolean | "nothing" | undefined;

const restorations: Readonly<Record<string, string>> = {
  undefined: "Nothing was changed.",
  nothing: "package.json or a lockfile could not be restored.",
  true: "All changes were undone.",
  false: "package.json and the lockfile were restored, but node_modules may have changed.",
};

const formats = {
  and: (names: readonly string[]) => listOf(names.map(printable), "and"),
  or: (names: readonly string[]) => listOf(names.map(printable), "or"),
  some: (names: readonly string[]) => listSome(names.map(printable)),
  quotes: (names: readonly string[]) =>
    listOf(
      [...new Set(names)].map((name) => quote(name, 200)),
      "and",
    ),
  count: (count: number) => formatCount(count),
  number: (number: number) => String(number),
  /** The ending of the noun after a number. */
  s: (count: number) => (count === 1 ? "" : "s"),
  words: (key: string) => key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
  lines: (text: string) => printableLines(text),
  /** With a period, unless it ends with punctuation. */
  sentence: (text: string) => printable(text).replace(/(?<![.?!])$/, "."),
  /** A word of a command line. */
  shell: (word: string) => quoteForShell(printable(word)),
  restored: (restored: Restored) => restorations[String(restored)] ?? "",
  exit: (exit: ProcessExit) => describeExit(exit),
} as const;

type Formats = typeof formats;

/** The places of templates, as written: `name`, `file:400`. `${NAME}` and what has a space are none. */
type PlaceIn<Text> = Text extends `${infer Before}{${infer Place}}${infer Rest}`
  ?
      | (Before extends `${string}$` ? never : Place extends `${string} ${string}` ? never : Place)
      | PlaceIn<Rest>
  : never;
type NameOf<Place> = Place extends `${infer Name}:${string}` ? Name : Place;
type ValueOf<Place> = Place extends `${string}:${infer Format}`
  ? Format extends keyof Formats
    ? Parameters<Formats[Format]>[0]
    : string
  : string;
type Placed<Text> = { [Place in PlaceIn<Text> as NameOf<Place> & string]: ValueOf<Place> };
/** What is outside the brackets of a template. */
type Outside<Text> = Text extends `${infer Before}[${string}]${infer Rest}`
  ? `${Before}${Outside<Rest>}`
  : Text;

type WordsOf<Part> = Part extends unknown ? Part[keyof Part & ("message" | "hint")] : never;
type Computed<Text> = [Extract<Text, (args: never) => unknown>] extends [(args: infer Args) => unknown]
  ? Args
  : never;
type Flat<Args> = Args extends infer All ? { [Key in keyof All]: All[Key] } : never;
type Chosen<Conditions, Name> = {
  [Key in keyof Conditions as Exclude<NameOfChoice<Key>, Name>]: Key extends `${string}=${infer Value}`
    ? Value extends `${infer Flag extends boolean}`
      ? Flag | boolean
      : Value
    : never;
};
type NameOfChoice<Key> = Key extends `${infer Name}=${string}` ? Name : never;
type Flags<Name extends PropertyKey> = {
  [_ in Name as _ extends `${string}=${string}` ? never : _]?: boolean;
};

/** What an entry's words need: a value for each place of a template, and flags for conditions that have no place. */
type ArgumentsOf<
  Entry,
  Conditions = Entry extends { when: infer When } ? When : unknown,
  Own = WordsOf<Entry>,
  Special = WordsOf<Conditions[keyof Conditions]>,
> = Flat<
  Placed<Outside<Own>> &
    Computed<Own | Special> &
    Partial<Placed<Own | Special>> &
    Chosen<Conditions, keyof Placed<Own | Special>> &
    Flags<Exclude<keyof Conditions, keyof Placed<Own | Special>>>
>;

/** An entry whose arguments are those of its templates and functions. */
export function entry<const Entry extends CatalogEntry<never>>(
  description: Entry,
): CatalogEntry<ArgumentsOf<Entry>> {
  return description as CatalogEntry<ArgumentsOf<Entry>>;
}

/** An entry with more arguments than its words show. */
export function entryOf<Args>(description: CatalogEntry<Args>): CatalogEntry<Args> {
  return description;
}

const isSet = (value: unknown) => (Array.isArray(value) ? value.length > 0 : Boolean(value));

const optional = /\[([^[\]]*?\{(\w+)[^[\]]*)\]/g;
const place = /"\{(\w+)(?::(\d+))?\}"|(?<!\$)\{(\w+)(?::(\w+))?\}/g;

function fill(template: string, args: Readonly<Record<string, unknown>>): string {
  const text = template.replace(optional, (_, part: string, name: string) => (isSet(args[name]) ? part : ""));
  return text.replace(place, (_, quoted?: string, limit = "80", name = "", format = "") => {
    if (quoted !== undefined) return quote(String(args[quoted]), Number(limit));
    const show = Object.hasOwn(formats, format) ? formats[format as keyof Formats] : undefined;
    return show?.(args[name] as never) ?? printable(String(args[name]));
  });
}

function applies(condition: string, args: Readonly<Record<string, unknown>>): boolean {
  const [name = "", value] = condition.split("=");
  return value === undefined ? isSet(args[name]) : String(args[name]) === value;
}

/** The severity, message and hint of a problem with these arguments. */
export function wordsFor<Args>(
  { severity = "error", message, hint, when = {} }: CatalogEntry<Args>,
  args: Args,
): { severity: Severity; message: string; hint: string | undefined } {
  const values = args as Readonly<Record<string, unknown>>;
  const parts = Object.entries(when).flatMap(([condition, part]) => (applies(condition, values) ? part : []));
  const say = (name: "message" | "hint") => {
    for (const { [name]: words } of [...parts, { message, hint }]) {
      const text = typeof words === "string" ? fill(words, values) : words?.(args);
      if (text !== undefined) return text;
    }
    return undefined;
  };
  return {
    severity: parts.find((part) => part.severity !== undefined)?.severity ?? severity,
    message: say("message") ?? "",
    hint: say("hint"),
  };
}
