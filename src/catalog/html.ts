import { isRecord } from "../data/parse-json.ts";
import { replaceUnprintable } from "../problems/hidden-characters.ts";

/** Markup whose texts are escaped. Only `html` and `trusted` create it. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

export type Content = Html | string | number | false | undefined | readonly Content[];

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escapeAttribute = (text: string) =>
  text.replace(/[&<>"']/g, (character) => entities[character] ?? character);

/** Leaves quotes, of which definitions have many and which mean nothing between tags. */
const escapeText = (text: string) => text.replace(/[&<>]/g, (character) => entities[character] ?? character);

const codePoint = (character: string) => (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0");

/** Markup of this program's own; never with a text of a pack. */
export const trusted = (markup: string): Html => new Html(markup);

/** A text in an attribute: invisible and bidirectional characters appear as `\u{…}`. */
const inAttribute = (text: string) =>
  escapeAttribute(
    replaceUnprintable(text.replace(/[\t\r\n]+/g, " "), (character) => `\\u{${codePoint(character)}}`),
  );

/** A text between tags: invisible and bidirectional characters are marked. Keeps line breaks. */
function inText(text: string): string {
  // The fast path for nearly every text: what follows takes several passes.
  if (/^[\n -~]*$/.test(text)) return escapeText(text);
  const lines = text.replace(/\r\n?/g, "\n").replaceAll("\t", "  ");
  // No other NUL is left in the text, because it is unprintable too.
  const marked = replaceUnprintable(lines, (character) => `\0${codePoint(character)}\0`);
  return escapeText(marked).replace(
    /\0([0-9a-f]+)\0/g,
    (_, code: string) => `<mark class="hidden-character">\\u{${code}}</mark>`,
  );
}

function render(content: Content, isAttribute: boolean): string {
  if (content === undefined || content === false) return "";
  if (content instanceof Html) return content.markup;
  if (Array.isArray(content)) return content.map((one) => render(one, isAttribute)).join("");
  const text = String(content);
  return isAttribute ? inAttribute(text) : inText(text);
}

/** Whether the values of a template are in a tag. A template is one object, however often it is used. */
const placesOf = new WeakMap<TemplateStringsArray, readonly boolean[]>();

function findPlaces(parts: TemplateStringsArray): readonly boolean[] {
  let before = "";
  const places = parts.map((part) => {
    before += part;
    return part.endsWith('="') || before.lastIndexOf("<") > before.lastIndexOf(">");
  });
  placesOf.set(parts, places);
  return places;
}

/** Markup from a template. Its values are escaped, those in a tag as attributes, unless they are `Html`. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Html {
  const places = placesOf.get(parts) ?? findPlaces(parts);
  let markup = parts[0] ?? "";
  for (let index = 0; index < values.length; index++)
    markup += render(values[index], places[index] === true) + (parts[index + 1] ?? "");
  return new Html(markup);
}

/** A link to another site, which only https addresses become; other addresses are text. */
export function linkTo(address: string, label: Content = address): Html {
  const isSafe = readHttps(address) === address;
  return isSafe ? html`<a href="${address}" rel="noreferrer noopener">${label}</a>` : html`${label}`;
}

/** The normal form of an https address without credentials; `undefined` for any other text. */
export function readHttps(text: unknown): string | undefined {
  if (typeof text !== "string" || text.length > 2048) return undefined;
  try {
    const { protocol, username, password, href } = new URL(text.trim());
    return protocol === "https:" && username === "" && password === "" ? href : undefined;
  } catch {
    return undefined;
  }
}

/** The address of a package's repository, also in the forms of npm: `git+https://…`, `github:acme/jira`, `acme/jira`. */
export function readRepository(written: unknown): string | undefined {
  const text = isRecord(written) ? written.url : written;
  if (typeof text !== "string") return undefined;
  const short = /^(?:github:)?([\w.-]+\/[\w.-]+)$/.exec(text.trim())?.[1];
  if (short !== undefined) return readHttps(`https://github.com/${short}`);
  return readHttps(
    text
      .trim()
      .replace(/^git\+/, "")
      .replace(/\.git(?=$|#)/, ""),
  );
}
