import { isRecord } from "../../data/parse-json.ts";
import { formatDocComment, formatKey, formatLiteral } from "./source-text.ts";

/** Deeper or larger parts become `unknown`: schemas come from untrusted packs. */
const deepest = 12;
const mostNodes = 2000;
const mostMembers = 200;

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

/** The literal type of a JSON value. */
function formatConstant(value: unknown, depth: number): string {
  if (typeof value === "string") return formatLiteral(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "number";
  if (depth > deepest) return "unknown";
  if (Array.isArray(value)) return `[${value.map((item) => formatConstant(item, depth + 1)).join(", ")}]`;
  if (!isRecord(value)) return "unknown";
  const members = Object.entries(value).sort(byName);
  return `{ ${members.map(([key, item]) => `${formatKey(key)}: ${formatConstant(item, depth + 1)}`).join("; ")} }`;
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
    if (Object.hasOwn(schema, "const")) parts.push(formatConstant(schema.const, depth));
    const values = own(schema, "enum");
    if (Array.isArray(values)) {
      const isShown = values.length <= mostMembers;
      parts.push(
        isShown
          ? joinTypes(
              values.map((value) => formatConstant(value, depth)),
              "|",
            )
          : "unknown",
      );
    }
    // With const or enum, the types add nothing.
    if (!Object.hasOwn(schema, "const") && !Array.isArray(values))
      parts.push(this.#writeByType(schema, indent, depth));
    for (const keyword of ["anyOf", "oneOf"]) {
      const members = own(schema, keyword);
      if (!Array.isArray(members)) continue;
      const isShown = members.length <= mostMembers;
      const types = isShown ? members.map((member) => this.write(member, indent, depth + 1)) : ["unknown"];
      parts.push(joinTypes(types, "|"));
    }
    const all = own(schema, "allOf");
    if (Array.isArray(all))
      for (const member of all.slice(0, mostMembers)) parts.push(this.write(member, indent, depth + 1));
    const type = joinTypes(parts, "&");
    return own(schema, "nullable") === true ? joinTypes([type, "null"], "|") : type;
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
    const properties = isRecord(declared) ? Object.entries(declared).sort(byName).slice(0, mostMembers) : [];
    const further = own(schema, "additionalProperties");
    const patterns = own(schema, "patternProperties");
    const keyPatterns = isRecord(patterns) ? Object.keys(patterns) : [];
    // Keys with a prefix, such as x-, have an equivalent if no others are allowed.
    const [prefix] = keyPatterns.length === 1 ? (/^\^[\w-]+$/.exec(keyPatterns[0] ?? "") ?? []) : [];
    const isPrefixed = further === false && prefix !== undefined;
    const isOpen = keyPatterns.length > 0 && !isPrefixed;
    const required = own(schema, "required");
    const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
    const undeclared = Array.isArray(required)
      ? required.filter(
          (name) => typeof name === "string" && !(isRecord(declared) && Object.hasOwn(declared, name)),
        )
      : [];
    const inner = `${indent}  `;
    const members = properties.map(([name, property]) => {
      const described = isRecord(property) ? property : {};
      const comment = formatDocComment(
        [textOf(own(described, "description")) ?? textOf(own(described, "title"))],
        inner,
      );
      const type = this.write(property, inner, depth + 1);
      return `${comment}${inner}${formatKey(name)}${isRequired(name) ? "" : "?"}: ${type};`;
    });
    for (const name of [...new Set(undeclared)].sort().slice(0, mostMembers))
      members.push(`${inner}${formatKey(name)}: ${further === false ? "never" : "unknown"};`);
    const isCut = isRecord(declared) && Object.keys(declared).length > mostMembers;
    if (members.length === 0) {
      if (further === false && !isOpen) return "{ [key: string]: never }";
      const type = isRecord(further) && !isOpen ? this.write(further, indent, depth + 1) : "unknown";
      return `{ [key: string]: ${type} }`;
    }
    // Additional properties are allowed without the keyword, but an undeclared one is usually misspelled.
    if (isCut || isOpen || further === true || isRecord(further))
      members.push(`${inner}[key: string]: unknown;`);
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
