import type { Path } from "../problems/index.ts";
import { memoize } from "./memoize.ts";

/** Both from 1. */
export interface Position {
  line: number;
  column: number;
}

/** The position of the value at a path (at its key, if it has one), or of its nearest ancestor. */
export type Locate = (path: Path) => Position;

/** Line and column of offsets into a text. */
export function createLineIndex(text: string): (offset: number) => Position {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) starts.push(index + end.length);
  return (offset) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

export function positionAt(text: string, offset: number): Position {
  return createLineIndex(text)(offset);
}

interface Place<Node> {
  node: Node;
  offset: number;
}

/**
 * Locates values by the syntax tree of a text. `listMembers`: those of an object or an array, by key or index; the last one
 * with a key counts. They are listed once, so many look-ups cost one pass.
 */
export function createFinder<Node>(
  text: string,
  root: Place<Node>,
  listMembers: (node: Node) => readonly (Place<Node> & { key: unknown })[],
): Locate {
  const toPosition = createLineIndex(text);
  const membersOf = memoize(
    (node: Node) => new Map(listMembers(node).map((member) => [String(member.key), member])),
  );
  return (path) => {
    let place = root;
    for (const key of path) {
      const next = membersOf(place.node).get(String(key));
      if (next === undefined) break;
      place = next;
    }
    return toPosition(place.offset);
  };
}

/** Matches the export of a definition, the only part of a code definition that can be located without running it. */
const exported =
  /^[ \t]*(?:export\s+default\b|(?:module\.)?exports\s*(?:\.default\s*)?=|export\s*\{[^}]{0,500}\bas\s{1,9}default\b)/m;

/** Locates all paths at the export; `undefined` without one. */
export function createCodeLocator(text: string): Locate | undefined {
  const found = exported.exec(text);
  if (found === null) return undefined;
  const position = positionAt(text, found.index + found[0].search(/\S/));
  return () => position;
}
