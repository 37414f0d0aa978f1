import { isRecord } from "../data/parse-json.ts";
import { type Needs, needsKeys } from "../extension-schema/parse-extension.ts";
import { readPointer, valueAt } from "../extension-schema/pointer.ts";
import type { ServerContents } from "../inspection/server-contents.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { type Kind, keyOfKind } from "../kinds.ts";
import type { SkillFile } from "../skills/skill-entry.ts";

/** A text, or one that is code. Texts of a page may be a pack's: what formats the page escapes them. */
export type Cell = string | { code: string };

export interface Table {
  columns: string[];
  rows: Cell[][];
}

export type Part = string | Table;

type Definition = Readonly<Record<string, unknown>>;

export interface PageSubject {
  kind: Kind;
  name: string;
  qualifiedName: string;
  definition: Definition | null;
  /** In the declaration. */
  description?: string | null;
  /** Of a skill: its files, and the text of SKILL.md. */
  files?: readonly SkillFile[] | undefined;
  text?: string | undefined;
  /** Of a server or a toolset; `null` if they are known when it runs, `undefined` if the page does not say. */
  contents?: Partial<ServerContents> | null | undefined;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const code = (text: string): Cell => ({ code: text });
const json = (value: unknown): Cell => (value === undefined ? "" : code(JSON.stringify(value) ?? ""));
const recordsIn = (value: unknown): Definition[] => (Array.isArray(value) ? value.filter(isRecord) : []);

/** A value of a definition: strings unchanged, functions by name, other values as JSON. */
export function formatValue(value: unknown): string {
  if (typeof value === "string") return value;
  if (isRecord(value) && typeof value.$function === "string") return `function ${value.$function}`;
  return JSON.stringify(value) ?? "";
}

function formatMessages(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content);
  const messages = content.filter(isRecord).map(({ role, content: said }) => {
    const block = isRecord(said) && said.type === "text" ? said.text : said;
    return `${formatValue(role)}: ${formatValue(block)}`;
  });
  return messages.join("\n");
}

/** A JSON Schema's type in a few words, such as `string`, `string[]`, `"a" | "b"`. It may contain text of a pack. */
export function formatSchemaType(schema: unknown): string {
  if (!isRecord(schema)) return schema === false ? "nothing" : "anything";
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array")
    return `${isRecord(schema.items) ? formatSchemaType(schema.items) : "anything"}[]`;
  if (Array.isArray(schema.type)) return schema.type.join(" | ");
  return typeof schema.type === "string" ? schema.type : "anything";
}

const deepest = 5;
const mostProperties = 500;

/** The schema that a local `$ref` points to, with the keys beside it; the schema itself without one. */
function follow(schema: unknown, root: unknown): unknown {
  const reference = isRecord(schema) ? schema.$ref : undefined;
  if (!isRecord(schema) || typeof reference !== "string" || !reference.startsWith("#/")) return schema;
  const target = valueAt(root, readPointer(reference, root));
  const { $ref: _, ...own } = schema;
  return isRecord(target) ? { ...target, ...own } : schema;
}

/** The properties of a schema as a table, in which those of inner objects follow their object; not all of a very large one. */
function tableOfSchema(title: string, schema: unknown): Part[] {
  const rows: Cell[][] = [];
  let isComplete = true;
  const collect = (written: unknown, prefix: string, depth: number): void => {
    const object = follow(written, schema);
    if (!isRecord(object) || !isRecord(object.properties)) return;
    const required: unknown[] = Array.isArray(object.required) ? object.required : [];
    for (const [name, inner] of Object.entries(object.properties)) {
      isComplete &&= depth <= deepest && rows.length < mostProperties;
      if (!isComplete) return;
      const property = follow(inner, schema);
      const { description, default: fallback, items } = isRecord(property) ? property : {};
      const path = `${prefix}${name}`;
      const isRequired = required.includes(name) ? "yes" : "no";
      const type = code(formatSchemaType(property));
      rows.push([code(path), type, isRequired, json(fallback), textOf(description)]);
      collect(property, `${path}.`, depth + 1);
      collect(items, `${path}[].`, depth + 1);
    }
  };
  collect(schema, "", 1);
  const note = isComplete ? "" : "The table is not complete: the schema is too large or too deep.";
  return [{ columns: [title, "Type", "Required", "Default", "Description"], rows }, note];
}

function partsOfSchemas(inputSchema: unknown, outputSchema: unknown): Part[] {
  const input = tableOfSchema("Argument", inputSchema);
  const isOpen =
    isRecord(inputSchema) && ["anyOf", "oneOf", "allOf", "$ref"].some((key) => key in inputSchema);
  const text = isOpen ? "The definition has the schema of the arguments." : "No arguments.";
  return [...(input.some(hasContent) ? input : [text]), ...tableOfSchema("Result", outputSchema)];
}

