import { isRecord } from "../../../data/parse-json.ts";
import type { InspectedItem } from "../../../inspection/types.ts";
import type { Path } from "../../../problems/index.ts";
import { findTools, type WrittenTool } from "./tools.ts";

type SchemaKey = "inputSchema" | "parameters" | "argumentsSchema" | "outputSchema";

/** A JSON Schema in a definition. */
export interface WrittenSchema {
  tool: WrittenTool;
  /** What it is written under; `parameters` for a schema that was made of the short form. */
  key: SchemaKey;
  schema: Readonly<Record<string, unknown>>;
  /** From a path in the schema to the same place as it is written, below `key`. */
  toWritten: (path: Path) => Path;
}

const asIs = (path: Path) => path;
/** `parameters` hold what the schema that is made of them has as properties. */
const withoutProperties = (path: Path) => (path[0] === "properties" ? path.slice(1) : []);

/** Every JSON Schema in a pack's definitions, in order. */
export function* findSchemas(items: readonly InspectedItem[]): Generator<WrittenSchema> {
  for (const tool of findTools(items)) {
    const { definition, isEntry } = tool;
    const isShort = !isEntry && isRecord(definition.parameters);
    const inputKey = isEntry ? "argumentsSchema" : "inputSchema";
    const input = definition[inputKey];
    if (isRecord(input)) {
      yield isShort
        ? { tool, key: "parameters", schema: input, toWritten: withoutProperties }
        : { tool, key: inputKey, schema: input, toWritten: asIs };
    }
    const output = definition.outputSchema;
    if (isRecord(output)) yield { tool, key: "outputSchema", schema: output, toWritten: asIs };
  }
}

/** Where a place in a schema is, from the top of the item's definition. */
export function placeInDefinition({ tool, key, toWritten }: WrittenSchema, path: Path): Path {
  return [...tool.path, key, ...toWritten(path)];
}
