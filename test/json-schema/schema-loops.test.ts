import { expect, test } from "vitest";
import { type Edge, findChains } from "../../src/json-schema/schema-loops.ts";
import type { Schema } from "../../src/json-schema/schema-survey.ts";

/** The chains between schemas `a`, `b`, …, of which capital letters are aliases: `a>b` is a subschema, `a=b` a reference. */
function chainsOf(...steps: string[]) {
  const schemas = new Map<string, Schema>();
  const schemaOf = (name: string) => {
    const schema = schemas.get(name) ?? { title: name };
    schemas.set(name, schema);
    return schema;
  };
  const edges = new Map<Schema, Edge[]>();
  for (const step of steps) {
    const [from = "", kind, to = ""] = step;
    const list = edges.get(schemaOf(from)) ?? [];
    edges.set(schemaOf(from), list);
    if (to !== "") list.push({ to: schemaOf(to), ...(kind === "=" && { referencePath: [step] }) });
  }
  const isAlias = ({ title }: Schema) => /[A-Z]/.test(String(title));
  const { loops, longest } = findChains(edges, isAlias);
  return { loops: loops.map(String), length: longest.length, path: longest.path?.join() };
}

test.each<[string[], object]>([
  [[], { loops: [], length: 0, path: undefined }],
  [["a"], { loops: [], length: 1, path: undefined }],
  [["a>b"], { loops: [], length: 2, path: undefined }],
  [["a=b"], { loops: [], length: 2, path: "a=b" }],
  [["a=b", "b=c", "c=d"], { loops: [], length: 4, path: "a=b" }],
  [["a>b", "b=c", "c=d"], { loops: [], length: 4, path: "b=c" }],
  [["c=d", "b=c", "a>b"], { loops: [], length: 4, path: "b=c" }],
  [["a>b", "a=c", "c=d"], { loops: [], length: 3, path: "a=c" }],
  [["a=c", "c=d", "a>b"], { loops: [], length: 3, path: "a=c" }],
  [["a>b", "a=c"], { loops: [], length: 2, path: "a=c" }],
  [["a=c", "a>b"], { loops: [], length: 2, path: "a=c" }],
  [["a=b", "a=c"], { loops: [], length: 2, path: "a=b" }],
  [["a>b", "c=d", "d=e"], { loops: [], length: 3, path: "c=d" }],
  [["A=b", "b=c"], { loops: [], length: 2, path: "b=c" }],
  [["a=B", "B=C", "C=d"], { loops: [], length: 2, path: "a=B" }],
  [["a=a"], { loops: ["a=a"], length: 1, path: undefined }],
  [["a>b", "b>a"], { loops: [], length: 2, path: undefined }],
  [["a>b", "b=a"], { loops: ["b=a"], length: 2, path: undefined }],
  [["a=b", "b>a"], { loops: ["a=b"], length: 2, path: "a=b" }],
  [["a=b", "b>c", "c>a"], { loops: ["a=b"], length: 3, path: "a=b" }],
  [["a=b", "b=c", "c>d", "d>c"], { loops: ["b=c"], length: 4, path: "a=b" }],
  [["a=b", "b=a", "c=d", "d=c"], { loops: ["b=a", "d=c"], length: 2, path: "a=b" }],
  [["a>b", "a>c", "b=d", "c=d"], { loops: [], length: 3, path: "b=d" }],
])("the chains of %j are %j", (steps, chains) => {
  expect(chainsOf(...steps)).toEqual(chains);
});

test("a chain of any length does not overflow the stack", () => {
  const all = Array.from({ length: 20_000 }, () => ({}));
  const edges = new Map(
    all.map((one, index) => [one, all.slice(index + 1, index + 2).map((to) => ({ to }))]),
  );
  expect(findChains(edges, () => false).longest.length).toBe(20_000);
});
