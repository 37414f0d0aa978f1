import { expect, test } from "vitest";
import { formatSchemaType } from "../../src/extension-schema/format-schema-type.ts";

test.each([
  [{ type: "string" }, "string"],
  [{ type: ["string", "null"] }, "string | null"],
  [{ type: "string", enum: ["a", 1, null] }, '"a" | 1 | null'],
  [{ type: "string", const: "a" }, '"a"'],
  [{ const: null }, "null"],
  [{ type: "array", items: { type: "number" } }, "number[]"],
  [{ type: "array", items: { type: "array" } }, "anything[][]"],
  [{ type: "array", items: false }, "anything[]"],
  [{ items: { type: "number" } }, "anything"],
  [{ type: 5, enum: "a" }, "anything"],
  [{}, "anything"],
  [true, "anything"],
  [undefined, "anything"],
  [false, "nothing"],
])("the type of the schema %j is shown as %s", (schema, type) => {
  expect(formatSchemaType(schema)).toBe(type);
});
