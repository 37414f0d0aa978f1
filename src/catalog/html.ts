import { printableLines } from "../problems/text.ts";

/** Markup whose texts are escaped. Only `html` and `trusted` create it. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

export type Content = Html | string | number | false | undefined | readonly Content[];

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;" };

/** Markup of this program's own; never with a text of a pack. */
export const trusted = (markup: string): Html => new Html(markup);

/** Of a text, invisible and bidirectional characters appear as `\u{…}`. */
function render(content: Content): string {
  if (content === undefined || content === false) return "";
  if (content instanceof Html) return content.markup;
  if (Array.isArray(content)) return content.map(render).join("");
  return printableLines(String(content)).replace(/[&<>"]/g, (character) => entities[character] ?? character);
}

/** Markup from a template. Its values are escaped unless they are `Html`; those of attributes stand in double quotes. */
export const html = (parts: TemplateStringsArray, ...values: readonly Content[]): Html =>
  new Html(parts.map((part, index) => part + render(values[index])).join(""));
