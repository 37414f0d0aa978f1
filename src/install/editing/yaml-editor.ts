import { Document, isPair, isScalar, isSeq, isMap as isYamlMap, type Pair, visit, type YAMLMap } from "yaml";
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

/** The end of a value without the comments and blank lines after it. */
function endOfNode(node: unknown): number {
  if ((isYamlMap(node) || isSeq(node)) && !node.flow) {
    const last: unknown = node.items.at(-1);
    const value = isPair(last) ? (last.value ?? last.key) : last;
    if (value !== undefined && value !== null) return endOfNode(value);
  }
  return rangeOf(node)[1];
}

const findPair = (map: unknown, key: string): Pair | undefined =>
  isYamlMap(map)
    ? map.items.find(({ key: name }) => isScalar(name) && String(name.value) === key)
    : undefined;

const afterColon = (text: string, pair: Pair) => text.indexOf(":", rangeOf(pair.key)[1]) + 1;

function endOfPair(text: string, pair: Pair): number {
  const valueEnd = endOfNode(pair.value);
  return beforeLineEnd(text, valueEnd > rangeOf(pair.key)[1] ? valueEnd : afterColon(text, pair));
}

const indentationOf = (text: string, pair: Pair) => {
  const [start] = rangeOf(pair.key);
  return text.slice(startOfLine(text, start), start).replace(/[^ ]/g, " ");
};

/** Adds a pair on lines of its own behind an offset at the end of a line. */
function addBehind(text: string, at: number, indentation: string, key: string, value: JsonValue): string {
  const written = indentation + writePair(key, value, indentation, text);
  return splice(text, at, at, findLineEnd(text) + written);
}

/**
 * Adds a pair to a block map: behind the last one, behind the one before it if the last may end in an open block scalar, or
 * in front. Adds none to a map in braces.
 */
function addPair(text: string, map: YAMLMap, key: string, value: JsonValue): string[] {
  const [first] = map.items;
  if (first === undefined || map.flow) return [];
  const indentation = indentationOf(text, first);
  const ends = map.items
    .slice(-2)
    .reverse()
    .map((pair) => endOfLine(text, endOfPair(text, pair)));
  const top = startOfLine(text, rangeOf(first.key)[0]);
  const inFront = indentation + writePair(key, value, indentation, text) + findLineEnd(text);
  return [...ends.map((at) => addBehind(text, at, indentation, key, value)), splice(text, top, top, inFront)];
}

/**
 * Adds the first pair below a key whose value is nothing, `null` or `{}`, which it replaces. Keeps a comment after it; adds
 * none where something else, such as a comment, would be replaced.
 */
function fillEmpty(text: string, pair: Pair, key: string, value: JsonValue): string[] {
  const [unit] = /^ {1,8}(?=[^\s#])/m.exec(text) ?? ["  "];
  const start = afterColon(text, pair);
  const end = Math.max(start, rangeOf(pair.value)[1]);
  const former = text.slice(start, end).trim();
  if (/[#&!]/.test(former)) return [];
  const added = addBehind(text, endOfLine(text, end), indentationOf(text, pair) + unit, key, value);
  return [former === "" ? added : splice(added, start, end, "")];
}

function addEntry(text: string, root: unknown, keys: readonly string[], entry: JsonValue): string[] {
  // With braces or a comment in them, a text could not be restored.
  if (root === null || (isYamlMap(root) && root.flow && root.items.length === 0 && !text.includes("#"))) {
    const written = writePair(keys[0] ?? "", wrap(keys.slice(1), entry), "", text);
    if (root !== null) return [splice(text, ...rangeOf(root), written)];
    const at = text.trimEnd().length;
    const lineEnd = findLineEnd(text);
    const tail = text.slice(at).includes("\n") ? "" : lineEnd;
    return [splice(text, at, at, (at === 0 ? "" : lineEnd) + written + tail)];
  }
  let map = root;
  for (const [depth, key] of keys.entries()) {
    if (!isYamlMap(map)) return [];
    const pair = findPair(map, key);
    if (pair === undefined) return addPair(text, map, key, wrap(keys.slice(depth + 1), entry));
    const [next = "", ...rest] = keys.slice(depth + 1);
    if (!isYamlMap(pair.value) || pair.value.items.length === 0)
      return fillEmpty(text, pair, next, wrap(rest, entry));
    map = pair.value;
  }
  return [];
}

function cutPair(text: string, pair: Pair): string[] {
  const from = startOfLine(text, rangeOf(pair.key)[0]);
  const until = endOfLine(text, endOfPair(text, pair));
  const lines = splice(text, beforeLineEnd(text, from), until, "");
  const atTop = text.slice(0, from) + text.slice(until).replace(/^\r?\n/, "");
  return from === 0 ? [atTop, lines] : [lines, atTop];
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
        if (!isYamlMap(map) || pair === undefined)
          return entry === undefined ? [] : addEntry(text, root, [...container, key], entry);
        if (map.flow) return [];
        if (entry !== undefined) {
          const written = writePair(key, entry, indentationOf(text, pair), text);
          return [splice(text, rangeOf(pair.key)[0], endOfPair(text, pair), written)];
        }
        const texts = cutPair(text, pair);
        const outer = map.items.length > 1 ? undefined : pairAt(container);
        if (outer === undefined) return texts;
        // After a key without a value, white space that was allowed at the end of the text may not be.
        const at = afterColon(text, outer);
        return [...texts, ...texts.map((shorter) => splice(shorter, at, at, " {}"))];
      },
    };
  },
};
