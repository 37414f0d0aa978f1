import { isRecord } from "../data/parse-json.ts";
import { formatSchemaType } from "../extension-schema/format-schema-type.ts";
import { isDefinitionKey } from "../extension-schema/index.ts";
import type { ItemInspection } from "../inspection/inspect.ts";
import type { ServerContents } from "../inspection/server-contents.ts";
import { formatCount, printable } from "../problems/text.ts";
import type { SessionTool } from "../session/session-tool.ts";
import type { TextStyle } from "./command.ts";
import { formatColumns, formatTable, shortenForPeople, wrap } from "./layout.ts";

/** Keys of a definition that have a part of the page of their own. */
const shownElsewhere = new Set([
  "name",
  "title",
  "description",
  "inputSchema",
  "outputSchema",
  "parameters",
  "arguments",
  "content",
  "text",
  "instructions",
  "tools",
  "toolsets",
  "prompts",
  "resources",
  "entries",
  "options",
]);

/** A value in a cell: strings unchanged, functions by name, other values as JSON. */
function formatValue(value: unknown): string {
  if (typeof value === "string") return value;
  if (isRecord(value) && typeof value.$function === "string") return `function ${value.$function}`;
  return JSON.stringify(value) ?? "";
}

function formatSchema(heading: string, schema: unknown, style: TextStyle): string[] {
  if (!isRecord(schema)) return [];
  const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  if (properties.length === 0) return ["", `${heading}  none`];
  const required = Array.isArray(schema.required) ? schema.required : [];
  const rows = properties.map(([name, property]) => {
    const { description, default: fallback } = isRecord(property) ? property : {};
    const presence = required.includes(name) ? "yes" : "no";
    const shown = fallback === undefined ? "" : JSON.stringify(fallback);
    return [
      name,
      formatSchemaType(property),
      presence,
      shown,
      typeof description === "string" ? description : "",
    ];
  });
  return ["", formatTable([heading, "TYPE", "REQUIRED", "DEFAULT", "DESCRIPTION"], rows, style)];
}

function formatArguments(list: unknown, style: TextStyle): string[] {
  if (!Array.isArray(list) || list.length === 0) return [];
  const rows = list
    .filter(isRecord)
    .map((one) => [
      formatValue(one.name),
      one.required === true ? "yes" : "no",
      formatValue(one.description ?? ""),
    ]);
  return ["", formatTable(["ARGUMENT", "REQUIRED", "DESCRIPTION"], rows, style)];
}

function formatOptions(options: unknown, style: TextStyle): string[] {
  if (!isRecord(options)) return [];
  const rows = Object.entries(options).map(([name, option]) => {
    const { default: fallback, description = "" } = isRecord(option) ? option : {};
    return [name, fallback === undefined ? "" : JSON.stringify(fallback), formatValue(description)];
  });
  return rows.length === 0 ? [] : ["", formatTable(["OPTION", "DEFAULT", "DESCRIPTION"], rows, style)];
}

function formatBundle(entries: unknown, style: TextStyle): string[] {
  if (!Array.isArray(entries)) return [];
  const rows = entries
    .filter(isRecord)
    .map((entry) => [
      formatValue(entry.name),
      formatValue(entry.handler),
      formatValue(entry.description ?? ""),
    ]);
  return ["", formatTable(["ENTRY", "HANDLER", "DESCRIPTION"], rows, style)];
}

function formatTools(tools: ServerContents["tools"], style: TextStyle): string[] {
  if (tools.length === 0) return [];
  const rows = tools.map((tool) => [tool.name, tool.qualifiedName ?? "(bundle)", tool.description ?? ""]);
  return ["", formatTable(["TOOL", "QUALIFIED NAME", "DESCRIPTION"], rows, style)];
}

function formatServer(
  { tools, promptNames, resourceNames, definition }: ItemInspection,
  style: TextStyle,
): string[] {
  const lines = formatTools(tools ?? [], style);
  for (const [heading, names = []] of [
    ["PROMPT", promptNames] as const,
    ["RESOURCE", resourceNames] as const,
  ]) {
    const rows = names.map((name) => [name]);
    if (rows.length > 0) lines.push("", formatTable([heading], rows, style));
  }
  return [...lines, ...formatText(definition?.instructions)];
}

/** Limits of the texts on a page. */
const maximumLines = 60;
const maximumWidth = 400;

const shortenLine = (line: string) => shortenForPeople(line, maximumWidth);

