import { isRecord } from "../../data/parse-json.ts";
import { needsKeys } from "../../extension-schema/index.ts";
import type { ServerContents } from "../../inspection/server-contents.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import { type Kind, keyOfKind } from "../../kinds.ts";
import type { DescribedPack } from "./describe-pack.ts";
import { listProperties } from "./list-properties.ts";
import { escapeParagraphs, escapeText, formatCode, formatHeading, formatMarkdownTable } from "./markdown.ts";

type Definition = Readonly<Record<string, unknown>>;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const listOfCode = (names: readonly string[]): string => names.map(formatCode).join(", ");
const recordsIn = (value: unknown): Definition[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const entriesOf = (value: unknown): [string, unknown][] => (isRecord(value) ? Object.entries(value) : []);
const formatJson = (value: unknown): string =>
  value === undefined ? "" : formatCode(JSON.stringify(value) ?? "");

/** A line such as `Tools: …`; nothing without names. */
const formatNames = (label: string, names: readonly string[]): string[] =>
  names.length === 0 ? [] : [`${label}: ${listOfCode(names)}`];

function formatProperties(heading: string, schema: unknown): string[] {
  const rows = listProperties(schema).map(({ path, type, required, fallback, description }) => [
    formatCode(path),
    formatCode(type),
    required ? "yes" : "no",
    formatJson(fallback),
    escapeText(description),
  ]);
  return formatMarkdownTable([heading, "Type", "Required", "Default", "Description"], rows);
}

function formatTool(definition: Definition, qualifiedName: string): string[] {
  const { inputSchema, outputSchema, annotations, options } = definition;
  const input = formatProperties("Argument", inputSchema);
  const hints = entriesOf(annotations).filter(([, value]) => typeof value === "boolean");
  const rows = entriesOf(options).map(([name, option]) => {
    const { default: fallback, description } = isRecord(option) ? option : {};
    return [formatCode(name), formatJson(fallback), escapeText(textOf(description))];
  });
  return [
    `Qualified name: ${formatCode(qualifiedName)}`,
    ...(input.length === 0 ? ["No arguments."] : input),
    ...formatProperties("Result", outputSchema),
    ...formatMarkdownTable(["Option", "Default", "Description"], rows),
    ...(hints.length === 0
      ? []
      : [`Hints: ${listOfCode(hints.map(([name, value]) => `${name}: ${value}`))}`]),
  ];
}

function formatArguments(definition: Definition): string[] {
  const rows = recordsIn(definition.arguments).map(({ name, required, description }) => [
    formatCode(textOf(name)),
    required === true ? "yes" : "no",
    escapeText(textOf(description)),
  ]);
  return formatMarkdownTable(["Argument", "Required", "Description"], rows);
}

function formatResource({ uri, uriTemplate, mimeType }: Definition): string[] {
  const place = textOf(uri) || textOf(uriTemplate);
  return [
    `URI: ${formatCode(place)}`,
    ...(textOf(mimeType) ? [`Type: ${formatCode(textOf(mimeType))}`] : []),
  ];
}

const toolNames = (contents: ServerContents | undefined): string[] => {
  const named = contents?.tools.map(({ name }) => name) ?? [];
  const shown = new Set(contents?.tools.map(({ qualifiedName }) => qualifiedName));
  return [...named, ...(contents?.toolNames ?? []).filter((name) => !shown.has(name))];
};

function formatServer(item: InspectedItem, { contents, listed, items }: DescribedPack): string[] {
  const { definition, declaration, qualifiedName, shape } = item;
  const namesOf = (kind: Kind, names: readonly string[] = []) =>
    names.map((name) => {
      const own = items.find((one) => one.declaration.kind === kind && one.qualifiedName === name);
      return own === undefined ? name : shownName(own);
    });
  const instructions = escapeParagraphs(textOf(definition?.instructions));
  if (shape !== "subprocessServer") {
    const members = contents.get(`server ${qualifiedName}`);
    return [
      ...instructions,
      ...formatNames("Tools", toolNames(members)),
      ...formatNames("Prompts", namesOf("prompt", members?.promptNames)),
      ...formatNames("Resources", namesOf("resource", members?.resourceNames)),
    ];
  }
  const names = listed.get(declaration.name);
  if (names === undefined) return ["Its tools are not listed: they are known when the server runs."];
  return names.length === 0 ? ["No tools."] : formatNames("Tools", names);
}

function formatToolset(item: InspectedItem, { contents }: DescribedPack): string[] {
  const entries = recordsIn(item.definition?.entries);
  const rows = entries.map((entry) => [
    formatCode(textOf(entry.name)),
    escapeText(textOf(entry.description)),
  ]);
  const members = contents.get(`toolset ${item.qualifiedName}`);
  return [...formatNames("Tools", toolNames(members)), ...formatMarkdownTable(["Tool", "Description"], rows)];
}

function formatItem(item: InspectedItem, pack: DescribedPack): string[] {
  const { definition, declaration, qualifiedName } = item;
  if (definition === null) return ["Its definition is missing or invalid."];
  switch (declaration.kind) {
    case "server":
      return formatServer(item, pack);
    case "tool":
      return formatTool(definition, qualifiedName);
    case "toolset":
      return formatToolset(item, pack);
    case "prompt":
      return formatArguments(definition);
    case "resource":
      return formatResource(definition);
  }
}

/** What models and clients call an item. */
const shownName = ({ definition, declaration }: InspectedItem): string => {
  const isAdvertised = declaration.kind === "tool" || declaration.kind === "prompt";
  return (isAdvertised && textOf(definition?.name)) || declaration.name;
};

const titles: Readonly<Record<Kind, string>> = {
  server: "Servers",
  tool: "Tools",
  toolset: "Toolsets",
  prompt: "Prompts",
  resource: "Resources",
};

function formatKind(kind: Kind, pack: DescribedPack, level: number): string[] {
  const items = pack.items.filter(({ declaration }) => declaration.kind === kind);
  if (items.length === 0) return [];
  return [
    formatHeading(level, titles[kind]),
    ...items.flatMap((item) => {
      const { definition, declaration } = item;
      const description = textOf(definition?.description) || (declaration.description ?? "");
      return [
        formatHeading(level + 1, formatCode(shownName(item))),
        ...escapeParagraphs(description || textOf(definition?.title)),
        ...formatItem(item, pack),
      ];
    }),
  ];
}

/** The variables of the servers' environments, without their values. */
function formatEnvironment({ items }: DescribedPack, level: number): string[] {
  const rows = items.flatMap(({ declaration, definition }) => {
    if (declaration.kind !== "server") return [];
    const { env, envPassthrough } = definition ?? {};
    const passed = Array.isArray(envPassthrough)
      ? envPassthrough.filter((one) => typeof one === "string")
      : [];
    const own = entriesOf(env).map(([name]) => [name, "set by the pack"]);
    return [...passed.map((name) => [name, "from your environment"]), ...own].map(
      ([name = "", origin = ""]) => [formatCode(name), formatCode(declaration.name), origin],
    );
  });
  const table = formatMarkdownTable(["Variable", "Server", "Value"], rows);
  return table.length === 0 ? [] : [formatHeading(level, "Environment"), ...table];
}

const needsTitles = {
  env: "Environment variables",
  network: "Network",
  read: "Reads",
  write: "Writes",
  tools: "Calls tools",
} as const;

function formatNeeds({ found }: DescribedPack, level: number): string[] {
  const { needs } = found.pack;
  if (needs === undefined) return [];
  const rows = needsKeys.map((key) => {
    const entries = needs[key];
    const shown =
      entries === undefined ? "not declared" : entries.length === 0 ? "none" : listOfCode(entries);
    return [needsTitles[key], shown];
  });
  return [formatHeading(level, "Needs"), ...formatMarkdownTable(["What", "Declared"], rows)];
}

/** Documents a pack as Markdown whose top headings have `level`. Every text of the pack is escaped. */
export function formatPackDocs(pack: DescribedPack, level: number): string {
  const kindsInOrder = Object.keys(keyOfKind) as Kind[];
  const parts = [
    ...kindsInOrder.flatMap((kind) => formatKind(kind, pack, level)),
    ...formatEnvironment(pack, level),
    ...formatNeeds(pack, level),
  ];
  if (parts.length === 0) parts.push("This pack declares no items.");
  return `${parts.join("\n\n")}\n`;
}
