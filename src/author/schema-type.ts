// Strings of tools are hostile: in generated source they may only occur in literals and comments.

import { isRecord } from "../data/parse-json.ts";
import { escapeJson } from "../problems/hidden-characters.ts";
import { printable } from "../problems/index.ts";

/** Commands that CI systems recognize anywhere in a log. */
const logCommand = /(##\w*)\[/g;

/** A string as a literal. */
export function formatLiteral(text: string): string {
  return escapeJson(JSON.stringify(text));
}

/** The name of a property: as it is if possible, otherwise as a literal. */
export function formatKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : formatLiteral(name);
}

const longestComment = 2000;

/** Strings as a doc comment; empty if there are none. */
export function formatDocComment(texts: readonly (string | undefined)[], indent: string): string {
  const joined = texts.filter((text) => text !== undefined).join("\n\n");
  const cut = joined.length > longestComment ? `${joined.slice(0, longestComment)}…` : joined;
  const lines = cut.split(/\r\n|[\n\r\u2028\u2029]/).map((line) =>
    printable(line.replaceAll("\t", "  "))
      .replaceAll("*/", "*\\/")
      .replace(logCommand, "$1\\[")
      // Prevents doc tags and instructions to the compiler.
      .replace(/(?<![\w.])@/g, "\\@")
      .trimEnd(),
  );
  while (lines.at(-1) === "") lines.pop();
  while (lines[0] === "") lines.shift();
  if (lines.length === 0) return "";
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}

/** Deeper or larger parts become `unknown`: schemas come from untrusted packs. */
const deepest = 12;
const mostNodes = 2000;

type Schema = Readonly<Record<string, unknown>>;

const primitives: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null",
};

const own = (schema: Schema, keyword: string): unknown =>
  Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const needsParentheses = (type: string): boolean => type.includes(" | ") || type.includes(" & ");
const inParentheses = (type: string): string => (needsParentheses(type) ? `(${type})` : type);

function joinTypes(types: readonly string[], sign: "|" | "&"): string {
  const absorbing = sign === "|" ? "unknown" : "never";
  const neutral = sign === "|" ? "never" : "unknown";
  const rest = [...new Set(types)].filter((type) => type !== neutral);
  if (rest.includes(absorbing)) return absorbing;
  if (rest.length === 0) return neutral;
  if (rest.length === 1) return rest[0] ?? neutral;
  return rest.map(sign === "&" ? inParentheses : (type) => type).join(` ${sign} `);
}

