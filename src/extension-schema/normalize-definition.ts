import { isRecord } from "../data/parse-json.ts";
import type { DefinitionShape } from "./index.ts";

/** The JSON Schema that a tool's short `parameters` stand for. */
function toInputSchema(parameters: Record<string, unknown>): Record<string, unknown> {
  const properties: [string, unknown][] = [];
  const required: string[] = [];
  for (const [name, parameter] of Object.entries(parameters)) {
    if (!isRecord(parameter)) continue;
    const { required: isRequired, ...schema } = parameter;
    properties.push([name, schema]);
    if (isRequired === true) required.push(name);
  }
  // From entries, so that a parameter called __proto__ is a property like any other.
  const schema = { type: "object", properties: Object.fromEntries(properties) };
  return required.length > 0 ? { ...schema, required } : schema;
}

/** Brings a checked definition into the one form that the rest of the program reads. */
export function normalizeDefinition(
  shape: DefinitionShape,
  definition: Record<string, unknown>,
): Record<string, unknown> {
  if (shape !== "tool" || definition.inputSchema !== undefined || !isRecord(definition.parameters))
    return definition;
  return { ...definition, inputSchema: toInputSchema(definition.parameters) };
}
