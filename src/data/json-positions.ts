// Only problems need positions, so this module and its parser are loaded on demand.
import {
  type JSONVisitor,
  type Node,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
  visit,
} from "jsonc-parser";
import type { Path } from "../problems/index.ts";

import { createFinder, type Locate, positionAt } from "./line-index.ts";
import type { DataSyntaxError } from "./parse-json.ts";

const strict = { disallowComments: true };

export function describeSyntaxError(error: DataSyntaxError): {
  reason: string;
  line?: number;
  column?: number;
} {
  const { text, reason } = error;
  if (text === undefined || text.trim() === "") return { reason, line: 1, column: 1 };
  if (error.offset !== undefined) return { reason, ...positionAt(text, error.offset) };
  const found: ParseError[] = [];
  parse(text, found, strict);
  const [first] = found;
  if (first === undefined) return { reason, ...positionAt(text, text.length) };
  const comma = /,\s*$/.exec(text.slice(0, first.offset));
  if (comma !== null && /[}\]]/.test(text.charAt(first.offset)))
    return { reason: `${reason} (trailing comma)`, ...positionAt(text, comma.index) };
  const code = printParseErrorCode(first.error);
  const words = code.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return { reason: `${reason} (${words})`, ...positionAt(text, first.offset) };
}

/** Locates values in a valid JSON text. The last of repeated keys counts, as in `JSON.parse`. */
export function createJsonLocator(text: string): Locate {
  const root = parseTree(text, undefined, strict);
  return createFinder<Node | undefined>(text, { node: root, offset: root?.offset ?? 0 }, (node) =>
    (node?.children ?? []).map((child, index) => {
      const [key, value] = (node?.type === "object" && child.children) || [];
      return { key: key ? key.value : index, node: value ?? child, offset: child.offset };
    }),
  );
}

/** Repeated keys that are reported; the rest would add no information. */
const maximumRepeated = 100;

/** The keys that objects in a valid JSON text repeat, in order, each with its path and the offset of the repetition. */
export function findRepeatedKeys(
  text: string,
  isRelevant: (path: Path) => boolean = () => true,
): { path: Path; offset: number }[] {
  const found: { path: Path; offset: number }[] = [];
  const open: Set<string>[] = [];
  const visitor: JSONVisitor = {
    onObjectBegin: () => void open.push(new Set()),
    onObjectEnd: () => void open.pop(),
    onObjectProperty(key, offset, _length, _line, _column, readPath) {
      if (open.at(-1)?.has(key) && found.length < maximumRepeated) {
        const path = [...readPath(), key];
        if (isRelevant(path)) found.push({ path, offset });
      }
      open.at(-1)?.add(key);
    },
  };
  visit(text, visitor, strict);
  return found;
}
