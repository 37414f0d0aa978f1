import { Document, isPair, isScalar, isSeq, isMap as isYamlMap, type Pair, visit } from "yaml";
import { DataSyntaxError } from "../../data/parse-json.ts";
import { composeYaml } from "../../data/parse-yaml.ts";
import {
  beforeLineEnd,
  type ConfigEditor,
  endOfLine,
  findLineEnd,
  type JsonValue,
  splice,
  startOfLine,
  toPlain,
  wrap,
} from "./config-format.ts";

/** A longer text is not parsed within a minute. */
const maximumLength = 16 << 20;

/** Strings that every parser reads as strings without quotes. */
const plainText = /^(?!(?:true|false|yes|no|on|off|null|y|n|nan|inf)$)[a-z_/][\w/.@+-]*$/i;

/** A pair in block style without the indentation of its key, for a text with the same line ends. */
function writePair(key: string, value: JsonValue, indentation: string, text = ""): string {
  const document = new Document({ [key]: value });
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === "string" && !plainText.test(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  return document
    .toString({ lineWidth: 0 })
    .trimEnd()
    .replaceAll("\n", findLineEnd(text) + indentation);
}

function rangeOf(node: unknown): [start: number, end: number] {
  const { range } = (node ?? {}) as { range?: [number, number, number] | null };
  return range ? [range[0], range[1]] : [0, 0];
}

/** The last node of a value: it ends without the comments and blank lines after it. */
function lastNode(node: unknown): unknown {
  if ((isYamlMap(node) || isSeq(node)) && !node.flow) {
    const last: unknown = node.items.at(-1);
    const value = isPair(last) ? (last.value ?? last.key) : last;
    if (value !== undefined && value !== null) return lastNode(value);
  }
  return node;
}

const findPair = (map: unknown, key: string): Pair | undefined =>
  isYamlMap(map)
    ? map.items.find(({ key: name }) => isScalar(name) && String(name.value) === key)
    : undefined;

const afterColon = (text: string, pair: Pair) => text.indexOf(":", rangeOf(pair.key)[1]) + 1;

function endOfPair(text: string, pair: Pair): number {
  const [, valueEnd] = rangeOf(lastNode(pair.value));
  return beforeLineEnd(text, valueEnd > rangeOf(pair.key)[1] ? valueEnd : afterColon(text, pair));
}

const indentationOf = (text: string, pair: Pair) => {
  const [start] = rangeOf(pair.key);
  return text.slice(startOfLine(text, start), start).replace(/[^ ]/g, " ");
};

/** Adds the first pair below a key whose value is nothing, `null` or `{}`, which it replaces. Adds none where that has a comment. */
function fillEmpty(
  text: string,
  pair: Pair,
  [key = "", ...below]: readonly string[],
  value: JsonValue,
): string[] {
  const start = afterColon(text, pair);
  const end = Math.max(start, rangeOf(pair.value)[1]);
  if (/[#&!]/.test(text.slice(start, end))) return [];
  const [unit] = /^ {1,8}(?=[^\s#])/m.exec(text) ?? ["  "];
  const indentation = indentationOf(text, pair) + unit;
  const written = indentation + writePair(key, wrap(below, value), indentation, text);
  const at = endOfLine(text, end);
  return [splice(splice(text, at, at, findLineEnd(text) + written), start, end, "")];
}

/** Adds a pair below maps in block style, behind the last one. */
function addPair(
  text: string,
  map: unknown,
  [key = "", ...below]: readonly string[],
  value: JsonValue,
): string[] {
  const pair = findPair(map, key);
  if (pair !== undefined) {
    const isFilled = isYamlMap(pair.value) && pair.value.items.length > 0;
    return isFilled ? addPair(text, pair.value, below, value) : fillEmpty(text, pair, below, value);
  }
  if (!isYamlMap(map) || map.flow) return [];
  const [first] = map.items;
  const last = map.items.at(-1);
  if (first === undefined || last === undefined) return [];
  const indentation = indentationOf(text, first);
  const written = writePair(key, wrap(below, value), indentation, text);
  const lineEnd = findLineEnd(text);
  const at = endOfLine(text, endOfPair(text, last));
  const end = lastNode(last.value);
  // In most parsers, a line end would become part of a text in block style that ends without one.
  if (at < text.length || !isScalar(end) || !end.type?.startsWith("BLOCK"))
    return [splice(text, at, at, lineEnd + indentation + written)];
  const top = startOfLine(text, rangeOf(first.key)[0]);
  return [splice(text, top, top, indentation + written + lineEnd)];
}

/** Adds the first pair to a text that has comments only. */
function addFirst(text: string, [key = "", ...below]: readonly string[], value: JsonValue): string {
  const written = writePair(key, wrap(below, value), "", text);
  const at = text.trimEnd().length;
  const lineEnd = findLineEnd(text);
  const tail = text.slice(at).includes("\n") ? "" : lineEnd;
  return splice(text, at, at, (at === 0 ? "" : lineEnd) + written + tail);
}

function cutPair(text: string, pair: Pair): string {
  const from = startOfLine(text, rangeOf(pair.key)[0]);
  const until = endOfLine(text, endOfPair(text, pair));
  if (from > 0) return splice(text, beforeLineEnd(text, from), until, "");
  return text.slice(until).replace(/^\r?\n/, "");
}

export const yamlEditor: ConfigEditor = {
  write({ container, key }, entry) {
    const indentation = "  ".repeat(container.length);
    return indentation + writePair(key, entry, indentation);
  },
  writeInline: (key, entry) => `${JSON.stringify(key)}: ${JSON.stringify(entry)}`,
  open(text) {
    if (text.length > maximumLength) throw new DataSyntaxError("it has more than 16 MiB", text, 0);
    const { document, value } = composeYaml(text);
    const root: unknown = document.contents;
    const findValue = (path: readonly string[]) =>
      path.reduce<unknown>((map, key) => findPair(map, key)?.value, root);
    const pairAt = (path: readonly string[]) => findPair(findValue(path.slice(0, -1)), path.at(-1) ?? "");
    return {
      // A text that only has comments has no value.
      value: root === null ? undefined : toPlain(value),
      offsetOf: (path) => rangeOf(pairAt(path)?.key)[0],
      edit({ container, key }, entry) {
        const map = findValue(container);
        const pair = findPair(map, key);
        if (pair !== undefined && isYamlMap(map) && map.flow) return [];
        if (entry === undefined) return pair === undefined ? [] : [cutPair(text, pair)];
        if (root === null || /^\s*\{\s*\}\s*$/.test(text))
          return [addFirst(text.replace(/\{\s*\}/, ""), [...container, key], entry)];
        if (pair === undefined) return addPair(text, root, [...container, key], entry);
        const written = writePair(key, entry, indentationOf(text, pair), text);
        return [splice(text, rangeOf(pair.key)[0], endOfPair(text, pair), written)];
      },
    };
  },
};
