import { expect, test } from "vitest";
import { findReservedParameters } from "../../src/json-schema/reserved-parameters.ts";

const reserved = "_trailblazeContext";
const properties = { [reserved]: {} };
const required = ["a", reserved];

test.each<[Record<string, unknown>, (string | number)[][]]>([
  [{ properties }, [["properties", reserved]]],
  [{ required }, [["required", 1]]],
  [{ required: [reserved] }, [["required", 0]]],
  [{ properties, required }, [["properties", reserved]]],
  [{ properties: { a: { properties } }, required: reserved }, []],
  [{ properties: JSON.parse('{"__proto__": {"a": 1}}') }, []],
  [{ $defs: { a: { properties } } }, []],
  [
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    { not: { required }, if: { required }, then: { required }, else: { required } },
    [
      ["not", "required", 1],
      ["if", "required", 1],
      ["then", "required", 1],
      ["else", "required", 1],
    ],
  ],
  [
    { allOf: [{}, { required }], anyOf: [{ required }], oneOf: [{ required }] },
    [
      ["allOf", 1, "required", 1],
      ["anyOf", 0, "required", 1],
      ["oneOf", 0, "required", 1],
    ],
  ],
  [{ dependentSchemas: { a: { required } } }, [["dependentSchemas", "a", "required", 1]]],
  [
    { required, not: { not: { properties } } },
    [
      ["required", 1],
      ["not", "not", "properties", reserved],
    ],
  ],
  [{ not: null, if: true, allOf: [null, true], anyOf: "a" }, []],
])("the reserved parameter is found in the schema %j", (schema, paths) => {
  expect([...findReservedParameters(schema)]).toEqual(paths);
});

test("paths start with that of the schema", () => {
  expect([...findReservedParameters({ required }, ["tools", 0])]).toEqual([["tools", 0, "required", 1]]);
});
