import type { Path } from "../problems/index.ts";
import type { Schema } from "./schema-survey.ts";

/** A step from one schema to another that applies to the same value. */
export interface Edge {
  to: Schema;
  /** The path of the reference; `undefined` for a subschema. */
  referencePath?: Path;
}

export interface Chains {
  /** References that close cycles of schemas for the same value. */
  loops: Path[];
  /** The longest chain of schemas for one value and its first reference, if there are no cycles. */
  longest: { length: number; path: Path | undefined };
}

interface Frame {
  schema: Schema;
  next: number;
  via?: Edge;
  /** The length of the longest known chain from this schema. */
  length: number;
  path: Path | undefined;
}

/** Finds chains of schemas for the same value, not counting aliases. Uses no recursion. */
export function findChains(
  edges: ReadonlyMap<Schema, readonly Edge[]>,
  isAlias: (schema: Schema) => boolean,
): Chains {
  const loops: Path[] = [];
  const known = new Map<Schema, "open" | Chains["longest"]>();
  let longest: Chains["longest"] = { length: 0, path: undefined };

  const extend = (frame: Frame, edge: Edge, { length, path }: Chains["longest"]) => {
    const extended = length + (isAlias(frame.schema) ? 0 : 1);
    if (extended < frame.length || (extended === frame.length && frame.path !== undefined)) return;
    frame.length = extended;
    frame.path = edge.referencePath ?? path;
  };

  for (const start of edges.keys()) {
    if (known.has(start)) continue;
    const enter = (schema: Schema): Frame => {
      known.set(schema, "open");
      return { schema, next: 0, length: 1, path: undefined };
    };
    const stack: Frame[] = [enter(start)];
    for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
      const edge = edges.get(frame.schema)?.[frame.next++];
      if (edge === undefined) {
        const { schema, via, length, path } = frame;
        known.set(schema, { length, path });
        if (length > longest.length) longest = { length, path };
        stack.pop();
        const outer = stack.at(-1);
        if (outer !== undefined && via !== undefined) extend(outer, via, { length, path });
        continue;
      }
      const end = known.get(edge.to);
      if (end === undefined) {
        stack.push({ ...enter(edge.to), via: edge });
      } else if (end !== "open") {
        extend(frame, edge, end);
      } else {
        const path =
          edge.referencePath ?? stack.findLast(({ via }) => via?.referencePath)?.via?.referencePath;
        if (path !== undefined) loops.push(path);
      }
    }
  }
  return { loops, longest };
}
