import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  type YAMLMap,
} from "yaml";
import type { Path, SyntaxCause } from "../problems/index.ts";
import { DataSyntaxError, decodeUtf8 } from "./decode.ts";
import { maximumDepth } from "./parse-json.ts";

/** A YAML text as plain data, with the position of each value. */
export interface YamlData {
  text: string;
  value: unknown;
  /** Line and column, from 1, of the value at a path (at its key, if it has one), or of its nearest ancestor. */
  locate(path: Path): { line: number; column: number };
}

/** Causes by the parser's messages, because its error codes are too coarse for hints. */
const causes: readonly (readonly [RegExp, SyntaxCause])[] = [
  [/\btabs? /i, "tab"],
  [
    /Nested mappings are not allowed|block (?:sequence|map) may not be used|Implicit keys need/,
    "nestedMapping",
  ],
  [/reserved character|directive indicator/, "reservedCharacter"],
  [/All mapping items must start/, "indentation"],
  [/Missing closing .?quote/, "unclosedQuote"],
  [/must be sufficiently indented and end with/, "unclosedBracket"],
];

const findCause = (message: string) => causes.find(([pattern]) => pattern.test(message))?.[1];

/** Limit on aliases, which could otherwise expand to an enormous value. */
const maximumAliases = 100;

/** The offset of a collection that is nested too deep. Checked before composing, which recurses and would overflow. */
function findExcessiveDepth(tokens: readonly CST.Token[]): number | undefined {
  const pending = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { token } = next;
    if (token.type === "document" && token.value) pending.push({ token: token.value, depth: 0 });
    if (!("items" in token)) continue;
    const depth = next.depth + 1;
    if (depth > maximumDepth) return token.offset;
    for (const { key, value } of token.items) {
      if (key) pending.push({ token: key, depth });
      if (value) pending.push({ token: value, depth });
    }
  }
  return undefined;
}

/**
 * Walks a composed document once to find what the parser accepts or rejects too slowly: keys that are not strings,
 * repeated keys, merge keys of YAML 1.1, aliases that are unknown or recursive, and excessive depth through aliases.
 */
class DocumentCheck {
  /** Height in levels of each anchored node; `undefined` while it is being measured. */
  readonly #anchors = new Map<string, number | undefined>();
  readonly #text: string;
  readonly #refuseMerges: boolean;

  constructor(text: string, refuseMerges: boolean) {
    this.#text = text;
    this.#refuseMerges = refuseMerges;
  }

