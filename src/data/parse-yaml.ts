import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  type ParsedNode,
  Parser,
  visit,
  type YAMLMap,
} from "yaml";
import type { Path } from "../problems/index.ts";
import { isDeeper } from "./json-values.ts";
import { DataSyntaxError, decodeUtf8, maximumDepth } from "./parse-json.ts";

export interface YamlData {
  text: string;
  value: unknown;
  /** Line and column, from 1, of the value at a path (at its key, if it has one), or of its nearest ancestor. */
  locate(path: Path): { line: number; column: number };
}

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
 * Like `parseYaml`, but takes text and returns the parser's document too. `refuseMerges`: reject the merge keys of YAML 1.1, which
 * would silently have no effect, in files of our own formats, as other programs may support them.
 */
export function composeYaml(text: string, { refuseMerges = false } = {}) {
  const fail = (reason: string, offset = 0) => new DataSyntaxError(reason, text, offset);
  const tooDeep = `it is nested deeper than ${maximumDepth} levels`;
  const lines = new LineCounter();
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  const excess = findExcessiveDepth(tokens);
  if (excess !== undefined) throw fail(tooDeep, excess);
  // With unique keys, the parser would compare each key with each other one.
  const composer = new Composer({ logLevel: "silent", stringKeys: true, uniqueKeys: false });
  const [document, second] = [...composer.compose(tokens, true, text.length)];
  if (document === undefined) throw fail("it is empty");
  // Warnings count as errors: they concern data that we cannot interpret, such as unknown tags.
  const [error] = [...document.errors, ...document.warnings];
  if (error?.code === "NON_STRING_KEY") throw fail("a key is not a string", error.pos[0]);
  if (error !== undefined) throw fail(`it is not valid YAML (${error.message})`, error.pos[0]);
  if (second !== undefined) throw fail("it contains several documents", second.range[0]);
  const anchors = new Set<string>();
  visit(document, (_, node, ancestors) => {
    if (isAlias(node)) {
      const { source, range } = node;
      if (!anchors.has(source)) throw fail(`the alias *${source} has no anchor`, range?.[0]);
      if (ancestors.some((one) => isCollection(one) && one.anchor === source))
        throw fail(`the alias *${source} contains itself`, range?.[0]);
    }
    if ((isScalar(node) || isCollection(node)) && node.anchor !== undefined) anchors.add(node.anchor);
    if (!isMap(node)) return;
    const keys = new Set<unknown>();
    for (const { key } of node.items as { key: ParsedNode }[]) {
      const [name, offset] = [isScalar(key) && key.value, key.range[0]];
      if (refuseMerges && name === "<<" && isScalar(key) && key.type === "PLAIN")
        throw fail("the merge key << does not exist in YAML 1.2", offset);
      if (keys.has(name)) throw fail(`the key ${JSON.stringify(name)} is duplicated`, offset);
      keys.add(name);
    }
  });
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: maximumAliases });
  } catch (error) {
    throw fail(`it is not valid YAML (${(error as Error).message})`);
  }
  if (isDeeper(value, maximumDepth)) throw fail(tooDeep);
  return { document, value, lines };
}

/**
 * Finds the offset of the value at a path or of its nearest ancestor: of its key in an object, otherwise of the value itself.
 * Objects are indexed once, so many look-ups cost one pass.
 */
function createOffsetFinder({ contents }: Document.Parsed): (path: Path) => number {
  const indexes = new Map<unknown, Map<unknown, Pair>>();
  const readIndex = (map: YAMLMap) => {
    const index =
      indexes.get(map) ?? new Map(map.items.map((pair) => [isScalar(pair.key) && pair.key.value, pair]));
    indexes.set(map, index);
    return index;
  };
  return (path) => {
    let node: unknown = contents;
    let offset = 0;
    for (const key of path) {
      const pair = isMap(node) ? readIndex(node).get(String(key)) : undefined;
      const next = isSeq(node) ? node.items[Number(key)] : pair?.value;
      const range = (isScalar(pair?.key) ? pair.key : (next as Node | undefined))?.range;
      if (!range) break;
      offset = range[0];
      node = next;
    }
    return offset;
  };
}

/** Parses YAML 1.2: one document, unique string keys, limited aliases and depth. Throws `DataSyntaxError` with an offset. */
export function parseYaml(bytes: Uint8Array, options?: { refuseMerges: boolean }): YamlData {
  const text = decodeUtf8(bytes);
  const { document, value, lines } = composeYaml(text, options);
  let findOffset: ((path: Path) => number) | undefined;
  return {
    text,
    value,
    locate(path) {
      findOffset ??= createOffsetFinder(document);
      const { line, col } = lines.linePos(findOffset(path));
      return { line, column: col };
    },
  };
}
