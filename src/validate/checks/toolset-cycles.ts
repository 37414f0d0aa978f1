import { findReferences, withoutRange } from "../../extension-schema/references.ts";
import type { InspectedItem, InspectedPack } from "../../inspection/types.ts";
import type { Path } from "../../problems/index.ts";
import { type Check, findInItem } from "../finding.ts";

/** One of the pack's own toolsets, with its references to others. */
interface Node {
  item: InspectedItem;
  edges: { to: string; path: Path }[];
}

/** The graph of the pack's own toolsets, by name. */
function readGraph({ items }: InspectedPack): Map<string, Node> {
  const toolsets = items.filter(({ declaration }) => declaration.kind === "toolset");
  const nodes = new Map(toolsets.map((item): [string, Node] => [item.declaration.name, { item, edges: [] }]));
  const byQualifiedName = new Map(toolsets.map((item) => [item.qualifiedName, item.declaration.name]));
  for (const { item, edges } of nodes.values()) {
    for (const { reference, kind, path } of findReferences(item)) {
      if (kind !== "toolset") continue;
      const to = nodes.has(reference) ? reference : byQualifiedName.get(withoutRange(reference));
      if (to !== undefined) edges.push({ to, path });
    }
  }
  return nodes;
}

/** Limit on the names of a cycle in a message; longer cycles are abbreviated. */
const longestWay = 20;

function abbreviate(names: readonly string[]): readonly string[] {
  const others = names.length - longestWay;
  if (others <= 0) return names;
  const half = longestWay / 2;
  return [...names.slice(0, half), `(${others} others)`, ...names.slice(-half)];
}

/** Reports each reference of the pack's own toolsets that closes a cycle. */
export const checkToolsetCycles: Check = function* ({ inspected }) {
  const nodes = readGraph(inspected);
  const done = new Set<string>();
  for (const start of nodes.keys()) {
    if (done.has(start)) continue;
    // The names on the current path, with the next edge of each: avoids recursion, which could overflow.
    const way = new Map([[start, 0]]);
    const names = [start];
    for (let name = names.at(-1); name !== undefined; name = names.at(-1)) {
      const node = nodes.get(name);
      const next = way.get(name) ?? 0;
      const edge = node?.edges[next];
      if (node === undefined || edge === undefined) {
        names.pop();
        way.delete(name);
        done.add(name);
        continue;
      }
      way.set(name, next + 1);
      if (way.has(edge.to)) {
        const cycle = [...abbreviate(names.slice(names.indexOf(edge.to))), edge.to];
        yield findInItem(node.item, "ReferenceCycle", { cycle }, edge.path);
      } else if (!done.has(edge.to)) {
        way.set(edge.to, 0);
        names.push(edge.to);
      }
    }
  }
};