/** A multiline text with unprintable characters escaped, cut to the limits. */
function formatText(text: unknown): string[] {
  if (typeof text !== "string") return [];
  const lines = text.trimEnd().split("\n");
  const rest = lines.length - maximumLines;
  return [
    "",
    ...lines.slice(0, maximumLines).map((line) => printable(shortenLine(line))),
    ...(rest > 0 ? [`… (${formatCount(rest)} more line${rest === 1 ? "" : "s"}; --json shows all)`] : []),
  ];
}

/** The content of a prompt: its text, or the text of each message. */
function formatContent(content: unknown): string[] {
  if (!Array.isArray(content)) return formatText(content);
  const messages = content.filter(isRecord).map(({ role, content: said }) => {
    const block = isRecord(said) && said.type === "text" ? said.text : said;
    return `${formatValue(role)}: ${formatValue(block)}`;
  });
  return formatText(messages.join("\n"));
}

/** The tools of a toolset, then the references that resolve to no tool of a pack, as written in the definition. */
function formatMembers(
  definition: Record<string, unknown>,
  members: ServerContents | undefined,
  style: TextStyle,
): string[] {
  const shown = new Set(members?.tools.map(({ qualifiedName }) => qualifiedName));
  const others = (members?.toolNames ?? []).filter((name) => !shown.has(name)).map((name) => ["tool", name]);
  const toolsets = Array.isArray(definition.toolsets) ? definition.toolsets : [];
  const rows = [...others, ...toolsets.map((name) => ["toolset", formatValue(name)])];
  const table = rows.length === 0 ? [] : ["", formatTable(["KIND", "REFERENCE"], rows, style)];
  return [...formatTools(members?.tools ?? [], style), ...table];
}

/** Formats an item as a page: its description, pack, file, the members of a toolset, and its schema as a table. */
export function formatItemPage(
  item: ItemInspection,
  members: ServerContents | undefined,
  style: TextStyle,
): string {
  const { kind, qualifiedName, pack, version, file, definition, confinement } = item;
  const facts: [string, string][] = [
    ["pack", `${pack} ${version ?? ""}`.trimEnd()],
    [
      "file",
      file === null
        ? "(no definition)"
        : `${file} (${confinement === "data" ? "data" : `code, ${confinement}`})`,
    ],
  ];
  if (kind === "tool" || kind === "prompt") facts.push(["advertised", formatValue(definition?.name ?? "")]);
  for (const [key, value] of Object.entries(definition ?? {})) {
    const isKnown = isDefinitionKey(kind, key);
    if (!isKnown) facts.push([`${shortenLine(key)} (unknown)`, shortenLine(formatValue(value))]);
    else if (!shownElsewhere.has(key)) facts.push([key, formatValue(value)]);
  }

  const lines = [
    `${kind} ${qualifiedName}`,
    ...[definition?.title, definition?.description]
      .filter((text) => typeof text === "string")
      .map((text) => wrap(printable(shortenForPeople(text)), style.width)),
    "",
    formatColumns(
      facts.map(([key, value]) => [printable(key), printable(shortenForPeople(value))]),
      style.width,
    ),
  ];
  if (definition === null) return lines.join("\n");
  if (kind === "tool") {
    lines.push(...formatSchema("INPUT", definition.inputSchema, style));
    lines.push(...formatSchema("OUTPUT", definition.outputSchema, style));
    lines.push(...formatOptions(definition.options, style));
  }
  if (kind === "prompt") {
    lines.push(...formatArguments(definition.arguments, style), ...formatContent(definition.content));
  }
  if (kind === "resource") lines.push(...formatText(definition.text));
  if (kind === "toolset") {
    lines.push(...formatMembers(definition, members, style), ...formatBundle(definition.entries, style));
  }
  if (kind === "server") lines.push(...formatServer(item, style));
  return lines.join("\n");
}

/** Formats a tool of a server of the config as a page. `subject` is its `LABEL/TOOL`. */
export function formatServerToolPage(subject: string, tool: SessionTool, style: TextStyle): string {
  const { name, title, description, source, annotations, inputSchema, outputSchema } = tool;
  const facts: [string, string][] = [
    ["server", source.server ?? ""],
    ["advertised", name],
  ];
  if (annotations !== undefined) facts.push(["annotations", formatValue(annotations)]);
  const lines = [
    `tool ${printable(shortenForPeople(subject))}`,
    ...[title, description]
      .filter((text) => typeof text === "string")
      .map((text) => wrap(printable(shortenForPeople(text)), style.width)),
    "",
    formatColumns(
      facts.map(([key, value]) => [key, printable(shortenForPeople(value))]),
      style.width,
    ),
    ...formatSchema("INPUT", inputSchema, style),
    ...formatSchema("OUTPUT", outputSchema, style),
  ];
  return lines.join("\n");
}
