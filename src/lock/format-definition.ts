import { isRecord } from "../data/parse-json.ts";
import { formatSchemaType } from "../extension-schema/format-schema-type.ts";
import { formatCount, quoteForShell } from "../problems/text.ts";
import { formatFully, formatLine, formatText, formatValue, linesOf } from "./format-lines.ts";
import type { Json, LockedItem } from "./types.ts";

/** Keys whose values are texts as lines. */
export const proseKeys: ReadonlySet<string> = new Set(["description", "instructions", "content", "text"]);

/** Keys that are shown as the command of a launch. */
const commandKeys = ["command", "script", "package", "bin", "args"];
/** Keys that are shown elsewhere, or say nothing. */
const omitted = new Set(["name", "lists", "prompts", "resources", ...commandKeys]);

/** Limit on the parameters of a tool that are shown. */
const mostParameters = 200;

const read = (item: LockedItem, key: string): Json | undefined =>
  Object.hasOwn(item, key) ? item[key] : undefined;

/** What starts a server, in full; `undefined` for a server that is not started. */
function formatLaunch(server: LockedItem): string | undefined {
  const [command, script, name, bin, args] = commandKeys.map((key) => read(server, key));
  const words = [command, script, ...(Array.isArray(args) ? args : [])].filter(
    (word) => typeof word === "string",
  );
  const shown = words.map((word) => formatFully(quoteForShell(word))).join(" ");
  if (typeof name !== "string") return shown === "" ? undefined : shown;
  const program = typeof bin === "string" ? `command ${formatFully(bin)}` : "command";
  return `the ${program} of package ${formatFully(name)}${shown === "" ? "" : `, with ${shown}`}`;
}

/** The parameters of a tool, each on one line, and what else its schema says. */
function formatParameters(schema: Json): string[] {
  if (!isRecord(schema)) return [`parameters: ${formatValue(schema)}`];
  const { properties, required, type, $schema: _, ...rest } = schema as { [key: string]: Json };
  const entries = isRecord(properties) ? Object.entries(properties) : [];
  const names = new Set(Array.isArray(required) ? required : []);
  const rows = entries.slice(0, mostParameters).map(([name, property]) => {
    const description =
      isRecord(property) && typeof property.description === "string" ? property.description : "";
    const presence = names.has(name) ? ", required" : "";
    const text = description === "" ? "" : `: ${formatLine(description)}`;
    return `  ${formatLine(name)} (${formatLine(formatSchemaType(property), 120)}${presence})${text}`;
  });
  const more = entries.length - rows.length;
  const others = Object.entries(rest).map(([key, value]) => `  ${formatLine(key)}: ${formatValue(value)}`);
  return [
    entries.length === 0 ? "parameters: none" : "parameters:",
    ...rows,
    ...(more > 0 ? [`  … (${formatCount(more)} more parameter${more === 1 ? "" : "s"})`] : []),
    ...others,
  ];
}

const isPlainList = (value: Json): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry === "string");

function formatKey(key: string, value: Json): string[] {
  if (proseKeys.has(key)) return [`${key}:`, ...formatText(linesOf(value, true)).map((line) => `  ${line}`)];
  if (key === "inputSchema") return formatParameters(value);
  if (key === "env" && isRecord(value)) {
    return Object.entries(value).map(
      ([name, text]) => `env: ${formatLine(name)}=${formatValue(text as Json)}`,
    );
  }
  if (isPlainList(value))
    return [`${formatLine(key)}: ${value.map((entry) => formatLine(entry)).join(", ")}`];
  return [`${formatLine(key)}: ${typeof value === "string" ? formatLine(value) : formatValue(value)}`];
}

/** The whole definition of an item in short form. */
export function formatDefinition(item: LockedItem): string[] {
  const launch = formatLaunch(item);
  const lines = Object.entries(item).flatMap(([key, value]) =>
    omitted.has(key) ? [] : formatKey(key, value),
  );
  return launch === undefined ? lines : [`starts: ${launch}`, ...lines];
}