/** The literal type of a scalar. */
function formatConstant(value: unknown): string {
  if (typeof value === "string") return formatLiteral(value);
  if (value === null || typeof value === "boolean") return String(value);
  return Number.isFinite(value) ? String(value) : "unknown";
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : a > b ? 1 : 0;

/** Writes the type of one schema. Unsupported parts become `unknown`, never a wrong type. */
class TypeWriter {
  readonly #root: Schema;
  readonly #referred: string[] = [];
  readonly #array: string;
  #nodes = 0;

  constructor(root: Schema, array: string) {
    this.#root = root;
    this.#array = array;
  }

  write(schema: unknown, indent: string, depth: number): string {
    if (schema === false) return "never";
    if (!isRecord(schema) || depth > deepest || ++this.#nodes > mostNodes) return "unknown";
    const parts: string[] = [];
    const reference = own(schema, "$ref");
    if (reference !== undefined) parts.push(this.#followReference(reference, indent, depth));
    const values = own(schema, "enum");
    if (Object.hasOwn(schema, "const")) parts.push(formatConstant(schema.const));
    if (Array.isArray(values)) parts.push(joinTypes(values.map(formatConstant), "|"));
    // With const or enum, the types add nothing.
    if (!Object.hasOwn(schema, "const") && !Array.isArray(values))
      parts.push(this.#writeByType(schema, indent, depth));
    const membersOf = (keyword: string) => {
      const members = own(schema, keyword);
      return Array.isArray(members) ? members.map((member) => this.write(member, indent, depth + 1)) : [];
    };
    for (const keyword of ["anyOf", "oneOf"])
      if (Array.isArray(own(schema, keyword))) parts.push(joinTypes(membersOf(keyword), "|"));
    return joinTypes([...parts, ...membersOf("allOf")], "&");
  }

  #writeByType(schema: Schema, indent: string, depth: number): string {
    const given = own(schema, "type");
    if (given === undefined) {
      const isObject = isRecord(own(schema, "properties"));
      return isObject ? this.#writeObject(schema, indent, depth) : "unknown";
    }
    const types = (Array.isArray(given) ? given : [given]).map((type) => {
      if (type === "object") return this.#writeObject(schema, indent, depth);
      if (type === "array") return this.#writeArray(schema, indent, depth);
      return typeof type === "string" && Object.hasOwn(primitives, type)
        ? (primitives[type] ?? "unknown")
        : "unknown";
    });
    return joinTypes(types, "|");
  }

  #writeArray(schema: Schema, indent: string, depth: number): string {
    const items = own(schema, "items");
    const prefix = own(schema, "prefixItems") ?? (Array.isArray(items) ? items : undefined);
    // The schema checks the length and the places of tuples.
    if (Array.isArray(prefix)) return "unknown[]";
    if (items === undefined || items === true) return "unknown[]";
    return `${this.#array}${inParentheses(this.write(items, indent, depth + 1))}[]`;
  }

  #writeObject(schema: Schema, indent: string, depth: number): string {
    const declared = own(schema, "properties");
    const properties = isRecord(declared) ? Object.entries(declared).sort(byName) : [];
    const further = own(schema, "additionalProperties");
    const patterns = own(schema, "patternProperties");
    const keyPatterns = isRecord(patterns) ? Object.keys(patterns) : [];
    // Keys with a prefix, such as x-, have an equivalent if no others are allowed.
    const [prefix] = keyPatterns.length === 1 ? (/^\^[\w-]+$/.exec(keyPatterns[0] ?? "") ?? []) : [];
    const isPrefixed = further === false && prefix !== undefined;
    const written = own(schema, "required");
    const required: unknown[] = Array.isArray(written) ? written : [];
    const isDeclared = (name: unknown) => properties.some(([declaredName]) => declaredName === name);
    const isOpen = (keyPatterns.length > 0 && !isPrefixed) || !required.every(isDeclared);
    const inner = `${indent}  `;
    const members = properties.map(([name, property]) => {
      const described = isRecord(property) ? property : {};
      const words = textOf(own(described, "description")) ?? textOf(own(described, "title"));
      const mark = required.includes(name) ? "" : "?";
      const type = this.write(property, inner, depth + 1);
      return `${formatDocComment([words], inner)}${inner}${formatKey(name)}${mark}: ${type};`;
    });
    if (members.length === 0) {
      if (further === false && !isOpen) return "{ [key: string]: never }";
      const type = isRecord(further) && !isOpen ? this.write(further, indent, depth + 1) : "unknown";
      return `{ [key: string]: ${type} }`;
    }
    // Additional properties are allowed without the keyword, but an undeclared one is usually misspelled.
    if (isOpen || further === true || isRecord(further)) members.push(`${inner}[key: string]: unknown;`);
    else if (isPrefixed) members.push(`${inner}[key: \`${prefix.slice(1)}\${string}\`]: unknown;`);
    return `{\n${members.join("\n")}\n${indent}}`;
  }

  #followReference(reference: unknown, indent: string, depth: number): string {
    if (typeof reference !== "string" || this.#referred.includes(reference)) return "unknown";
    const target = this.#find(reference);
    if (target === undefined) return "unknown";
    this.#referred.push(reference);
    const type = this.write(target, indent, depth + 1);
    this.#referred.pop();
    return type;
  }

  #find(reference: string): unknown {
    if (reference === "#" || !reference.startsWith("#/")) return undefined;
    let place: unknown = this.#root;
    for (const segment of reference.slice(2).split("/")) {
      const key = segment.replaceAll("~1", "/").replaceAll("~0", "~");
      if (Array.isArray(place)) place = /^\d+$/.test(key) ? place[Number(key)] : undefined;
      else if (isRecord(place)) place = own(place, key);
      else return undefined;
    }
    return place;
  }
}

/**
 * The TypeScript type for a JSON Schema; wider where TypeScript has no equivalent. `indent`: of its first line. `array`:
 * what starts the types of arrays, such as `readonly `.
 */
export function formatSchemaType(schema: Schema, indent: string, array = ""): string {
  return new TypeWriter(schema, array).write(schema, indent, 0);
}
