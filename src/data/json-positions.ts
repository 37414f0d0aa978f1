// Positions are wanted only where something is wrong, so this module, and the parser it brings, is loaded then.
import {
  findNodeAtLocation,
  type Node,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { type DataSyntaxError, positionAt } from "./decode.ts";

const strict = { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false };

/** What is wrong with a JSON text, and where. */
export function describeSyntaxError(error: DataSyntaxError): {
  reason: string;
  line?: number;
  column?: number;
} {
  const { text, reason } = error;
  if (text === undefined) return { reason };
  if (error.offset !== undefined) return { reason, ...positionAt(text, error.offset) };
  const found: ParseError[] = [];
  parse(text, found, strict);
  const [first] = found;
  if (first === undefined) return { reason, ...positionAt(text, text.length) };
  const words = printParseErrorCode(first.error)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
  return { reason: `${reason} (${words})`, ...positionAt(text, first.offset) };
}

/**
 * Line and column of the value at `path` in a valid JSON text; of its key, where the value belongs to one.
 * A path that is not there gives the position of its nearest ancestor.
 */
export function createJsonLocator(
  text: string,
): (path: readonly (string | number)[]) => { line: number; column: number } {
  const root = parseTree(text, [], strict);
  return (path) => {
    let node: Node | undefined = root;
    for (let length = path.length; root !== undefined && length >= 0; length--) {
      node = findNodeAtLocation(root, path.slice(0, length));
      if (node !== undefined) break;
    }
    const key = node?.parent?.type === "property" ? node.parent : node;
    return positionAt(text, key?.offset ?? 0);
  };
}

/** A key that an object in a valid JSON text says twice, and the offset at which it does so again. */
export function findDuplicateKey(text: string): { key: string; offset: number } | undefined {
  const pending: Node[] = [];
  const root = parseTree(text, [], strict);
  if (root !== undefined) pending.push(root);
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const seen = new Set<string>();
    for (const child of node.children ?? []) {
      const [key, value] = child.type === "property" ? (child.children ?? []) : [undefined, child];
      if (key !== undefined) {
        if (seen.has(key.value)) return { key: key.value, offset: key.offset };
        seen.add(key.value);
      }
      if (value !== undefined) pending.push(value);
    }
  }
  return undefined;
}
