import { isRecord } from "../../data/parse-json.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import { type Path, quote } from "../../problems/index.ts";

/** A tool as clients see it: an item or an entry of a bundle. */
export interface WrittenTool {
  item: InspectedItem;
  definition: Readonly<Record<string, unknown>>;
  /** The path from the top of the item's definition. */
  path: Path;
  isEntry: boolean;
}

/** Every tool in a pack's definitions, including entries of bundles, in order. */
export function* findTools(items: readonly InspectedItem[]): Generator<WrittenTool> {
  for (const item of items) {
    const { shape, definition } = item;
    if (definition === null) continue;
    if (shape === "tool") yield { item, definition, path: [], isEntry: false };
    if (shape !== "toolsBundle" || !Array.isArray(definition.entries)) continue;
    for (const [index, entry] of definition.entries.entries()) {
      if (isRecord(entry)) yield { item, definition: entry, path: ["entries", index], isEntry: true };
    }
  }
}

/** The advertised name; `undefined` if there is none, which the check of shapes reports. */
export function advertisedName({ name }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof name === "string" && name.trim() !== "" ? name : undefined;
}

/** Whether all clients accept the name. */
export function isAdvertisable(name: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(name);
}

/** `tool "createIssue"`, or an entry of a bundle by its advertised name or its number from 1. */
export function describeTool({ item, definition, path, isEntry }: WrittenTool): string {
  if (!isEntry) return `tool ${quote(item.declaration.name)}`;
  const name = advertisedName(definition);
  const entry = name === undefined ? `${Number(path.at(-1)) + 1}` : quote(name);
  return `entry ${entry} of the toolset ${quote(item.declaration.name)}`;
}

/** A JSON Schema in a definition. */
export interface WrittenSchema {
  tool: WrittenTool;
  /** The key of the schema; `parameters` for a schema that was expanded from the short form. */
  key: "inputSchema" | "parameters" | "argumentsSchema" | "outputSchema";
  schema: Readonly<Record<string, unknown>>;
}

/** Every JSON Schema in a pack's definitions, in order. */
export function* findSchemas(items: readonly InspectedItem[]): Generator<WrittenSchema> {
  for (const tool of findTools(items)) {
    const { definition, isEntry } = tool;
    const inputKey = isEntry ? "argumentsSchema" : "inputSchema";
    const key = !isEntry && isRecord(definition.parameters) ? "parameters" : inputKey;
    const [input, output] = [definition[inputKey], definition.outputSchema];
    if (isRecord(input)) yield { tool, key, schema: input };
    if (isRecord(output)) yield { tool, key: "outputSchema", schema: output };
  }
}

/** Converts a path in a schema to the written one below its key: `parameters` are the `properties` of the expanded schema. */
export const toWritten = ({ key }: WrittenSchema, path: Path): Path =>
  key === "parameters" ? (path[0] === "properties" ? path.slice(1) : []) : path;

/** Converts a path in a schema to one from the top of the item's definition. */
export const placeInDefinition = (written: WrittenSchema, path: Path): Path => [
  ...written.tool.path,
  written.key,
  ...toWritten(written, path),
];
