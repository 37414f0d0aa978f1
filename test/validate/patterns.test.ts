import { expect, test } from "vitest";
import { entry, validateEntries, validateTool } from "./validate-tool.ts";

const codes = ["UnsafePattern"] as const;
const unsafe = "^([A-Z]+)+$";

test("patterns that take no more time than they must", async () => {
  const properties = { key: { pattern: "^[A-Z]+-[0-9]+$" }, slug: { pattern: "^[a-z]+(-[a-z]+)*$" } };
  const inputSchema = { type: "object", properties, patternProperties: { "^x-[a-z]+$": {} } };
  expect(await validateTool({ inputSchema }, codes)).toEqual([]);
});

test("unsafe ones, wherever they are", async () => {
  const inputSchema = {
    type: "object",
    properties: { key: { type: "string", pattern: unsafe }, list: { items: { pattern: unsafe } } },
    patternProperties: { [unsafe]: {} },
  };
  expect(await validateTool({ inputSchema }, codes)).toMatchObject([
    { severity: "warning", path: ["inputSchema", "properties", "key", "pattern"], line: 10 },
    { path: ["inputSchema", "properties", "list", "items", "pattern"] },
    { path: ["inputSchema", "patternProperties", unsafe] },
  ]);
});

test("in the short form, in what a tool gives back, in entries of bundles", async () => {
  expect(await validateTool({ parameters: { key: { pattern: unsafe } } }, codes)).toMatchObject([
    { path: ["parameters", "key", "pattern"] },
  ]);
  const schema = { type: "object", properties: { key: { pattern: unsafe } } };
  expect(await validateTool({ outputSchema: schema }, codes)).toHaveLength(1);
  expect(await validateEntries([entry({ argumentsSchema: schema })], codes)).toHaveLength(1);
});

test("what is no schema and what is no pattern is left alone", async () => {
  const inputSchema = {
    type: "object",
    default: { pattern: unsafe },
    properties: { pattern: { type: "string" }, a: { pattern: "(a+)+[" } },
  };
  expect(await validateTool({ inputSchema }, codes)).toEqual([]);
});
