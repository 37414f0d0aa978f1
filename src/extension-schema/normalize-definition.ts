import { isRecord } from "../data/parse-json.ts";
import type { DefinitionShape } from "./index.ts";

/** Expands a tool's short `parameters` to a JSON Schema. */
function toInputSchema(parameters: Record<string, unknown>): Record<string, unknown> {
  const properties: [string, unknown][] = [];
  const required: string[] = [];
  for (const [name, parameter] of Object.entries(parameters)) {
    if (!isRecord(parameter)) continue;
    const { required: isRequired, ...schema } = parameter;
    properties.push([name, schema]);
    if (isRequired === true) required.push(name);
  }
  // `fromEntries` makes a parameter called __proto__ an ordinary property.
  const schema = { type: "object", properties: Object.fromEntries(properties) };
  return required.length > 0 ? { ...schema, required } : schema;
}

/** Normalizes a checked definition: the rest of the program reads only `inputSchema`. */
export function normalizeDefinition(
  shape: DefinitionShape,
  definition: Record<string, unknown>,
): Record<string, unknown> {
  if (shape !== "tool" || definition.inputSchema !== undefined || !isRecord(definition.parameters))
    return definition;
  return { ...definition, inputSchema: toInputSchema(definition.parameters) };
}
