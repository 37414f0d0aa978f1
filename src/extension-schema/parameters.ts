import { isRecord } from "../data/parse-json.ts";

/** The JSON Schema of a tool's arguments for its short `parameters`. What is no schema is left out. */
export function toInputSchema(parameters: Readonly<Record<string, unknown>>) {
  const properties: [string, object][] = [];
  const required: string[] = [];
  for (const [name, parameter] of Object.entries(parameters)) {
    if (!isRecord(parameter)) continue;
    const { required: isRequired, ...schema } = parameter;
    properties.push([name, schema]);
    if (isRequired === true) required.push(name);
  }
  // `fromEntries` makes a parameter called __proto__ an ordinary property.
  const schema = { type: "object" as const, properties: Object.fromEntries(properties) };
  return required.length > 0 ? { ...schema, required } : schema;
}
