import { expect, test } from "vitest";
import { entry, validateEntries, validateTool } from "./validate-tool.ts";

const codes = ["ReservedParameter"] as const;
const name = "_trailblazeContext";
const declares = { properties: { [name]: {} } };

test.each([
  [{ type: "object", properties: { context: { type: "object" } } }],
  [{ type: "object", properties: { nested: { type: "object", ...declares } } }],
  [{ type: "object", description: name, properties: { kind: { enum: [name] } } }],
])("ReservedParameter is not reported for %j", async (inputSchema) => {
  expect(await validateTool({ inputSchema }, codes)).toEqual([]);
});

test.each([
  [{ ...declares }, ["properties", name]],
  [{ ...declares, required: [name] }, ["properties", name]],
  [{ required: ["a", name] }, ["required", 1]],
  [{ allOf: [{}, declares] }, ["allOf", 1, "properties", name]],
  [{ if: declares }, ["if", "properties", name]],
  [{ dependentSchemas: { a: declares } }, ["dependentSchemas", "a", "properties", name]],
])("ReservedParameter is reported for %j", async (keywords, path) => {
  const problems = await validateTool({ inputSchema: { type: "object", ...keywords } }, codes);
  expect(problems).toMatchObject([{ severity: "error", path: ["inputSchema", ...path] }]);
});

test("ReservedParameter is reported for the short form of parameters and for bundle entries", async () => {
  expect(await validateTool({ parameters: { [name]: { required: true } } }, codes)).toMatchObject([
    { path: ["parameters", name], line: 6 },
  ]);
  const argumentsSchema = { type: "object", ...declares };
  expect(await validateEntries([entry({ argumentsSchema })], codes)).toMatchObject([
    { path: ["entries", 0, "argumentsSchema", "properties", name] },
  ]);
});

test("ReservedParameter is not reported for properties of an output schema", async () => {
  expect(await validateTool({ outputSchema: { type: "object", ...declares } }, codes)).toEqual([]);
});
