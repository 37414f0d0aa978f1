import { type Document, isPair, isScalar, isSeq, isMap as isYamlMap, type Pair, type YAMLMap } from "yaml";
import { DataSyntaxError } from "../../data/decode.ts";
import { isRecord } from "../../data/parse-json.ts";
import { composeYaml } from "../../data/parse-yaml.ts";
import { type ConfigEditor, ConfigSyntaxError } from "./config-format.ts";
import { type JsonRecord, type JsonValue, type PlainValue, toPlain } from "./config-value.ts";
import { endOfLine, findLineEnd, type Splice } from "./splice.ts";
import { quoteText } from "./toml-text.ts";

type Ranged = { range?: [number, number, number] | null };

/** Formats a pair inside `{ … }` as JSON, which is valid in flow style. */
const writeFlowPair = (key: string, value: JsonValue) => `${quoteText(key)}: ${JSON.stringify(value)}`;

const plainText = /^[A-Za-z_/][A-Za-z0-9_/.@+-]*$/;
const specialWords = /^(?:true|false|yes|no|on|off|null|y|n|nan|inf)$/i;

const scalar = (text: string) => (plainText.test(text) && !specialWords.test(text) ? text : quoteText(text));

/** An item of an array after its dash. */
function writeItem(item: JsonValue, indentation: string, lineEnd: string): string {
  return isRecord(item) && Object.keys(item).length > 0
    ? ` ${writeYamlPairs(item as JsonRecord, indentation, lineEnd)}`
    : writeValue(item, indentation, lineEnd);
}

/** The lines of a value below its key, or the value itself after the key. */
function writeValue(value: JsonValue, indentation: string, lineEnd: string): string {
  if (typeof value === "string") return ` ${scalar(value)}`;
  if (Array.isArray(value)) {
    if (value.length === 0) return " []";
    return value
      .map((item) => `${lineEnd}${indentation}-${writeItem(item, `${indentation}  `, lineEnd)}`)
      .join("");
  }
  if (!isRecord(value)) return ` ${String(value)}`;
  if (Object.keys(value).length === 0) return " {}";
  return `${lineEnd}${indentation}${writeYamlPairs(value as JsonRecord, indentation, lineEnd)}`;
}

/** A key with its value in block style, without the indentation of the key. */
function writeYamlPair(key: string, value: JsonValue, indentation: string, lineEnd: string): string {
  return `${scalar(key)}:${writeValue(value, `${indentation}  `, lineEnd)}`;
}

/** The pairs of an object on lines with this indentation, without that of the first. */
function writeYamlPairs(record: JsonRecord, indentation: string, lineEnd: string): string {
  return Object.entries(record)
    .map(([key, value]) => writeYamlPair(key, value, indentation, lineEnd))
    .join(lineEnd + indentation);
}

function parseText(text: string): { document: Document.Parsed; value: PlainValue } {
  try {
    const { document, value } = composeYaml(text);
    // A text that only has comments has no value.
    return { document, value: document.contents === null ? undefined : toPlain(value) };
  } catch (error) {
    if (!(error instanceof DataSyntaxError)) throw error;
    throw new ConfigSyntaxError(error.reason.split("\n")[0]?.replace(/:$/, "") ?? "", error.offset ?? 0);
  }
}

const rangeOf = (node: unknown): [number, number] => {
  const range = (node as Ranged | null | undefined)?.range;
  return range ? [range[0], range[1]] : [0, 0];
};

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

function findNode(document: Document.Parsed, path: readonly string[]): unknown {
  let node: unknown = document.contents;
  for (const key of path) node = findPair(node, key)?.value;
  return node;
}

/** The end of a pair, before its line end. */
function endOfPair(text: string, pair: Pair): number {
  const [, keyEnd] = rangeOf(pair.key);
  const valueEnd = endOfNode(pair.value);
  let end = valueEnd > keyEnd ? valueEnd : text.indexOf(":", keyEnd) + 1;
  if (text[end - 1] === "\n") end -= text[end - 2] === "\r" ? 2 : 1;
  return end;
}

