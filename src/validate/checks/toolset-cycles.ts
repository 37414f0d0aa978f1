import { findReferences, withoutRange } from "../../extension-schema/references.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import type { Path } from "../../problems/index.ts";
import { type Check, findInItem } from "../finding.ts";

/** A reference from one toolset to another. */
interface Edge {
  to: string;
  path: Path;
}

interface Node {
  item: InspectedItem;
  edges: Edge[];
}

/** The graph of the pack's toolsets, by name. */
function readGraph(items: readonly InspectedItem[]): Map<string, Node> {
  const nodes = new Map<string, Node>();
  for (const item of items) {
    if (item.declaration.kind === "toolset") nodes.set(item.declaration.name, { item, edges: [] });
  }
  const byQualifiedName = new Map([...nodes].map(([name, { item }]) => [item.qualifiedName, name]));
  for (const { item, edges } of nodes.values()) {
    for (const { reference, kind, path } of findReferences(item)) {
      const to = nodes.has(reference) ? reference : byQualifiedName.get(withoutRange(reference));
      if (kind === "toolset" && to !== undefined) edges.push({ to, path });
    }
  }
  return nodes;
}

/** Limit on the names of a cycle in a message; longer cycles are abbreviated. */
const longestWay = 20;

function nameWay(way: readonly { name: string }[], start: number): string[] {
  const names = (from: number, to = way.length) => way.slice(from, to).map(({ name }) => name);
  const others = way.length - start - longestWay;
  if (others <= 0) return names(start);
  const half = longestWay / 2;
  return [...names(start, start + half), `(${others} others)`, ...names(way.length - half)];
}

/**
 * Reports each reference that closes a cycle of toolsets. Checks only the pack's own toolsets.
 */
export const checkToolsetCycles: Check = function* ({ inspected }) {
  const nodes = readGraph(inspected.items);
  const done = new Set<string>();
  for (const start of nodes.keys()) {
    if (done.has(start)) continue;
    // The current path with the next edge of each node: avoids recursion, which could overflow.
    const way = [{ name: start, next: 0 }];
    const positions = new Map([[start, 0]]);
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const node = nodes.get(top.name);
      const edge = node?.edges[top.next++];
      if (node === undefined || edge === undefined) {
        way.pop();
        positions.delete(top.name);
        done.add(top.name);
        continue;
      }
      const position = positions.get(edge.to);
      if (position !== undefined) {
        const cycle = [...nameWay(way, position), edge.to];
        yield findInItem(node.item, "ReferenceCycle", { cycle }, edge.path);
      } else if (!done.has(edge.to)) {
        positions.set(edge.to, way.length);
        way.push({ name: edge.to, next: 0 });
      }
    }
  }
};
