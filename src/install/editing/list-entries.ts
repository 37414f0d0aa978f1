// Arrays of entries in YAML, and in JSON, whose arrays are flow sequences of YAML.
import { isMap, isPair, isScalar, isSeq, type Node, type YAMLSeq } from "yaml";
import { composeYaml } from "../../data/parse-yaml.ts";
import type { ConfigLayout, EntryPlace } from "./config-format.ts";
import type { JsonRecord, JsonValue } from "./config-value.ts";
import { endOfLine, findLineEnd, type Splice } from "./splice.ts";
import { writeYamlPairs } from "./yaml-values.ts";

const rangeOf = (node: unknown): [number, number] => {
  const range = (node as Node | null | undefined)?.range;
  return range ? [range[0], range[1]] : [0, 0];
};

const lineStart = (text: string, offset: number) => text.lastIndexOf("\n", offset - 1) + 1;

/** The end of a value without the comments and blank lines after it. */
export function endOfNode(node: unknown): number {
  if ((isMap(node) || isSeq(node)) && !node.flow) {
    const last: unknown = node.items.at(-1);
    const value = isPair(last) ? (last.value ?? last.key) : last;
    if (value !== undefined && value !== null) return endOfNode(value);
  }
  return rangeOf(node)[1];
}

function findList(text: string, container: readonly string[]): YAMLSeq | undefined {
  let node: unknown = composeYaml(text).document.contents;
  for (const key of container) {
    const pairs = isMap(node) ? node.items : [];
    node = pairs.find(({ key: name }) => isScalar(name) && String(name.value) === key)?.value;
  }
  return isSeq(node) ? node : undefined;
}

/** An entry as JSON on lines with this indentation, or on one line. */
function writeFlow(entry: JsonRecord, indentation: string | undefined, lineEnd: string): string {
  if (indentation === undefined) return JSON.stringify(entry);
  return JSON.stringify(entry, null, 2).replaceAll("\n", lineEnd + indentation);
}

/** Lines and indentation of an item in a list. */
class ListItem {
  readonly start: number;
  readonly end: number;
  /** The indentation of an item on its own line; `undefined` for one that follows something else. */
  readonly indentation: string | undefined;
  readonly lineStart: number;

  constructor(text: string, list: YAMLSeq, item: unknown) {
    [this.start] = rangeOf(item);
    this.end = endOfNode(item);
    const mark = list.flow ? this.start : text.lastIndexOf("-", this.start - 1);
    this.lineStart = lineStart(text, mark);
    const before = text.slice(this.lineStart, mark);
    this.indentation = before.trim() === "" ? before : undefined;
  }
}

/**
 * Splices that add, replace or remove an entry with a name in an array of objects, best first. They keep the comments and
 * the layout of other entries.
 */
export function editList(
  text: string,
  layout: ConfigLayout,
  { container, key }: EntryPlace,
  entry: JsonRecord | undefined,
): Splice[][] {
  const lineEnd = findLineEnd(text);
  const named = entry && { name: key, ...entry };
  const list = text.trim() === "" ? undefined : findList(text, container);
  if (list === undefined || list.items.length === 0) {
    const place = { container: container.slice(0, -1), key: container.at(-1) ?? "", isList: false };
    const value = [named] as JsonValue as JsonRecord;
    if (named === undefined) return [];
    // Below a key without a value, which may have a comment.
    const offset = text.trim() === "" ? 0 : layout.offsetOf(container);
    const at = endOfLine(text, offset);
    const isEmptyKey = /:[ \t]*(?:#.*)?$/.test(text.slice(offset, at));
    const inner = `${text.slice(lineStart(text, offset), offset)}  `;
    const lines = `${lineEnd}${inner}- ${writeYamlPairs(named, `${inner}  `, lineEnd)}`;
    const below = isEmptyKey ? [[{ start: at, end: at, text: lines }]] : [];
    return [...below, ...layout.replace(place, value), ...layout.add(place, value)];
  }
  const items = list.items.map((item) => new ListItem(text, list, item));
  const index = list.items.findIndex((item) => isMap(item) && item.get("name") === key);
  const own = items[index];
  if (named === undefined) return own === undefined ? [] : cutItem(text, list, items, index);
  const write = ({ indentation }: ListItem, withDash: boolean) => {
    if (list.flow) return writeFlow(named, indentation, lineEnd);
    const inner = `${indentation ?? ""}  `;
    return `${withDash ? `${indentation ?? ""}- ` : ""}${writeYamlPairs(named, inner, lineEnd)}`;
  };
  if (own !== undefined) return [[{ start: own.start, end: own.end, text: write(own, false) }]];
  const [first, last] = [items[0], items.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (list.flow) {
    const separator = last.indentation === undefined ? ", " : `,${lineEnd}${last.indentation}`;
    return [[{ start: last.end, end: last.end, text: separator + write(last, false) }]];
  }
  const at = endOfLine(text, last.end);
  const above = { start: first.lineStart, end: first.lineStart, text: write(first, true) + lineEnd };
  return [[{ start: at, end: at, text: lineEnd + write(last, true) }], [above]];
}

function cutItem(text: string, list: YAMLSeq, items: readonly ListItem[], index: number): Splice[][] {
  const own = items[index];
  if (own === undefined) return [];
  const [previous, next] = [items[index - 1], items[index + 1]];
  if (list.flow) {
    if (previous !== undefined) return [[{ start: previous.end, end: own.end, text: "" }]];
    return [[{ start: own.start, end: next === undefined ? own.end : next.start, text: "" }]];
  }
  const until = endOfLine(text, own.end);
  const newline = text.startsWith("\r\n", until) ? 2 : 1;
  return [[{ start: own.lineStart, end: Math.min(text.length, until + newline), text: "" }]];
}
