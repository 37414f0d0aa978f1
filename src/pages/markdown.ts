import { isRecord } from "../data/parse-json.ts";
import { kinds } from "../kinds.ts";
import { failure } from "../problems/index.ts";
import { printable } from "../problems/text.ts";
import type { DescribedPack } from "./describe-packs.ts";
import {
  type Cell,
  createEnvironmentTable,
  createNeedsTable,
  formatValue,
  type Part,
  titleOfKind,
} from "./page.ts";

/** A text as one line of Markdown in which neither Markdown nor HTML has a meaning. */
function escapeText(text: string): string {
  return (
    printable(text)
      .trim()
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replace(/[\\`*_[\]>|~]/g, "\\$&")
      // The start of a list, a heading, or the line below a heading.
      .replace(/^(?:[-+=#]|\d+(?=[.)]))/, (start) => (/^\d/.test(start) ? start : `\\${start}`))
      .replace(/^(\d+)([.)])/, "$1\\$2")
      // GitHub makes links of bare addresses; these are the author's words, not the reader's.
      .replace(/\b(https?|ftp):\/\//gi, "$1:&#47;&#47;")
      .replace(/\bwww\./gi, "www&#46;")
  );
}

const escapeParagraphs = (text: string): string[] =>
  text
    .split(/\r?\n[ \t]*(?:\r?\n[ \t]*)+/)
    .map(escapeText)
    .filter((paragraph) => paragraph !== "");

/** A text as code. In a cell of a table, `|` is escaped even in code. */
function formatCode(text: string): string {
  const shown = printable(text).replaceAll("|", "\\|");
  if (shown === "") return "";
  const runs = shown.match(/`+/g) ?? [];
  const longest = runs.reduce((most, run) => Math.max(most, run.length), 0);
  const fence = "`".repeat(longest + 1);
  const needsSpace = /^[` ]|[` ]$/.test(shown);
  return needsSpace ? `${fence} ${shown} ${fence}` : `${fence}${shown}${fence}`;
}

const formatHeading = (level: number, text: string): string => `${"#".repeat(level)} ${text}`;
const listOfCode = (names: readonly string[]): string => names.map(formatCode).join(", ");
const formatCell = (cell: Cell): string =>
  typeof cell === "string" ? escapeText(cell) : formatCode(cell.code);

function formatPart(part: Part): string[] {
  if (typeof part === "string") return escapeParagraphs(part);
  if (part.rows.length === 0) return [];
  const [title, ...others] = part.columns;
  if (others.length === 0) return [`${title}: ${part.rows.map((row) => row.map(formatCell)).join(", ")}`];
  const rows = [part.columns, part.columns.map(() => "---"), ...part.rows.map((row) => row.map(formatCell))];
  return [rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n")];
}

const documentedFacts: Readonly<Record<string, string>> = {
  uri: "URI",
  uriTemplate: "URI",
  mimeType: "Type",
  annotations: "Hints",
};

function formatItem({ page, ...item }: DescribedPack["items"][number], level: number): string[] {
  const heading = formatHeading(level, formatCode(page.name));
  const description = escapeParagraphs(page.description || page.title);
  if (item.definition === null) return [heading, ...description, "Its definition is missing or invalid."];
  const facts = page.facts.flatMap(([key, value]) => {
    const title = Object.hasOwn(documentedFacts, key) ? documentedFacts[key] : undefined;
    const names = isRecord(value)
      ? Object.entries(value).flatMap(([name, hint]) => (typeof hint === "boolean" ? `${name}: ${hint}` : []))
      : [formatValue(value)];
    return title === undefined || names.length === 0 ? [] : [`${title}: ${listOfCode(names)}`];
  });
  const name = item.declaration.kind === "tool" ? [`Qualified name: ${formatCode(item.qualifiedName)}`] : [];
  return [heading, ...description, ...name, ...page.parts.flatMap(formatPart), ...facts];
}

/** Documents a pack as Markdown whose top headings have `level`. Every text of the pack is escaped. */
export function formatPackDocs(pack: DescribedPack, level: number): string {
  const ofKinds = kinds.flatMap((kind) => {
    const items = pack.items.filter(({ declaration }) => declaration.kind === kind);
    const title = formatHeading(level, titleOfKind(kind));
    return items.length === 0 ? [] : [title, ...items.flatMap((item) => formatItem(item, level + 1))];
  });
  const underHeading = (title: string, part: Part) => {
    const formatted = formatPart(part);
    return formatted.length === 0 ? [] : [formatHeading(level, title), ...formatted];
  };
  const parts = [
    ...ofKinds,
    ...underHeading("Environment", createEnvironmentTable(pack.items)),
    ...underHeading("Needs", createNeedsTable(pack.pack.needs)),
  ];
  return `${parts.length === 0 ? "This pack declares no items." : parts.join("\n\n")}\n`;
}

const opening = "<!-- trailblaze:docs -->";
const closing = "<!-- /trailblaze:docs -->";

/** The lines that consist of a marker, outside code fences. */
function findMarkers(text: string) {
  const found: { marker: string; start: number; end: number }[] = [];
  let fence: string | undefined;
  for (const { 0: line, index } of text.matchAll(/^.*$/gm)) {
    const [, marks = "", info = ""] = /^(?:[ \t]|[-*+>] )*(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (fence !== undefined) {
      if (marks.startsWith(fence) && info.trim() === "") fence = undefined;
    } else if (marks !== "" && !(marks.startsWith("`") && info.includes("`"))) fence = marks;
    else {
      // Four spaces or a tab make it code.
      const [, marker = ""] = /^\uFEFF? {0,3}(<!-- \/?trailblaze:docs -->)\s*$/.exec(line) ?? [];
      if (marker !== "") found.push({ marker, start: index, end: index + line.length });
    }
  }
  return found;
}

/**
 * Replaces what is between the markers of a Markdown text. Keeps every other byte, and the line ends of the opening
 * marker's line. Throws `DocsMarkersMissing` unless both are there, once and in order. `file`: for the problem.
 */
export function replaceDocsSection(text: string, markdown: string, file: string): string {
  const markers = findMarkers(text);
  const [first, last] = markers;
  if (markers.length !== 2 || first?.marker !== opening || last?.marker !== closing) {
    const count = (marker: string) => markers.filter((one) => one.marker === marker).length;
    throw failure("DocsMarkersMissing", { file, opening: count(opening), closing: count(closing) }, { file });
  }
  const lineEnd = /^(?:\r\n|\r|\n)/.exec(text.slice(first.end))?.[0] ?? "\n";
  const content = `\n\n${markdown.trim()}\n\n`.replaceAll("\n", lineEnd);
  return text.slice(0, first.end) + content + text.slice(last.start);
}
