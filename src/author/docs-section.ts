import { failure } from "../problems/index.ts";

const opening = "<!-- trailblaze:docs -->";
const closing = "<!-- /trailblaze:docs -->";

interface Marker {
  marker: string;
  start: number;
  end: number;
}

/** The lines that consist of a marker, outside code fences. */
function findMarkers(text: string): Marker[] {
  const found: Marker[] = [];
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