const lineStart = (text: string, offset: number) => text.lastIndexOf("\n", offset - 1) + 1;

/** Whether a value ends in a block scalar, which would include an added line end. */
function endsInBlockScalar(node: unknown): boolean {
  if (isYamlMap(node) || isSeq(node)) {
    const last: unknown = node.items.at(-1);
    return endsInBlockScalar(isPair(last) ? (last.value ?? last.key) : last);
  }
  return isScalar(node) && (node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED");
}

/** Adds a pair to a block map: at the end, or at the start if the text ends in a block scalar without a line end. */
function addToBlock(text: string, map: YAMLMap, key: string, value: JsonValue): Splice[] {
  const lineEnd = findLineEnd(text);
  const [first, last, beforeLast] = [map.items[0], map.items.at(-1), map.items.at(-2)];
  if (first === undefined || last === undefined) return [];
  const [start] = rangeOf(first.key);
  const line = lineStart(text, start);
  const indentation = text.slice(line, start).replace(/[^ ]/g, " ");
  const written = indentation + writeYamlPair(key, value, indentation, lineEnd);
  const behind = (pair: Pair) => endOfLine(text, endOfPair(text, pair));
  const isOpen = !text.endsWith("\n") && text.slice(behind(last)).trim() === "" && endsInBlockScalar(map);
  if (isOpen && beforeLast === undefined) return [{ start: line, end: line, text: written + lineEnd }];
  const at = behind((isOpen ? beforeLast : undefined) ?? last);
  return [{ start: at, end: at, text: lineEnd + written }];
}

function addToFlow(text: string, map: YAMLMap, key: string, value: JsonValue): Splice[] {
  const last = map.items.at(-1);
  if (last === undefined) return [];
  const at = endOfPair(text, last);
  return [{ start: at, end: at, text: `, ${writeFlowPair(key, value)}` }];
}

/** Adds the first entry to an empty key: replaces an empty value and keeps a comment after it. */
function fillEmpty(text: string, pair: Pair, indentation: string, key: string, value: JsonValue): Splice[] {
  const lineEnd = findLineEnd(text);
  const { start, end } = findNothing(text, pair);
  const at = endOfLine(text, end);
  const below = {
    start: at,
    end: at,
    text: lineEnd + indentation + writeYamlPair(key, value, indentation, lineEnd),
  };
  return end > start ? [{ start, end, text: "" }, below] : [below];
}

/** The indentation per level in this file. */
function findUnit(document: Document.Parsed, text: string): string {
  const root = document.contents;
  for (const { value } of isYamlMap(root) ? root.items : []) {
    const child = isYamlMap(value) && !value.flow ? value.items[0] : undefined;
    if (child === undefined) continue;
    const [start] = rangeOf(child.key);
    const width = start - lineStart(text, start);
    if (width > 0 && width <= 8) return " ".repeat(width);
  }
  return "  ";
}

function cutPair(text: string, map: YAMLMap, pair: Pair): Splice[][] {
  const index = map.items.indexOf(pair);
  const [start] = rangeOf(pair.key);
  const end = endOfPair(text, pair);
  if (map.flow) {
    const previous = map.items[index - 1];
    const next = map.items[index + 1];
    if (previous !== undefined) return [[{ start: endOfPair(text, previous), end, text: "" }]];
    return [[{ start, end: next === undefined ? end : rangeOf(next.key)[0], text: "" }]];
  }
  const from = lineStart(text, start);
  const until = endOfLine(text, end);
  const newline = text.startsWith("\r\n", until) ? 2 : 1;
  const lines = [{ start: Math.max(0, from - (text[from - 2] === "\r" ? 2 : 1)), end: until, text: "" }];
  const atTop = [{ start: from, end: Math.min(text.length, until + newline), text: "" }];
  return from === 0 ? [atTop, lines] : [lines, atTop];
}

/** The range of an empty value after a key: nothing, a word such as `null`, or braces. */
function findNothing(text: string, pair: Pair): { start: number; end: number } {
  const start = text.indexOf(":", rangeOf(pair.key)[1]) + 1;
  const end = Math.max(start, rangeOf(pair.value)[1]);
  return { start, end: text.slice(start, end).trim() === "" ? start : end };
}

/** Adds an entry to its container, or creates the container. */
function addEntry(
  text: string,
  document: Document.Parsed,
  keys: readonly string[],
  entry: JsonRecord,
): Splice[] {
  const lineEnd = findLineEnd(text);
  const root = document.contents;
  /** The entry inside objects for the keys from a depth on. */
  const wrap = (depth: number) =>
    keys.slice(depth).reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), entry);
  if (!isYamlMap(root) || root.items.length === 0) {
    const written = writeYamlPair(keys[0] ?? "", wrap(1), "", lineEnd);
    if (isYamlMap(root)) {
      // With a comment, its braces could not be restored.
      const [start, end] = rangeOf(root);
      return text.includes("#") ? [] : [{ start, end, text: written }];
    }
    const at = text.trimEnd().length;
    const lead = at === 0 ? "" : lineEnd;
    const tail = text.slice(at).includes("\n") ? "" : lineEnd;
    return [{ start: at, end: at, text: lead + written + tail }];
  }
  let map: YAMLMap = root;
  for (const [depth, key] of keys.entries()) {
    const pair = depth === keys.length - 1 ? undefined : findPair(map, key);
    if (pair === undefined) return (map.flow ? addToFlow : addToBlock)(text, map, key, wrap(depth + 1));
    if (!isYamlMap(pair.value) || pair.value.items.length === 0) {
      const [start] = rangeOf(pair.key);
      const indentation = " ".repeat(start - lineStart(text, start)) + findUnit(document, text);
      return fillEmpty(text, pair, indentation, keys[depth + 1] ?? "", wrap(depth + 2));
    }
    map = pair.value;
  }
  return [];
}

