import { isRecord } from "../data/parse-json.ts";

/** A JSON Schema's type in a few words, such as `string`, `string[]`, `"a" | "b"`. It may contain text of a pack. */
export function formatSchemaType(schema: unknown): string {
  if (!isRecord(schema)) return schema === false ? "nothing" : "anything";
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array")
    return `${isRecord(schema.items) ? formatSchemaType(schema.items) : "anything"}[]`;
  if (Array.isArray(schema.type)) return schema.type.join(" | ");
  return typeof schema.type === "string" ? schema.type : "anything";
}