/** The members of a server or a toolset: items of packs, then built-ins of the host. */
function partsOfMembers(contents: PageSubject["contents"]): Part[] {
  if (contents === null) return ["Its tools are not listed: they are known when the server runs."];
  const {
    tools = [],
    toolNames = [],
    promptNames = [],
    resourceNames = [],
    skillNames = [],
  } = contents ?? {};
  const items = new Set(tools.map(({ qualifiedName }) => qualifiedName));
  const others = toolNames.filter((name) => !items.has(name));
  const ofTools = [
    ...tools.map((tool) => [code(tool.name), code(tool.qualifiedName ?? ""), tool.description ?? ""]),
    ...others.map((name) => [code(name), "", ""]),
  ];
  const table = { columns: ["Tool", "Qualified name", "Description"], rows: ofTools };
  const listOf = (kind: Kind, names: readonly string[]): Part => {
    return { columns: [titleOfKind(kind)], rows: names.map((name) => [code(name)]) };
  };
  return [
    tools.length === 0 ? listOf("tool", others) : table,
    listOf("prompt", promptNames),
    listOf("resource", resourceNames),
    listOf("skill", skillNames),
  ];
}

const partsByKind: Readonly<Record<Kind, (definition: Definition) => Part[]>> = {
  server: ({ instructions }) => [textOf(instructions)],
  tool: ({ inputSchema, outputSchema, options }) => {
    const rows = Object.entries(isRecord(options) ? options : {}).map(([name, option]) => {
      const { default: fallback, description } = isRecord(option) ? option : {};
      return [code(name), json(fallback), textOf(description)];
    });
    const columns = ["Option", "Default", "Description"];
    return [...partsOfSchemas(inputSchema, outputSchema), { columns, rows }];
  },
  toolset: ({ entries }) => {
    const rows = recordsIn(entries).map(({ name, description }) => [code(textOf(name)), textOf(description)]);
    return [{ columns: ["Tool", "Description"], rows }];
  },
  prompt: ({ arguments: list }) => {
    const rows = recordsIn(list).map(({ name, required, description }) => {
      return [code(textOf(name)), required === true ? "yes" : "no", textOf(description)];
    });
    return [{ columns: ["Argument", "Required", "Description"], rows }];
  },
  resource: () => [],
  skill: () => [],
};

const shownElsewhere =
  /^(?:name|title|description|inputSchema|outputSchema|parameters|arguments|content|text|instructions|tools|prompts|resources|entries|options)$/;

const hasContent = (part: Part): boolean => (typeof part === "string" ? part : part.rows).length > 0;

export function createItemPage(subject: PageSubject) {
  const { kind, name, definition, description, files = [], text, contents } = subject;
  const isAdvertised = kind === "tool" || kind === "prompt";
  const rows = files.map(({ path, size, digest }) => [code(path), String(size), code(digest)]);
  const ofFiles: Part = { columns: ["File", "Bytes", "Digest"], rows };
  const ofKind = definition === null ? [] : [...partsByKind[kind](definition), ...partsOfMembers(contents)];
  const parts = [...ofKind, ofFiles];
  return {
    /** What models and clients call it. */
    name: (isAdvertised && textOf(definition?.name)) || name,
    title: textOf(definition?.title),
    description: textOf(definition?.description) || (description ?? ""),
    facts: Object.entries(definition ?? {}).filter(
      ([key, value]) => value !== undefined && !shownElsewhere.test(key),
    ),
    parts: parts.filter(hasContent),
    content: kind === "prompt" ? formatMessages(definition?.content) : (text ?? textOf(definition?.text)),
  };
}

export type ItemPage = ReturnType<typeof createItemPage>;

/** The variables of the environments of a pack's servers, without their values. */
export function createEnvironmentTable(items: readonly InspectedItem[]): Table {
  const rows = items.flatMap(({ declaration: { kind, name }, definition }) => {
    const { env, envPassthrough } = (kind === "server" && definition) || {};
    const row = (variable: string, origin: string) => [code(variable), code(name), origin];
    const passed: unknown[] = Array.isArray(envPassthrough) ? envPassthrough : [];
    const names = passed.filter((one) => typeof one === "string");
    return [
      ...names.map((variable) => row(variable, "from your environment")),
      ...Object.keys(isRecord(env) ? env : {}).map((variable) => row(variable, "set by the pack")),
    ];
  });
  return { columns: ["Variable", "Server", "Value"], rows };
}

export function createNeedsTable(needs: Needs | undefined): Table {
  const describe = (names: readonly string[] | undefined): Cell => {
    if (names === undefined) return "not declared";
    return names.length === 0 ? "none" : code(names.join(", "));
  };
  const rows = needs === undefined ? [] : needsKeys.map((key) => [code(key), describe(needs[key])]);
  return { columns: ["Needs", "Declared"], rows };
}

export const titleOfKind = (kind: Kind): string =>
  keyOfKind[kind].replace(/^./, (letter) => letter.toUpperCase());
