// The types of the Model Context Protocol that packs use, as in revision 2025-11-25. They are type aliases with mutable
// arrays, so that they are assignable to the types of MCP SDKs.
import type { ContentBlock } from "../../../src/runtime/tool-result.ts";

export type { ContentBlock };

/** A JSON Schema of type object: draft 2020-12, or draft-07 with `$schema`. */
export type ObjectSchema = {
  type: "object";
  properties?: { [name: string]: object };
  required?: string[];
  [keyword: string]: unknown;
};

/** MCP's hints about a tool. Clients must not rely on them for safety. */
export type ToolAnnotations = {
  title?: string;
  /** Changes nothing. Default: false. */
  readOnlyHint?: boolean;
  /** May destroy something. Default: true; has no meaning if `readOnlyHint` is true. */
  destructiveHint?: boolean;
  /** Repeating the call with the same arguments has no further effect. Default: false. */
  idempotentHint?: boolean;
  /** Interacts with external systems. Default: true. */
  openWorldHint?: boolean;
};

/** A tool in the answer to `tools/list`. */
export type McpTool = {
  /** The name that clients and models see: 1 to 64 characters of `A-Za-z0-9_-`. */
  name: string;
  title?: string;
  description?: string;
  inputSchema: ObjectSchema;
  outputSchema?: ObjectSchema;
  annotations?: ToolAnnotations;
  _meta?: { [key: string]: unknown };
};

/** A message of a prompt. */
export type PromptMessage = { role: "user" | "assistant"; content: ContentBlock };
