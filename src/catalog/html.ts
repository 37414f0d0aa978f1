import { replaceUnprintable } from "../problems/hidden-characters.ts";
import { printable } from "../problems/index.ts";

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
const inAttribute = (text: string) => escapeAttribute(printable(text));

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
