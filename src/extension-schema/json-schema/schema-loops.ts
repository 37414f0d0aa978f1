import type { Schema, SchemaPath } from "./schema-survey.ts";

/** A way from one schema to another that applies to the same value. */
export interface Edge {
  to: Schema;
  /** Where the reference stands that leads there; without one the other schema stands inside the first. */
  referencePath?: SchemaPath;
}

/** Where references close circles of schemas that apply each other to the same value. Keeps no deep stack. */
export function* findLoops(edges: ReadonlyMap<Schema, readonly Edge[]>): Generator<SchemaPath> {
  const state = new Map<Schema, "open" | "done">();
  for (const start of edges.keys()) {
    if (state.has(start)) continue;
    state.set(start, "open");
    const stack: { schema: Schema; next: number; via?: Edge }[] = [{ schema: start, next: 0 }];
    for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
      const edge = edges.get(frame.schema)?.[frame.next++];
      if (edge === undefined) {
        state.set(frame.schema, "done");
        stack.pop();
      } else if (!state.has(edge.to)) {
        state.set(edge.to, "open");
        stack.push({ schema: edge.to, next: 0, via: edge });
      } else if (state.get(edge.to) === "open") {
        const path =
          edge.referencePath ?? stack.findLast(({ via }) => via?.referencePath)?.via?.referencePath;
        if (path !== undefined) yield path;
      }
    }
  }
}
