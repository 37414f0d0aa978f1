import { formatCount, listOf, printable, printableLines, quote, quoteForShell } from "./text.ts";

/** Errors make a validation fail; warnings do so under `strict`. */
export type Severity = "error" | "warning" | "info";

/**
 * The operation that finds a problem: `validation` reports to the author of the pack; `bystander` concerns a package that
 * is neither the project nor a declared dependency; `operation` is everything else.
 */
export type ProblemContext = "validation" | "operation" | "bystander";

/**
 * A sentence with places for arguments, or a function for what depends on more; `undefined` leaves it to the next cause. `"{name}"` is quoted and cut after 80
 * characters, or after others as in `"{file:400}"`. `{reason}` is on one line; `formats` has the other formats.
 */
type Words<Args> = string | ((args: Args) => string | undefined);

interface Cause<Args> {
  readonly severity?: Severity;
  readonly message?: Words<Args>;
  readonly hint?: Words<Args>;
}

/** The catalog's entry for one code: the only source of its messages. */
export interface CatalogEntry<Args> {
  /** A phrase of at most ten words, without details. */
  readonly title: string;
  readonly severity: Severity | ((context: ProblemContext, args: Args) => Severity);
  readonly message: Words<Args>;
  /** An instruction that fixes the problem. */
  readonly hint?: Words<Args>;
  /** What applies instead where an argument is set, by its name: the first one that has the severity, message or hint. */
  readonly when?: Readonly<Record<string, Cause<Args>>>;
  /** What applies by the argument `cause`. */
  readonly causes?: Readonly<Record<string, Cause<Args>>>;
}

/** The places of templates, as written: `name`, `file:400`. `${NAME}` and what has a space are none. */
type PlaceIn<Text> = Text extends `${infer Before}{${infer Place}}${infer Rest}`
  ?
      | (Before extends `${string}$` ? never : Place extends `${string} ${string}` ? never : Place)
      | PlaceIn<Rest>
  : never;
type NameOf<Place> = Place extends `${infer Name}:${string}` ? Name : Place;
type ValueOf<Place> = Place extends `${string}:${"and" | "or"}`
  ? readonly string[]
  : Place extends `${string}:${"count" | "number"}`
    ? number
    : Place extends `${string}:${infer First}|${infer Rest}`
      ? First | Literals<Rest>
      : string;
type Literals<Text> = Text extends `${infer First}|${infer Rest}` ? First | Literals<Rest> : Text;
type Placed<Text> = { [Place in PlaceIn<Text> as NameOf<Place> & string]: ValueOf<Place> };

type WordsOf<Part> = Part extends unknown ? Part[keyof Part & ("message" | "hint")] : never;
type Computed<Text> = [Extract<Text, (args: never) => unknown>] extends [(args: infer Args) => unknown]
  ? Args
  : never;
type Flat<Args> = Args extends infer All ? { [Key in keyof All]: All[Key] } : never;
type Optional<Args> = { [Key in keyof Args]?: Args[Key] | undefined };

/** What an entry's words need: a value for each place of a template, and flags for conditions that have no place. */
type ArgumentsOf<Entry, Conditions = Entry extends { when: infer When } ? When : unknown> = Flat<
  Placed<WordsOf<Entry>> &
    Computed<WordsOf<Entry> | WordsOf<Conditions[keyof Conditions]>> &
    Optional<Placed<WordsOf<Conditions[keyof Conditions]>>> &
    Flags<Exclude<keyof Conditions, keyof Placed<WordsOf<Entry> | WordsOf<Conditions[keyof Conditions]>>>> &
    (Entry extends { causes: infer Causes } ? { cause: keyof Causes } : unknown)
>;
type Flags<Name extends PropertyKey> = { [_ in Name]?: boolean | undefined };

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

export const errorInValidation = (context: ProblemContext): Severity =>
  context === "validation" ? "error" : "warning";

export const warningForBystanders = (context: ProblemContext): Severity =>
  context === "bystander" ? "warning" : "error";

const formats: Readonly<Record<string, (value: never) => string>> = {
  and: (names: readonly string[]) => listOf(names.map(printable), "and"),
  or: (names: readonly string[]) => listOf(names.map(printable), "or"),
  count: formatCount,
  lines: printableLines,
  /** A word of a command line. */
  shell: (word: string) => quoteForShell(printable(word)),
};

const place = /"\{(\w+)(?::(\d+))?\}"|(?<!\$)\{(\w+)(?::([\w|]+))?\}/g;

function fill(text: string, args: Readonly<Record<string, unknown>>): string {
  return text.replace(place, (_, quoted?: string, limit = "80", name = "", format = "") =>
    quoted === undefined
      ? (formats[format]?.(args[name] as never) ?? printable(String(args[name])))
      : quote(String(args[quoted]), Number(limit)),
  );
}

const isSet = (value: unknown) => (Array.isArray(value) ? value.length > 0 : Boolean(value));

/** The severity, message and hint of a problem with these arguments. */
export function wordsFor<Args>(
  { severity, message, hint, when = {}, causes = {} }: CatalogEntry<Args>,
  args: Args,
  context: ProblemContext,
): { severity: Severity; message: string; hint: string | undefined } {
  const values = args as Readonly<Record<string, unknown>>;
  const parts: Cause<Args>[] = Object.entries(when).flatMap(([name, part]) =>
    isSet(values[name]) ? part : [],
  );
  const cause = causes[String(values.cause)];
  if (cause !== undefined) parts.push(cause);
  const all = [...parts, { message, hint }];
  const say = (name: "message" | "hint") => {
    for (const { [name]: words } of all) {
      const text = typeof words === "string" ? fill(words, values) : words?.(args);
      if (text !== undefined) return text;
    }
    return undefined;
  };
  const special = parts.find((part) => part.severity !== undefined)?.severity;
  return {
    severity: special ?? (typeof severity === "function" ? severity(context, args) : severity),
    message: say("message") ?? "",
    hint: say("hint"),
  };
}
