import { expect, test } from "vitest";
import { readSchema } from "../../src/json-schema/read-schema.ts";

const ref = (name: string) => ({ $ref: `#/$defs/${name}` });
const endless = "refers back to itself, so checking a value would never end";

test.each<[string, Record<string, object>, string[]]>([
  ["itself", { a: ref("a") }, ["a/$ref"]],
  ["itself in an alternative", { a: { anyOf: [{}, ref("a")] } }, ["a/anyOf/1/$ref"]],
  ["itself by another one", { a: ref("b"), b: { allOf: [ref("a")] } }, ["a/$ref", "b/allOf/0/$ref"]],
  ["one that refers to itself", { a: ref("b"), b: ref("c"), c: { not: ref("c") } }, ["c/not/$ref"]],
  ["itself from a dependency", { a: { dependentSchemas: { x: ref("a") } } }, ["a/dependentSchemas/x/$ref"]],
])("a schema that refers to %s is endless", (_, $defs, paths) => {
  const { faults } = readSchema({ $defs });
  expect(faults).toEqual([{ what: endless, path: expect.anything() }]);
  expect(paths.map((path) => `$defs/${path}`)).toContain(faults[0]?.path.join("/"));
});

test.each<[string, Record<string, object>]>([
  ["by two ways", { a: { allOf: [ref("b"), ref("c")] }, b: ref("d"), c: ref("d"), d: {} }],
  ["from parts of a value", { a: { properties: { x: ref("a") }, items: ref("a") } }],
])("a schema that reaches another %s is not endless", (_, $defs) => {
  expect(readSchema({ $defs }).faults).toEqual([]);
});
