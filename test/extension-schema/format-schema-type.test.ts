import { expect, test } from "vitest";
import { formatSchemaType } from "../../src/pages/page.ts";

test.each([
  [{ type: "string" }, "string"],
  [{ type: ["string", "null"] }, "string | null"],
  [{ type: "string", enum: ["a", 1, null] }, '"a" | 1 | null'],
  [{ type: "string", const: "a" }, '"a"'],
  [{ type: "array", items: { type: "number" } }, "number[]"],
  [{ items: { type: "number" } }, "anything"],
  [{}, "anything"],
  [true, "anything"],
  [undefined, "anything"],
  [false, "nothing"],
])("the type of the schema %j is shown as %s", (schema, type) => {
  expect(formatSchemaType(schema)).toBe(type);
});
