import { isObject } from "./context-from.ts";
import type { ToolDefinition } from "./definitions.ts";
import type { ObjectSchema } from "./mcp.ts";

/** A definition with any arguments. */
export type AnyTool = ToolDefinition<never>;

type Data = Record<string, unknown>;

const written = new WeakMap<object, ObjectSchema>();

/** The JSON Schema of a tool's arguments, also for the short `parameters`. The same object each time. */
export function inputSchemaOf({ inputSchema, parameters = {} }: AnyTool): ObjectSchema {
  if (inputSchema !== undefined) return inputSchema;
  const schema = written.get(parameters) ?? fromParameters(parameters);
  written.set(parameters, schema);
  return schema;
}

function fromParameters(parameters: NonNullable<AnyTool["parameters"]>): ObjectSchema {
  const properties: [string, Data][] = [];
  const required: string[] = [];
  for (const [name, { required: isRequired, ...schema }] of Object.entries(parameters)) {
    properties.push([name, schema]);
    if (isRequired === true) required.push(name);
  }
  const schema: ObjectSchema = { type: "object", properties: Object.fromEntries(properties) };
  return required.length > 0 ? { ...schema, required } : schema;
}

/** A copy of a value with the schema's defaults filled in, at every level. */
export function fillDefaults(schema: unknown, value: unknown): unknown {
  if (!isObject(schema)) return value;
  if (Array.isArray(value)) return value.map((item) => fillDefaults(schema.items, item));
  if (!isObject(value)) return value;
  const { properties } = schema;
  const filled = new Map(Object.entries(value));
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
    if (filled.has(name)) filled.set(name, fillDefaults(property, filled.get(name)));
    else if (isObject(property) && property.default !== undefined) {
      filled.set(name, structuredClone(property.default));
    }
  }
  return Object.fromEntries(filled);
}

/** The default values of a tool's options. */
export const defaultOptionsOf = ({ options }: AnyTool): Readonly<Data> =>
  Object.freeze(
    Object.fromEntries(
      Object.entries(options ?? {}).flatMap(([name, option]) =>
        option.default === undefined ? [] : [[name, structuredClone(option.default)]],
      ),
    ),
  );
