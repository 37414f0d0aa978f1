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
} from "./config-format.ts";

/** A longer text is not parsed within a minute. */
const maximumLength = 16 << 20;

/** Strings that every parser reads as strings without quotes. */
const plainText = /^(?!(?:true|false|yes|no|on|off|null|y|n|nan|inf)$)[a-z_/][\w/.@+-]*$/i;

/** A pair in block style without the indentation of its key. */
function writePair(key: string, value: JsonValue, indentation: string, lineEnd: string): string {
  const document = new Document({ [key]: value });
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === "string" && !plainText.test(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  return document
    .toString({ lineWidth: 0 })
    .trimEnd()
    .replaceAll("\n", lineEnd + indentation);
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

function endOfPair(text: string, pair: Pair): number {
  const [, keyEnd] = rangeOf(pair.key);
  const valueEnd = endOfNode(pair.value);
  return beforeLineEnd(text, valueEnd > keyEnd ? valueEnd : text.indexOf(":", keyEnd) + 1);
}

const indentationOf = (text: string, pair: Pair) => {
  const [start] = rangeOf(pair.key);
  return text.slice(startOfLine(text, start), start).replace(/[^ ]/g, " ");
};

/**
 * Adds a pair to a block map: behind the last one, behind the one before it if the last may end in an open block scalar, or
 * in front. Adds none to a map in braces.
 */
function addPair(text: string, map: YAMLMap, key: string, value: JsonValue): string[] {
  const [first] = map.items;
  if (first === undefined || map.flow) return [];
  const lineEnd = findLineEnd(text);
  const indentation = indentationOf(text, first);
  const written = indentation + writePair(key, value, indentation, lineEnd);
  const behind = map.items
    .slice(-2)
    .reverse()
    .map((pair) => endOfLine(text, endOfPair(text, pair)));
  const top = startOfLine(text, rangeOf(first.key)[0]);
  return [
    ...behind.map((at) => splice(text, at, at, lineEnd + written)),
    splice(text, top, top, written + lineEnd),
  ];
}

/**
 * Adds the first pair below a key whose value is nothing, `null` or `{}`, which it replaces. Keeps a comment after it; adds
 * none where something else, such as a comment, would be replaced.
 */
function fillEmpty(text: string, pair: Pair, unit: string, key: string, value: JsonValue): string[] {
  const lineEnd = findLineEnd(text);
  const indentation = indentationOf(text, pair) + unit;
  const start = text.indexOf(":", rangeOf(pair.key)[1]) + 1;
  const end = Math.max(start, rangeOf(pair.value)[1]);
  const former = text.slice(start, end).trim();
  if (/[#&!]/.test(former)) return [];
  const at = endOfLine(text, end);
  const added = splice(text, at, at, lineEnd + indentation + writePair(key, value, indentation, lineEnd));
  return [former === "" ? added : splice(added, start, end, "")];
}

function findUnit(root: YAMLMap, text: string): string {
  const children = root.items.flatMap(({ value }) => (isYamlMap(value) && !value.flow ? value.items[0] : []));
  return children.map((child) => child && indentationOf(text, child)).find(Boolean) ?? "  ";
}

function addEntry(text: string, root: unknown, keys: readonly string[], entry: JsonValue): string[] {
  const wrap = (depth: number) =>
    keys.slice(depth).reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), entry);
  // With braces or a comment in them, a text could not be restored.
  if (root === null || (isYamlMap(root) && root.flow && root.items.length === 0 && !text.includes("#"))) {
    const lineEnd = findLineEnd(text);
    const written = writePair(keys[0] ?? "", wrap(1), "", lineEnd);
    if (root !== null) return [splice(text, ...rangeOf(root), written)];
    const at = text.trimEnd().length;
    const tail = text.slice(at).includes("\n") ? "" : lineEnd;
    return [splice(text, at, at, (at === 0 ? "" : lineEnd) + written + tail)];
  }
  let map = root;
  for (const [depth, key] of keys.entries()) {
    if (!isYamlMap(map) || !isYamlMap(root)) return [];
    const pair = findPair(map, key);
    if (pair === undefined) return addPair(text, map, key, wrap(depth + 1));
    if (!isYamlMap(pair.value) || pair.value.items.length === 0)
      return fillEmpty(text, pair, findUnit(root, text), keys[depth + 1] ?? "", wrap(depth + 2));
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
    return indentation + writePair(key, entry, indentation, "\n");
  },
  writeInline: (key, entry) => `${JSON.stringify(key)}: ${JSON.stringify(entry)}`,
  open(text) {
    if (text.length > maximumLength) throw new DataSyntaxError("it has more than 16 MiB", text, 0);
    const { document, value } = composeYaml(text);
    const root: unknown = document.contents;
    const findMap = (path: readonly string[]) =>
      path.reduce<unknown>((map, key) => findPair(map, key)?.value, root);
    const findOwn = (path: readonly string[]) => {
      const map = findMap(path.slice(0, -1));
      const pair = findPair(map, path.at(-1) ?? "");
      return isYamlMap(map) && pair !== undefined ? { map, pair } : undefined;
    };
    return {
      // A text that only has comments has no value.
      value: root === null ? undefined : toPlain(value),
      offsetOf: (path) => rangeOf(findOwn(path)?.pair.key)[0],
      edit({ container, key }, entry) {
        const keys = [...container, key];
        const own = findOwn(keys);
        if (own === undefined) return entry === undefined ? [] : addEntry(text, root, keys, entry);
        if (own.map.flow) return [];
        if (entry !== undefined) {
          const written = writePair(key, entry, indentationOf(text, own.pair), findLineEnd(text));
          return [splice(text, rangeOf(own.pair.key)[0], endOfPair(text, own.pair), written)];
        }
        const texts = cutPair(text, own.pair);
        const outer = own.map.items.length > 1 ? undefined : findOwn(container)?.pair;
        if (outer === undefined) return texts;
        // After a key without a value, white space that was allowed at the end of the text may not be.
        const at = text.indexOf(":", rangeOf(outer.key)[1]) + 1;
        return [...texts, ...texts.map((shorter) => splice(shorter, at, at, " {}"))];
      },
    };
  },
};
