import { expect, test } from "vitest";
import { entry, validateEntries, validateTool } from "./validate-tool.ts";

const codes = ["UnsafePattern"] as const;
const unsafe = "^([A-Z]+)+$";

test("UnsafePattern is not reported for patterns without exponential backtracking", async () => {
  const properties = { key: { pattern: "^[A-Z]+-[0-9]+$" }, slug: { pattern: "^[a-z]+(-[a-z]+)*$" } };
  const inputSchema = { type: "object", properties, patternProperties: { "^x-[a-z]+$": {} } };
  expect(await validateTool({ inputSchema }, codes)).toEqual([]);
});

test("UnsafePattern is reported for patterns at any place of a schema", async () => {
  const inputSchema = {
    type: "object",
    properties: { key: { type: "string", pattern: unsafe }, list: { items: { pattern: unsafe } } },
    patternProperties: { [unsafe]: {} },
  };
  expect(await validateTool({ inputSchema }, codes)).toMatchObject([
    { path: ["inputSchema", "patternProperties", unsafe] },
    { severity: "warning", path: ["inputSchema", "properties", "key", "pattern"], line: 10 },
    { path: ["inputSchema", "properties", "list", "items", "pattern"] },
  ]);
});

test("UnsafePattern is reported for patterns of parameters, output schemas and bundle entries", async () => {
  expect(await validateTool({ parameters: { key: { pattern: unsafe } } }, codes)).toMatchObject([
    { path: ["parameters", "key", "pattern"] },
  ]);
  const schema = { type: "object", properties: { key: { pattern: unsafe } } };
  expect(await validateTool({ outputSchema: schema }, codes)).toHaveLength(1);
  expect(await validateEntries([entry({ argumentsSchema: schema })], codes)).toHaveLength(1);
});

test("UnsafePattern is not reported for values, names of parameters and invalid patterns", async () => {
  const inputSchema = {
    type: "object",
    default: { pattern: unsafe },
    properties: { pattern: { type: "string" }, a: { pattern: "(a+)+[" } },
  };
  expect(await validateTool({ inputSchema }, codes)).toEqual([]);
});
