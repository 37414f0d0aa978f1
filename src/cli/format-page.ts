import type { ItemInspection } from "../inspection/inspect.ts";
import type { ServerContents } from "../inspection/server-contents.ts";
import { type Cell, createItemPage, formatValue, type Part, partsOfSchemas } from "../pages/page.ts";
import { countOf, printable } from "../problems/text.ts";
import type { SessionTool } from "../session/items.ts";
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
  if (part.type === "text") return formatText(part.text);
  if (part.type === "table") {
    const rows = part.rows.map((row) => row.map(textOfCell));
    return formatTable(
      part.columns.map((column) => column.toUpperCase()),
      rows,
      style,
    );
  }
  const { members } = part;
  const headings = [(members[0]?.kind ?? "").toUpperCase(), "QUALIFIED NAME", "DESCRIPTION"];
  // The names of prompts and resources are qualified themselves.
  const columns = members.every(({ name, qualifiedName }) => name === qualifiedName) ? 1 : 3;
  const rows = members.map(({ name, qualifiedName, description }) =>
    [name, qualifiedName ?? "", description].slice(0, columns),
  );
  return formatTable(headings.slice(0, columns), rows, style);
}

/** A page: its heading, texts, facts and parts. */
function formatPage(
  [heading, ...texts]: readonly string[],
  facts: readonly (readonly [string, string])[],
  parts: readonly string[],
  { width }: TextStyle,
): string {
  const head = texts.filter(Boolean).map((text) => wrap(printable(shortenForPeople(text)), width));
  const cells = facts.map(([key, value]) => [
    printable(shortenLine(key)),
    printable(shortenForPeople(value)),
  ]);
  const blocks = [
    [printable(shortenForPeople(heading ?? "")), ...head].join("\n"),
    formatColumns(cells, width),
    ...parts,
  ];
  return blocks.filter(Boolean).join("\n\n");
}

/** Formats an item as a page. `members`: the contents of a toolset. */
export function formatItemPage(
  item: ItemInspection,
  members: ServerContents | undefined,
  style: TextStyle,
): string {
  const { kind, qualifiedName, pack, version, file, confinement, tools } = item;
  const { toolNames = [], promptNames = [], resourceNames = [], skillNames = [] } = item;
  const contents =
    tools === undefined ? members : { tools, toolNames, promptNames, resourceNames, skillNames };
  // Without a definition, the advertised name is unknown.
  const page = createItemPage({ ...item, name: "" }, { contents });
  const how = confinement === "data" ? "data" : `code, ${confinement}`;
  const facts: [string, string][] = [
    ["pack", `${pack} ${version ?? ""}`.trimEnd()],
    ["file", file === null ? "(no definition)" : `${file} (${how})`],
    ...(kind === "tool" || kind === "prompt" ? [["advertised", page.name] as [string, string]] : []),
    ...page.facts.map(({ key, value, isKnown }): [string, string] => {
      const text = formatValue(value);
      return isKnown ? [key, text] : [`${shortenLine(key)} (unknown)`, shortenLine(text)];
    }),
  ];
  const parts = page.parts.map((part) => formatPart(part, style));
  if (page.content !== "") parts.push(formatText(page.content));
  return formatPage([`${kind} ${qualifiedName}`, page.title, page.description], facts, parts, style);
}

/** Formats a tool of a server of the config as a page. `subject` is its `LABEL/TOOL`. */
export function formatServerToolPage(subject: string, tool: SessionTool, style: TextStyle): string {
  const { name, title = "", description = "", source, annotations, inputSchema, outputSchema } = tool;
  const facts: [string, string][] = [
    ["server", source.server ?? ""],
    ["advertised", name],
  ];
  if (annotations !== undefined) facts.push(["annotations", formatValue(annotations)]);
  const parts = partsOfSchemas(inputSchema, outputSchema);
  return formatPage(
    [`tool ${subject}`, title, description],
    facts,
    parts.map((part) => formatPart(part, style)),
    style,
  );
}
