// Strings of tools are hostile: in generated source they may only occur in literals and comments.

import { createRequire } from "node:module";
import { join } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import { readPointer, valueAt } from "../extension-schema/pointer.ts";
import { attempt } from "../files/file-errors.ts";
import { escapeJson } from "../problems/hidden-characters.ts";
import { printable } from "../problems/index.ts";
import type { SessionTool } from "../session/items.ts";

export const formatLiteral = (text: string): string => escapeJson(JSON.stringify(text));

const formatKey = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : formatLiteral(name));

/** Strings as a doc comment; empty if there are none. */
export function formatDocComment(texts: readonly (string | undefined)[], indent: string): string {
  const text = texts.filter((one) => one !== undefined).join("\n\n");
  const lines = text
    .trim()
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) =>
      printable(line.replaceAll("\t", "  "))
        .replaceAll("*/", "*\\/")
        // Commands that CI systems recognize anywhere in a log.
        .replace(/(##\w*)\[/g, "$1\\[")
        // Prevents doc tags and instructions to the compiler.
        .replace(/(?<![\w.])@/g, "\\@")
        .trimEnd(),
    );
  if (text.trim() === "") return "";
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}

/** Deeper or larger parts become `unknown`: schemas come from untrusted packs. */
const deepest = 12;
const mostNodes = 2000;

type Schema = Readonly<Record<string, unknown>>;

/** The types of JSON Schema that TypeScript has under the same name. */
const plainTypes: readonly unknown[] = ["string", "number", "boolean", "null"];

const inParentheses = (type: string): string => (/ [|&] /.test(type) ? `(${type})` : type);

function unionOf(types: readonly string[]): string {
  const members = [...new Set(types)].filter((type) => type !== "never");
  return members.includes("unknown") ? "unknown" : members.join(" | ") || "never";
}

const intersectionOf = (types: readonly string[]): string =>
  types
    .filter((type) => type !== "unknown")
    .map(inParentheses)
    .join(" & ") || "unknown";

function formatConstant(value: unknown): string {
  if (typeof value === "string") return formatLiteral(value);
  if (value === null || typeof value === "boolean") return String(value);
  return Number.isFinite(value) ? String(value) : "unknown";
}

/**
 * The TypeScript type for a JSON Schema, which may allow more than the schema does; `unknown` where TypeScript has no
 * equivalent. `start`: the indentation of its first line. `array`: what starts the types of arrays, such as `readonly `.
 */
export function formatSchemaType(root: Schema, start: string, array = ""): string {
  const referred: string[] = [];
  let nodes = 0;

  function write(schema: unknown, indent: string, depth: number): string {
    if (schema === false) return "never";
    if (!isRecord(schema) || depth > deepest || ++nodes > mostNodes) return "unknown";
    const inner = (member: unknown) => write(member, indent, depth + 1);
    const { $ref: reference, const: constant, enum: values, properties, items, anyOf, allOf } = schema;
    const { type: types = isRecord(properties) ? "object" : undefined, oneOf: branches = anyOf } = schema;
    if (typeof reference === "string") return followReference(reference, inner);
    if (constant !== undefined) return formatConstant(constant);
    if (Array.isArray(values)) return unionOf(values.map(formatConstant));
    if (types === undefined && Array.isArray(branches)) return unionOf(branches.map(inner));
    if (types === undefined && Array.isArray(allOf)) return intersectionOf(allOf.map(inner));
    const ofType = (type: unknown) => {
      if (type === "object") return writeObject(schema, indent, depth);
      if (type === "integer") return "number";
      if (type !== "array") return plainTypes.includes(type) ? String(type) : "unknown";
      // The schema checks the length and the places of tuples.
      const isTuple = Array.isArray(items) || Array.isArray(schema.prefixItems);
      return isTuple || items === undefined ? "unknown[]" : `${array}${inParentheses(inner(items))}[]`;
    };
    return unionOf([types].flat().map(ofType));
  }

  function writeObject(schema: Schema, indent: string, depth: number): string {
    const { additionalProperties: further, patternProperties: patterns } = schema;
    const properties = Object.entries(isRecord(schema.properties) ? schema.properties : {});
    const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
    const keyPatterns = Object.keys(isRecord(patterns) ? patterns : {});
    // Keys with a prefix, such as x-, have an equivalent if no others are allowed.
    const [prefix] = keyPatterns.length === 1 ? (/^\^[\w-]+$/.exec(keyPatterns[0] ?? "") ?? []) : [];
    const isPrefixed = further === false && prefix !== undefined;
    const isDeclared = (name: unknown) => properties.some(([declaredName]) => declaredName === name);
    const isOpen = (keyPatterns.length > 0 && !isPrefixed) || !required.every(isDeclared);
    const inner = `${indent}  `;
    const members = properties.map(([name, property]) => {
      const { title, description = title } = isRecord(property) ? property : {};
      const comment = formatDocComment([typeof description === "string" ? description : undefined], inner);
      const mark = required.includes(name) ? "" : "?";
      return `${comment}${inner}${formatKey(name)}${mark}: ${write(property, inner, depth + 1)};`;
    });
    if (members.length === 0) {
      if (further === false && !isOpen) return "{ [key: string]: never }";
      const type = isRecord(further) && !isOpen ? write(further, indent, depth + 1) : "unknown";
      return `{ [key: string]: ${type} }`;
    }
    // Additional properties are allowed without the keyword, but an undeclared one is usually misspelled.
    if (isOpen || further === true || isRecord(further)) members.push(`${inner}[key: string]: unknown;`);
    else if (isPrefixed) members.push(`${inner}[key: \`${prefix.slice(1)}\${string}\`]: unknown;`);
    return `{\n${members.join("\n")}\n${indent}}`;
  }

  function followReference(reference: string, inner: (schema: unknown) => string): string {
    if (referred.includes(reference) || !reference.startsWith("#/")) return "unknown";
    referred.push(reference);
    const type = inner(valueAt(root, readPointer(reference, root)));
    referred.pop();
    return type;
  }

  return write(root, start, 0);
}

