import { expect, test } from "vitest";
import { normalizeDefinition } from "../../src/extension-schema/check-definition.ts";

test("the short parameters of a tool become the schema of its input", () => {
  const parameters = {
    city: { type: "string", required: true },
    days: { type: "number", required: false },
    unit: { type: "string", enum: ["C", "F"] },
    odd: "string",
  };
  expect(normalizeDefinition("tool", { name: "weather", parameters })).toEqual({
    name: "weather",
    parameters,
    inputSchema: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "number" }, unit: parameters.unit },
      required: ["city"],
    },
  });
});

test("a parameter called __proto__ is an ordinary property", () => {
  const parameters = JSON.parse('{"__proto__": {"type": "string", "required": true}}');
  const { inputSchema } = normalizeDefinition("tool", { parameters });
  expect(JSON.stringify(inputSchema)).toBe(
    '{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}',
  );
});

test.each([
  ["tool", { inputSchema: { type: "object" }, parameters: { a: {} } }],
  ["tool", { parameters: ["a"] }],
  ["tool", {}],
  ["prompt", { parameters: { a: {} } }],
] as const)("a definition of the shape %s stays as it is: %j", (shape, definition) => {
  expect(normalizeDefinition(shape, definition)).toBe(definition);
});