  /** The height of a node in levels of collections, with aliases expanded. Throws `DataSyntaxError`. */
  measure(node: unknown): number {
    if (isAlias(node)) {
      const height = this.#anchors.get(node.source);
      if (height !== undefined) return height;
      if (this.#anchors.has(node.source)) throw this.#fail(`the alias *${node.source} contains itself`, node);
      throw this.#fail(`the alias *${node.source} has no anchor`, node, "unknownAlias");
    }
    const anchor = isMap(node) || isSeq(node) || isScalar(node) ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchors.set(anchor, undefined);
    let height = 0;
    if (isSeq(node)) height = 1 + Math.max(0, ...this.#measureAll(node.items));
    if (isMap(node)) {
      const keys = new Set<string>();
      for (const { key } of node.items) {
        if (!isScalar(key)) throw this.#fail("a key is not a string", isNode(key) ? key : node);
        const name = String(key.value);
        if (this.#refuseMerges && name === "<<" && key.type === "PLAIN")
          throw this.#fail("the merge key << does not exist in YAML 1.2", key, "mergeKey");
        if (keys.has(name)) throw this.#fail(`the key ${JSON.stringify(name)} is duplicated`, key);
        keys.add(name);
      }
      height = 1 + Math.max(0, ...this.#measureAll(node.items.map(({ value }) => value)));
    }
    if (height > maximumDepth)
      throw this.#fail(`it is nested deeper than ${maximumDepth} levels`, node as Node);
    if (anchor !== undefined) this.#anchors.set(anchor, height);
    return height;
  }

  /** The distinct heights of many nodes: few enough to spread into a call. */
  #measureAll(nodes: readonly unknown[]): Set<number> {
    const heights = new Set<number>();
    for (const node of nodes) heights.add(this.measure(node));
    return heights;
  }

  #fail(reason: string, node: Pick<Node, "range">, cause?: SyntaxCause): DataSyntaxError {
    return new DataSyntaxError(reason, this.#text, node.range?.[0] ?? 0, cause);
  }
}

function compose(text: string, lines: LineCounter): Document.Parsed {
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  const tooDeep = findExcessiveDepth(tokens);
  if (tooDeep !== undefined) {
    throw new DataSyntaxError(`it is nested deeper than ${maximumDepth} levels`, text, tooDeep);
  }
  const composer = new Composer({ logLevel: "silent", uniqueKeys: false });
  const [document, second] = [...composer.compose(tokens, true, text.length)];
  if (document === undefined) throw new DataSyntaxError("it is empty", text, 0);
  // Warnings count as errors: they concern data that we cannot interpret, such as unknown tags.
  const [error] = [...document.errors, ...document.warnings];
  if (error !== undefined) {
    const { message, pos } = error;
    const isExpression = text.startsWith("${{", pos[0] - 1);
    const cause = isExpression ? "expression" : findCause(message);
    throw new DataSyntaxError(`it is not valid YAML (${message})`, text, pos[0], cause);
  }
  if (second !== undefined) {
    throw new DataSyntaxError("it contains several documents", text, second.range[0]);
  }
  return document;
}

/**
 * Removes the line end that the parser adds to a block scalar at the end of a text without a final line end, against
 * YAML 1.2 (8.1.1.2, `b-chomped-last`) and other parsers.
 */
function endLastScalar(text: string, document: Document.Parsed): void {
  let last: unknown = document.contents;
  while (isMap(last) || isSeq(last)) {
    const item: unknown = last.items.at(-1);
    last = isPair(item) ? (item.value ?? item.key) : item;
  }
  if (!isScalar(last) || (last.type !== "BLOCK_LITERAL" && last.type !== "BLOCK_FOLDED")) return;
  const { range, value } = last;
  if (range?.[1] !== text.length || typeof value !== "string") return;
  const [, ...lines] = text.slice(range[0]).split("\n");
  const indentationOf = (content: readonly string[]) => content.find((line) => /\S/.test(line))?.search(/\S/);
  const [written, kept] = [indentationOf(lines), indentationOf(value.split("\n"))];
  if (written === undefined || kept === undefined) return;
  if ((lines.at(-1)?.length ?? 0) > written - kept) last.value = value.replace(/\n$/, "");
}

/**
 * Finds the offset of the value at a path or of its nearest ancestor: of its key in an object, otherwise of the value
 * itself. Objects are indexed once, so many look-ups cost one pass.
 */
function createOffsetFinder({ contents }: Document.Parsed): (path: Path) => number | undefined {
  const indexes = new Map<unknown, Map<string, Pair>>();
  const findPair = (map: YAMLMap, key: string | number) => {
    const index =
      indexes.get(map) ??
      new Map(map.items.map((pair) => [String(isScalar(pair.key) && pair.key.value), pair]));
    indexes.set(map, index);
    return index.get(String(key));
  };
  return (path) => {
    let node: unknown = contents;
    let offset: number | undefined;
    for (const key of path) {
      const pair = isMap(node) ? findPair(node, key) : undefined;
      const next = isSeq(node) ? node.items[Number(key)] : pair?.value;
      const range = isScalar(pair?.key) ? pair.key.range : (next as Node | undefined)?.range;
      if (!range) break;
      offset = range[0];
      node = next;
    }
    return offset;
  };
}

export interface YamlOptions {
  /**
   * Reject the merge keys of YAML 1.1, which would silently have no effect. For files in our own formats only: other
   * programs may support them.
   */
  refuseMerges?: boolean;
}

/** A composed document and its value. */
export interface ComposedYaml {
  document: Document.Parsed;
  value: unknown;
  lines: LineCounter;
}

/** Like `parseYaml`, but takes text and returns the parser's document too. */
export function composeYaml(text: string, { refuseMerges = false }: YamlOptions = {}): ComposedYaml {
  const lines = new LineCounter();
  const document = compose(text, lines);
  new DocumentCheck(text, refuseMerges).measure(document.contents);
  endLastScalar(text, document);
  try {
    return { document, value: document.toJS({ maxAliasCount: maximumAliases }), lines };
  } catch (error) {
    throw new DataSyntaxError(`it is not valid YAML (${(error as Error).message})`, text, 0);
  }
}

/**
 * Parses YAML 1.2 from bytes: one document, unique string keys, limited aliases and depth. Throws `DataSyntaxError` with
 * an offset.
 */
export function parseYaml(bytes: Uint8Array, options: YamlOptions = {}): YamlData {
  const text = decodeUtf8(bytes);
  const { document, value, lines } = composeYaml(text, options);
  let findOffset: ReturnType<typeof createOffsetFinder> | undefined;
  return {
    text,
    value,
    locate(path) {
      findOffset ??= createOffsetFinder(document);
      const offset = findOffset(path);
      if (offset === undefined) return { line: 1, column: 1 };
      const { line, col } = lines.linePos(offset);
      return { line, column: col };
    },
  };
}
