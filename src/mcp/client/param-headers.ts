import { findInteger } from "../../data/exact-integers.ts";
import { isRecord } from "../../data/parse-json.ts";

/** An argument that clients repeat in a header, because its schema has `x-mcp-header`. */
export interface MirroredArgument {
  /** In lower case. */
  header: string;
  /** From the top of the arguments. */
  path: readonly string[];
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const types = ["string", "integer", "boolean"];
/** How deep schemas are searched. */
const maximumDepth = 20;

/**
 * The arguments that clients repeat in headers; empty if a declaration is invalid, because clients leave out such a tool.
 * Only properties that are reached through `properties` alone can be declared.
 */
export function findMirroredArguments(inputSchema: unknown): MirroredArgument[] {
  const found: MirroredArgument[] = [];
  let isValid = true;
  const visit = (schema: unknown, path: readonly string[]): void => {
    if (!isRecord(schema) || !isRecord(schema.properties) || path.length >= maximumDepth) return;
    for (const [name, property] of Object.entries(schema.properties)) {
      if (!isRecord(property)) continue;
      const here = [...path, name];
      const { "x-mcp-header": written, type } = property;
      if (written !== undefined) {
        isValid &&= typeof written === "string" && token.test(written) && types.includes(String(type));
        found.push({ header: `mcp-param-${String(written).toLowerCase()}`, path: here });
      }
      visit(property, here);
    }
  };
  visit(inputSchema, []);
  const isUnique = new Set(found.map(({ header }) => header)).size === found.length;
  return isValid && isUnique ? found : [];
}

/** The value in a header, which may be encoded; `undefined` if it is not encoded correctly. */
function decode(header: string): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(header) ?? [];
  if (encoded === undefined) return /^[\t\x20-\x7e]*$/.test(header) ? header : undefined;
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.toString("base64") !== encoded) return undefined;
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes) ? text : undefined;
}

/** A value for a header, encoded if a header cannot contain it. */
function encodeHeader(text: string): string {
  const isPlain = /^[\t\x20-\x7e]*$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

const isEqual = (decoded: string, value: string | number | boolean): boolean =>
  decoded === String(value) ||
  (typeof value === "number" && /^-?\d+(?:\.\d+)?$/.test(decoded) && Number(decoded) === value);

function valueAt(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const key of path) {
    if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined;
    value = findInteger(value, key) ?? value[key];
  }
  return value;
}

/**
 * The header that does not repeat its argument, as a sentence; `undefined` if all do. What reads only the headers, such as
 * a gateway, would otherwise be deceived.
 */
export function findHeaderFault(
  mirrored: readonly MirroredArgument[],
  args: unknown,
  headers: Headers,
): string | undefined {
  for (const { header, path } of mirrored) {
    const value = valueAt(args, path);
    const written = headers.get(header);
    if (value === undefined || value === null) {
      if (written !== null) return `The header ${header} repeats an argument that the call does not have.`;
      continue;
    }
    // The check of the arguments explains values of other types.
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") continue;
    if (written === null) return `The header ${header} is missing.`;
    const decoded = decode(written);
    if (decoded === undefined) return `The header ${header} is not encoded correctly.`;
    if (!isEqual(decoded, value)) return `The header ${header} and its argument disagree.`;
  }
  return undefined;
}

/** The headers that repeat arguments of a call. */
export function createMirrorHeaders(
  mirrored: readonly MirroredArgument[],
  args: unknown,
): Record<string, string> {
  const headers = mirrored.flatMap(({ header, path }) => {
    const value = valueAt(args, path);
    const isScalar = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
    return isScalar ? [[header, encodeHeader(String(value))] as const] : [];
  });
  return Object.fromEntries(headers);
}