/** A tool for declarations. Its strings are not trusted. */
export type DeclaredTool = Pick<
  SessionTool,
  "name" | "title" | "description" | "inputSchema" | "outputSchema"
>;

const header = `// The tools of this project's sessions. Generated by \`trailblaze types\`: run it again instead of editing.
`;

/** The modules whose `InstalledTools` a file of declarations can add to. */
export const typedModules = ["trailblaze/session", "@trailblaze/scripting"] as const;
export type TypedModule = (typeof typedModules)[number];

const indent = "  ";
const inner = `${indent}  `;

function formatTool({ name, title, description, inputSchema, outputSchema }: DeclaredTool): string {
  const comment = formatDocComment([title, description], indent);
  const members = [`${inner}arguments: ${formatSchemaType(inputSchema, inner)};`];
  if (outputSchema !== undefined) members.push(`${inner}result: ${formatSchemaType(outputSchema, inner)};`);
  return `${comment}${indent}${formatLiteral(name)}: {\n${members.join("\n")}\n${indent}};\n`;
}

const formatModule = (name: TypedModule): string => `
declare module "${name}" {
  interface InstalledTools extends Tools {}
}
`;

/**
 * TypeScript declarations of the tools for `callTool` of sessions and for the client of `@trailblaze/scripting`. `modules`:
 * those that are installed, since to declare another is an error. Pure: the same tools in any order give the same source.
 */
export function formatDeclarations(
  tools: readonly DeclaredTool[],
  modules: readonly TypedModule[] = typedModules,
): string {
  const sorted = [...tools].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const imports = modules.map((name) => `import type {} from "${name}";\n`).join("");
  return `${header}${imports}
interface Tools {
${sorted.map(formatTool).join("")}}
${modules.map(formatModule).join("")}`;
}

/** The modules with types of tools that code in a folder can import; all if it can import none, as before an install. */
function findTypedModules(folder: string): readonly TypedModule[] {
  const { resolve } = createRequire(join(folder, "from-here.js"));
  const packageOf = (name: TypedModule) => (name === "trailblaze/session" ? "trailblaze" : name);
  const found = typedModules.filter((name) => attempt(() => resolve(`${packageOf(name)}/package.json`)));
  return found.length === 0 ? typedModules : found;
}

/**
 * Declares all tools of a session, including those that are not for models, because code may call them. `cwd`: the folder
 * of the project, from which the declared modules are resolved. `tools`: their advertised names, sorted.
 */
export function declareTools({ tools }: { tools: readonly DeclaredTool[] }, cwd: string) {
  const declarations = formatDeclarations(tools, findTypedModules(cwd));
  return { declarations, tools: tools.map(({ name }) => name).sort() };
}
