import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { DataSyntaxError } from "../../data/parse-json.ts";
import {
  beforeLineEnd,
  type ConfigEditor,
  findLineEnd,
  type JsonValue,
  splice,
  startOfLine,
  wrap,
} from "./config-format.ts";

function parseText(text: string): Node | undefined {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [error] = errors;
  if (error === undefined) return root;
  const code = printParseErrorCode(error.error)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
  throw new DataSyntaxError(`it is not valid JSON (${code})`, text, error.offset);
}

function toValue(text: string, node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map((child) => toValue(text, child));
  if (node.type !== "object") return node.value;
  const record = Object.create(null) as Record<string, unknown>;
  for (const { children } of node.children ?? []) {
    const [key, value] = children ?? [];
    if (key === undefined || value === undefined) continue;
    if (Object.hasOwn(record, key.value))
      throw new DataSyntaxError(`it has the key ${JSON.stringify(key.value)} twice`, text, key.offset);
    record[key.value] = toValue(text, value);
  }
  return record;
}

const findProperty = (node: Node | undefined, key: string): Node | undefined =>
  node?.type === "object" ? node.children?.find(({ children }) => children?.[0]?.value === key) : undefined;

const findValue = (root: Node | undefined, path: readonly string[]): Node | undefined =>
  path.reduce((node, key) => findProperty(node, key)?.children?.[1], root);

const endOf = (node: Node) => node.offset + node.length;

const indentationAt = (text: string, offset: number) =>
  /^[ \t]*/.exec(text.slice(startOfLine(text, offset), offset))?.[0] ?? "";

// Each takes as much as it can: half a comment is none.
const comment = String.raw`(?://[^\r\n]*(?![^\r\n])|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)`;
const untilComma = new RegExp(`^\\s*(?:${comment}\\s*)*,`);
const restOfLine = new RegExp(`^(?:[^\\S\\r\\n]*${comment})*`);

function findComma(text: string, value: Node): number | undefined {
  const gap = untilComma.exec(text.slice(endOf(value)));
  return gap === null ? undefined : endOf(value) + gap[0].length;
}

/** Adds a property behind the last one of an object. `write`: the property, after a line end and an indentation. */
function addProperty(text: string, object: Node, unit: string, write: (lead: string) => string): string[] {
  const lineEnd = findLineEnd(text);
  const close = endOf(object) - 1;
  const last = object.children?.at(-1);
  const base = indentationAt(text, object.offset);
  if (last === undefined) {
    const inner = text.slice(object.offset + 1, close);
    const at = object.offset + 1 + inner.trimEnd().length;
    const property = write(lineEnd + base + unit);
    if (text.slice(at, close).includes("\n")) return [splice(text, at, at, property)];
    const around = object.parent === undefined ? text.slice(0, object.offset) + text.slice(close + 1) : "";
    // Comments keep the braces when the property is removed, but not the line end that it needs.
    return (inner + around).trim() === "" ? [splice(text, at, close, property + lineEnd + base)] : [];
  }
  const comma = findComma(text, last);
  const at = comma ?? endOf(last);
  const [remarks = ""] = restOfLine.exec(text.slice(at)) ?? [];
  const startsLine = text.slice(startOfLine(text, last.offset), last.offset).trim() === "";
  const property = write(lineEnd + (startsLine ? indentationAt(text, last.offset) : base + unit));
  const added = comma === undefined ? `,${remarks}${property}` : `${remarks}${property},`;
  return [splice(text, at, at + remarks.length, added)];
}

/** The texts without a property and its comma: with the white space before it if that is possible. */
function cutProperty(text: string, object: Node, property: Node): string[] {
  const children = object.children ?? [];
  const previous = children[children.indexOf(property) - 1];
  const comma = findComma(text, property);
  const indentation = /[ \t]*$/.exec(text.slice(0, property.offset))?.[0] ?? "";
  const lead = beforeLineEnd(text, property.offset - indentation.length);
  return [lead, property.offset].map((start) => {
    const rest = splice(text, start, comma ?? endOf(property), "");
    const before = comma === undefined && previous && findComma(text, previous);
    return before ? splice(rest, before - 1, before, "") : rest;
  });
}

export const jsonEditor: ConfigEditor = {
  write({ container, key }, entry) {
    const indentation = "  ".repeat(container.length + 1);
    const text = JSON.stringify(entry, null, 2).replaceAll("\n", `\n${indentation}`);
    return `${indentation}${JSON.stringify(key)}: ${text}`;
  },
  writeInline: (key, entry) => `${JSON.stringify(key)}: ${JSON.stringify(entry)}`,
  open(text) {
    const root = parseText(text);
    const indentationOf = (node: Node | undefined) => (node ? indentationAt(text, node.offset) : "");
    const unit = indentationOf(root?.children?.[0]).slice(indentationOf(root).length) || "  ";
    const write = (value: JsonValue, lead: string) =>
      JSON.stringify(value, null, unit).replaceAll("\n", lead);
    return {
      value: root && toValue(text, root),
      offsetOf: (path) => findValue(root, path)?.offset ?? 0,
      edit({ container, key }, entry) {
        const keys = [...container, key];
        const value = findValue(root, keys);
        if (entry === undefined)
          return value?.parent?.parent ? cutProperty(text, value.parent.parent, value.parent) : [];
        const lineEnd = findLineEnd(text);
        // What is added to a text with comments only could not be told from an object that was there before.
        if (root === undefined)
          return text.trim() === "" ? [write(wrap(keys, entry), lineEnd) + lineEnd] : [];
        if (value !== undefined) {
          const lead = lineEnd + indentationOf(value.parent);
          return [splice(text, value.offset, endOf(value), write(entry, lead))];
        }
        const depth = keys.findIndex((_, index) => !findValue(root, keys.slice(0, index + 1)));
        const object = findValue(root, keys.slice(0, depth));
        const [name = "", ...below] = keys.slice(depth);
        const writeProperty = (lead: string) =>
          `${lead}${JSON.stringify(name)}: ${write(wrap(below, entry), lead)}`;
        return object?.type === "object" ? addProperty(text, object, unit, writeProperty) : [];
      },
    };
  },
};
