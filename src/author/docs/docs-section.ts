import { failure } from "../../problems/index.ts";

const opening = "<!-- trailblaze:docs -->";
const closing = "<!-- /trailblaze:docs -->";

interface Line {
  /** Without its end. */
  text: string;
  start: number;
  end: number;
}

function* linesOf(text: string): Generator<Line> {
  const pattern = /\r\n|\r|\n|$/g;
  for (let start = 0; start <= text.length; ) {
    pattern.lastIndex = start;
    const at = pattern.exec(text);
    if (at === null) return;
    yield { text: text.slice(start, at.index), start, end: at.index };
    if (at[0] === "") return;
    start = at.index + at[0].length;
  }
}

/** The lines that consist of a marker, outside code fences. */
function findMarkers(text: string): (Line & { marker: string })[] {
  const found: (Line & { marker: string })[] = [];
  let fence: string | undefined;
  for (const line of linesOf(text)) {
    const [, marks = "", info = ""] = /^(?:[ \t]|[-*+>] )*(`{3,}|~{3,})(.*)$/.exec(line.text) ?? [];
    if (fence !== undefined) {
      const ends = marks.startsWith(fence) && info.trim() === "";
      if (ends) fence = undefined;
    } else if (marks !== "" && !(marks.startsWith("`") && info.includes("`"))) fence = marks;
    else {
      // Four spaces or a tab make it code.
      const marker = line.text
        .replace(/^\uFEFF/, "")
        .replace(/^ {1,3}/, "")
        .trimEnd();
      if (marker === opening || marker === closing) found.push({ ...line, marker });
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
