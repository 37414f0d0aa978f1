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

test("ReservedParameter is reported in a schema inside the schema", async () => {
  const inputSchema = { type: "object", allOf: [{}, declares] };
  const path = ["inputSchema", "allOf", 1, "properties", name];
  expect(await validateTool({ inputSchema }, codes)).toMatchObject([{ severity: "error", path }]);
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
