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

/** A value for a header, encoded if a header cannot contain it. */
function encodeHeader(text: string): string {
  const isPlain = /^[\t\x20-\x7e]*$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const key of path) {
    if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined;
    value = findInteger(value, key) ?? value[key];
  }
  return value;
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
