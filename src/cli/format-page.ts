import { type Cell, createItemPage, formatValue, type PageSubject, type Part } from "../pages/page.ts";
import { countOf, printable } from "../problems/text.ts";
import type { TextStyle } from "./command.ts";
import { formatColumns, formatTable, shortenForPeople, wrap } from "./layout.ts";

/** Limits of the texts on a page. */
const maximumLines = 60;
const maximumWidth = 400;

const shortenLine = (line: string) => shortenForPeople(line, maximumWidth);

/** A text of several lines with unprintable characters escaped, cut to the limits. */
function formatText(text: string): string {
  const lines = text.trimEnd().split("\n");
  const rest = lines.length - maximumLines;
  const shown = lines.slice(0, maximumLines).map((line) => printable(shortenLine(line)));
  if (rest > 0) shown.push(`… (${countOf(rest, "more line")}; --json shows all)`);
  return shown.join("\n");
}

const textOfCell = (cell: Cell) => (typeof cell === "string" ? cell : cell.code);

export function formatPart(part: Part, style: TextStyle): string {
  if (typeof part === "string") return formatText(part);
  const headings = part.columns.map((column) => column.toUpperCase());
  const rows = part.rows.map((row) => row.map(textOfCell));
  return formatTable(headings, rows, style);
}

/** Formats the page of an item. `origin`: what is known of where it is from. */
export function formatItemPage(
  subject: PageSubject,
  origin: readonly (readonly [string, string])[],
  style: TextStyle,
): string {
  const { kind, qualifiedName, name, title, description, parts, content, facts } = createItemPage(subject);
  const heading = [`${kind} ${qualifiedName}`, title, description].filter(Boolean);
  const advertised = kind === "tool" || kind === "prompt" ? [["advertised", name]] : [];
  const ofDefinition = facts.map(({ key, value, isKnown }) => {
    const text = formatValue(value);
    return isKnown ? [key, text] : [`${key} (unknown)`, shortenLine(text)];
  });
  const cells = [...origin, ...advertised, ...ofDefinition].map(([key = "", value = ""]) => [
    printable(shortenLine(key)),
    printable(shortenForPeople(value)),
  ]);
  const blocks = [
    heading.map((line) => wrap(printable(shortenForPeople(line)), style.width)).join("\n"),
    formatColumns(cells, style.width),
    ...parts.map((part) => formatPart(part, style)),
    formatText(content),
  ];
  return blocks.filter(Boolean).join("\n\n");
}
