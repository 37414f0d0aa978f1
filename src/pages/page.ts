import { isRecord } from "../data/parse-json.ts";
import { isDefinitionKey, type Needs, needsKeys } from "../extension-schema/index.ts";
import { readPointer, valueAt } from "../extension-schema/pointer.ts";
import type { ServerContents } from "../inspection/server-contents.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { type Kind, keyOfKind } from "../kinds.ts";
import type { SkillFile } from "../skills/skill-entry.ts";
import type { DescribedPack } from "./describe-packs.ts";

/** A text, or one that is code. Texts of a page may be a pack's: what formats the page escapes them. */
export type Cell = string | { code: string };

/** An item that belongs to another one, by the name that models see. */
export interface Member {
  kind: Kind;
  name: string;
  /** `null` for an entry of a bundle, a built-in, a tool of a subprocess server. */
  qualifiedName: string | null;
  description: string;
}

interface Table {
  type: "table";
  columns: string[];
  rows: Cell[][];
}

export type Part =
  | { type: "text"; text: string }
  | { type: "members"; title: string; members: Member[] }
  | Table;

/** What a page says about an item, in its order. */
export interface ItemPage {
  kind: Kind;
  qualifiedName: string;
  /** What models and clients call it. */
  name: string;
  title: string;
  description: string;
  /** The keys of the definition that have no part. */
  facts: { key: string; value: unknown; isKnown: boolean }[];
  /** Without those that have nothing to show. */
  parts: Part[];
  /** What the definition contains: the messages of a prompt, or the text of a resource. */
  content: string;
}

type Definition = Readonly<Record<string, unknown>>;

/** The described item. */
interface Subject {
  kind: Kind;
  /** Short. */
  name: string;
  qualifiedName: string;
  definition: Definition | null;
  /** In the declaration. */
  description?: string | null;
  /** Of a skill: its files, and the text of SKILL.md. */
  files?: readonly SkillFile[] | undefined;
  text?: string | undefined;
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
      rows.push([
        code(path),
        code(formatSchemaType(property)),
        isRequired,
        json(fallback),
        textOf(description),
      ]);
      collect(property, `${path}.`, depth + 1);
      collect(items, `${path}[].`, depth + 1);
    }
  };
  collect(schema, "", 1);
  const table: Part = { type: "table", columns: [title, "Type", "Required", "Default", "Description"], rows };
  if (isComplete) return [table];
  return [table, { type: "text", text: "The table is not complete: the schema is too large or too deep." }];
}

/** The arguments and the result of a tool. */
export function partsOfSchemas(inputSchema: unknown, outputSchema: unknown): Part[] {
  const input = tableOfSchema("Argument", inputSchema);
  const isOpen =
    isRecord(inputSchema) && ["anyOf", "oneOf", "allOf", "$ref"].some((key) => key in inputSchema);
  const text = isOpen ? "The definition has the schema of the arguments." : "No arguments.";
  return [
    ...(input.some(hasContent) ? input : [{ type: "text", text } as const]),
    ...tableOfSchema("Result", outputSchema),
  ];
}

/** Items by which a page names members, and what it knows of their tools. */
export interface PageContext {
  /** Of a composed server or of a toolset. */
  contents?: ServerContents | undefined;
  /** The tools of a subprocess server; `null` if they are known when it runs, `undefined` if the page does not say. */
  listed?: readonly string[] | null;
  /** The name of an item that models see. */
  nameOf?: (kind: Kind, qualifiedName: string) => string;
}

/** The members of a composed server or a toolset: items of packs, then built-ins of the host. */
function partsOfMembers({ contents, listed, nameOf = (_, name) => name }: PageContext): Part[] {
  if (listed === null)
    return [{ type: "text", text: "Its tools are not listed: they are known when the server runs." }];
  if (listed?.length === 0) return [{ type: "text", text: "No tools." }];
  const {
    tools = [],
    toolNames = listed ?? [],
    promptNames = [],
    resourceNames = [],
    skillNames = [],
  } = contents ?? {};
  const items = new Set(tools.map(({ qualifiedName }) => qualifiedName));
  const others = toolNames.filter((name) => !items.has(name));
  const named = (kind: Kind, names: readonly string[]): Member[] =>
    names.map((name) => ({ kind, name: nameOf(kind, name), qualifiedName: name, description: "" }));
  const ofTools = [
    ...tools.map((tool) => ({ ...tool, description: tool.description ?? "" })),
    ...others.map((name) => ({ name, qualifiedName: null, description: "" })),
  ];
  return [
    { type: "members", title: "Tools", members: ofTools.map((tool) => ({ ...tool, kind: "tool" })) },
    { type: "members", title: "Prompts", members: named("prompt", promptNames) },
    { type: "members", title: "Resources", members: named("resource", resourceNames) },
    { type: "members", title: "Skills", members: named("skill", skillNames) },
  ];
}

