import { describeType, isRecord } from "../data/parse-json.ts";
import type { SessionTool } from "../session/session-tool.ts";

/** A JSON Schema as a Standard Schema, as AI SDK, LangChain and others take it. */
export interface ToolSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "trailblaze";
    /** Checks only that the value is an object: the session validates the arguments of a call, and its result says what is wrong. */
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: Record<string, unknown>; readonly issues?: undefined }
      | { readonly issues: readonly { readonly message: string }[] };
    readonly jsonSchema: {
      /** A copy of the JSON Schema. */
      readonly input: (options?: unknown) => Record<string, unknown>;
      /** The same: nothing is converted. */
      readonly output: (options?: unknown) => Record<string, unknown>;
    };
    readonly types?: { readonly input: unknown; readonly output: Record<string, unknown> };
  };
}

/** The schema of a tool's arguments as a Standard Schema. Each reader gets a copy of the JSON Schema. */
export function standardSchema({ inputSchema }: Pick<SessionTool, "inputSchema">): ToolSchema {
  const copy = (): Record<string, unknown> => structuredClone(inputSchema);
  return {
    "~standard": {
      version: 1,
      vendor: "trailblaze",
      validate: (value) =>
        isRecord(value)
          ? { value }
          : {
              issues: [{ message: `The arguments must be an object, but they are ${describeType(value)}.` }],
            },
      jsonSchema: { input: copy, output: copy },
    },
  };
}
