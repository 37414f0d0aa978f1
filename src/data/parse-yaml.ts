import {
  Composer,
  type CST,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type ParsedNode,
  Parser,
  visit,
} from "yaml";
import { isDeeper } from "./json-values.ts";
import { createFinder, type Locate } from "./line-index.ts";
import { DataSyntaxError, decodeUtf8, maximumDepth } from "./parse-json.ts";

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
  const tokens = [...new Parser().parse(text)];
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
  return { document, value };
}

/** Locates values in a valid YAML text. */
export function createYamlLocator(text: string): Locate {
  const { contents } = composeYaml(text).document;
  return createFinder<unknown>(text, { node: contents, offset: 0 }, (node) => {
    if (isMap(node))
      return node.items.map((pair) => {
        const { key, value } = pair as { key: ParsedNode; value: unknown };
        return { key: isScalar(key) && key.value, node: value, offset: key.range[0] };
      });
    const items = isSeq(node) ? (node.items as ParsedNode[]) : [];
    return items.map((item, key) => ({ key, node: item, offset: item.range[0] }));
  });
}

/** Parses YAML 1.2: one document, unique string keys, limited aliases and depth. Throws `DataSyntaxError` with an offset. */
export function parseYaml(bytes: Uint8Array, options?: { refuseMerges: boolean }) {
  const text = decodeUtf8(bytes);
  return { text, value: composeYaml(text, options).value };
}
