import { findReferences, withoutRange } from "../../extension-schema/references.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import type { Path } from "../../problems/index.ts";
import type { PackFacts } from "../facts/pack-facts.ts";
import { type Check, findInItem } from "../finding.ts";
import { StepBudget } from "./subjects.ts";

/** How one of the pack's own toolsets is reached. */
interface Way {
  to: string;
  /** Qualified names of the toolsets of other packs on the way, in order. */
  through: readonly string[];
}

/** A reference from one of the pack's own toolsets to another, directly or through toolsets of other packs. */
interface Edge extends Way {
  path: Path;
}

interface Node {
  item: InspectedItem;
  edges: Edge[];
}

/** Finds a way from a toolset of another pack to each own toolset that is reached through other packs alone. */
function findWaysBack(
  start: string,
  included: ReadonlyMap<string, readonly string[]>,
  own: ReadonlyMap<string, string>,
  steps: StepBudget,
): Way[] {
  const ways = new Map<string, Way>();
  const previous = new Map<string, string | undefined>([[start, undefined]]);
  // The loop also visits the toolsets that it adds.
  for (const name of previous.keys()) {
    for (const next of included.get(name) ?? []) {
      if (!steps.take()) return [...ways.values()];
      const to = own.get(next);
      if (to === undefined) {
        if (!previous.has(next)) previous.set(next, name);
        continue;
      }
      if (ways.has(to)) continue;
      const through: string[] = [];
      for (let one: string | undefined = name; one !== undefined; one = previous.get(one)) {
        if (!steps.take()) return [...ways.values()];
        through.push(one);
      }
      ways.set(to, { to, through: through.reverse() });
    }
  }
  return [...ways.values()];
}

/** The graph of the pack's own toolsets, by name. */
function readGraph({ inspected, includedToolsets = new Map() }: PackFacts): Map<string, Node> {
  const nodes = new Map<string, Node>();
  for (const item of inspected.items) {
    if (item.declaration.kind === "toolset") nodes.set(item.declaration.name, { item, edges: [] });
  }
  const byQualifiedName = new Map([...nodes].map(([name, { item }]) => [item.qualifiedName, name]));
  const waySteps = new StepBudget();
  const edgeSteps = new StepBudget();
  const waysBack = new Map<string, Way[]>();
  for (const { item, edges } of nodes.values()) {
    for (const { reference, kind, path } of findReferences(item)) {
      if (kind !== "toolset") continue;
      const qualifiedName = withoutRange(reference);
      const to = nodes.has(reference) ? reference : byQualifiedName.get(qualifiedName);
      if (to !== undefined) {
        edges.push({ to, path, through: [] });
        continue;
      }
      if (!includedToolsets.has(qualifiedName)) continue;
      const ways =
        waysBack.get(qualifiedName) ??
        findWaysBack(qualifiedName, includedToolsets, byQualifiedName, waySteps);
      waysBack.set(qualifiedName, ways);
      for (const way of ways) if (edgeSteps.take()) edges.push({ ...way, path });
    }
  }
  return nodes;
}

/** Limit on the names of a cycle in a message; longer cycles are abbreviated. */
const longestWay = 20;

function abbreviate(names: readonly string[], start: number): string[] {
  const others = names.length - start - longestWay;
  if (others <= 0) return names.slice(start);
  const half = longestWay / 2;
  return [...names.slice(start, start + half), `(${others} others)`, ...names.slice(-half)];
}

/**
 * Reports each reference of the pack's own toolsets that closes a cycle, also through other packs. A cycle of toolsets of
 * other packs alone is not reported.
 */
export const checkToolsetCycles: Check = function* (facts) {
  const nodes = readGraph(facts);
  const done = new Set<string>();
  for (const start of nodes.keys()) {
    if (done.has(start)) continue;
    // The current path with the next edge of each node: avoids recursion, which could overflow.
    const way = [{ name: start, next: 0, position: 0 }];
    /** The names on the path, also of toolsets of other packs, and the positions of the own ones. */
    const names = [start];
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
      if (position === undefined && done.has(edge.to)) continue;
      names.length = top.position + 1;
      for (const name of edge.through) names.push(name);
      if (position !== undefined) {
        const cycle = [...abbreviate(names, position), edge.to];
        yield findInItem(node.item, "ReferenceCycle", { cycle }, edge.path);
      } else {
        positions.set(edge.to, names.length);
        way.push({ name: edge.to, next: 0, position: names.length });
        names.push(edge.to);
      }
    }
  }
};