const partsByKind: Readonly<Record<Kind, (definition: Definition) => Part[]>> = {
  server: ({ instructions }) => [{ type: "text", text: textOf(instructions) }],
  tool: ({ inputSchema, outputSchema, options }) => {
    const rows = Object.entries(isRecord(options) ? options : {}).map(([name, option]) => {
      const { default: fallback, description } = isRecord(option) ? option : {};
      return [code(name), json(fallback), textOf(description)];
    });
    const ofOptions: Part = { type: "table", columns: ["Option", "Default", "Description"], rows };
    return [...partsOfSchemas(inputSchema, outputSchema), ofOptions];
  },
  toolset: ({ entries }) => {
    const rows = recordsIn(entries).map(({ name, description }) => [code(textOf(name)), textOf(description)]);
    return [{ type: "table", columns: ["Tool", "Description"], rows }];
  },
  prompt: ({ arguments: list }) => {
    const rows = recordsIn(list).map(({ name, required, description }) => {
      return [code(textOf(name)), required === true ? "yes" : "no", textOf(description)];
    });
    return [{ type: "table", columns: ["Argument", "Required", "Description"], rows }];
  },
  resource: () => [],
  skill: () => [],
};

/** Keys of a definition that have a place of their own on the page. */
const shownElsewhere =
  /^(?:name|title|description|inputSchema|outputSchema|parameters|arguments|content|text|instructions|tools|prompts|resources|entries|options)$/;

const hasContent = (part: Part): boolean =>
  (part.type === "text" ? part.text : part.type === "table" ? part.rows : part.members).length > 0;

export function createItemPage(
  { kind, name, qualifiedName, definition, description, files = [], text }: Subject,
  context: PageContext,
): ItemPage {
  const isAdvertised = kind === "tool" || kind === "prompt";
  const rows = files.map(({ path, size, digest }) => [code(path), String(size), code(digest)]);
  const ofFiles: Part = { type: "table", columns: ["File", "Bytes", "Digest"], rows };
  const ofKind = definition === null ? [] : [...partsByKind[kind](definition), ...partsOfMembers(context)];
  const parts = [...ofKind, ofFiles];
  return {
    kind,
    qualifiedName,
    name: (isAdvertised && textOf(definition?.name)) || name,
    title: textOf(definition?.title),
    description: textOf(definition?.description) || (description ?? ""),
    facts: Object.entries(definition ?? {}).flatMap(([key, value]) => {
      const isKnown = isDefinitionKey(kind, key);
      return isKnown && shownElsewhere.test(key) ? [] : [{ key, value, isKnown }];
    }),
    parts: parts.filter(hasContent),
    content: kind === "prompt" ? formatMessages(definition?.content) : (text ?? textOf(definition?.text)),
  };
}

/** The page of an item of a pack. */
export function createPageOfItem(item: InspectedItem, pack: DescribedPack): ItemPage {
  const subject = ({ declaration, qualifiedName, definition, skill }: InspectedItem): Subject => {
    return { ...declaration, qualifiedName, definition, files: skill?.files, text: skill?.text };
  };
  const nameOf = (kind: Kind, qualifiedName: string) => {
    const own = pack.items.find(
      (one) => one.declaration.kind === kind && one.qualifiedName === qualifiedName,
    );
    return own === undefined ? qualifiedName : createItemPage(subject(own), {}).name;
  };
  const listed = item.shape === "subprocessServer" ? (pack.listed.get(item) ?? null) : undefined;
  return createItemPage(subject(item), { contents: pack.contents.get(item), listed, nameOf });
}

/** The variables of the environments of a pack's servers, without their values. */
export function createEnvironmentTable(items: readonly InspectedItem[]): Part {
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
  return { type: "table", columns: ["Variable", "Server", "Value"], rows };
}

const needsTitles = {
  env: "Environment variables",
  network: "Network",
  read: "Reads",
  write: "Writes",
  tools: "Calls tools",
} as const;

/** What a pack declares that it needs; without rows if it declares nothing. */
export function createNeedsTable(needs: Needs | undefined): Table {
  const describe = (names: readonly string[] | undefined): Cell => {
    if (names === undefined) return "not declared";
    return names.length === 0 ? "none" : code(names.join(", "));
  };
  const rows = needs === undefined ? [] : needsKeys.map((key) => [needsTitles[key], describe(needs[key])]);
  return { type: "table", columns: ["What", "Declared"], rows };
}

/** `Servers` for `server`. */
export const titleOfKind = (kind: Kind): string =>
  keyOfKind[kind].replace(/^./, (letter) => letter.toUpperCase());