export const yamlEditor: ConfigEditor = {
  maximumLength: 16 << 20,
  write({ container, key }, entry) {
    const indentation = "  ".repeat(container.length);
    return indentation + writeYamlPair(key, entry, indentation, "\n");
  },
  open(text) {
    const { document, value } = parseText(text);
    const pairAt = (path: readonly string[]) => {
      const map = findNode(document, path.slice(0, -1));
      const pair = findPair(map, path.at(-1) ?? "");
      return isYamlMap(map) && pair !== undefined ? { map, pair } : undefined;
    };
    return {
      value,
      offsetOf: (path) => rangeOf(pairAt(path)?.pair.key ?? findNode(document, path.slice(0, -1)))[0],
      add: ({ container, key }, entry) => [addEntry(text, document, [...container, key], entry)],
      remove({ container, key }) {
        const own = pairAt([...container, key]);
        if (own === undefined) return [];
        const ways = cutPair(text, own.map, own.pair);
        const outer = own.map.items.length > 1 || own.map.flow ? undefined : pairAt(container)?.pair;
        if (outer === undefined) return ways;
        // After a key without a value, white space that was allowed at the end of the text may not be.
        const at = text.indexOf(":", rangeOf(outer.key)[1]) + 1;
        const empty = { start: at, end: at, text: " {}" };
        return [...ways, ...ways.map((splices) => [empty, ...splices])];
      },
      replace({ container, key }, entry) {
        const own = pairAt([...container, key]);
        if (own === undefined) return [];
        const [start] = rangeOf(own.pair.key);
        const indentation = " ".repeat(start - lineStart(text, start));
        const written = own.map.flow
          ? writeFlowPair(key, entry)
          : writeYamlPair(key, entry, indentation, findLineEnd(text));
        return [[{ start, end: endOfPair(text, own.pair), text: written }]];
      },
    };
  },
};
