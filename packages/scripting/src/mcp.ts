// The few shapes of the Model Context Protocol that packs meet, as revision 2025-11-25 has them. They are type
// aliases, not interfaces, and their lists are mutable, so that they fit wherever an MCP SDK asks for its own types.

/** A JSON Schema of type object: draft 2020-12, or draft-07 where `$schema` says so. */
export type ObjectSchema = {
  type: "object";
  properties?: { [name: string]: object };
  required?: string[];
  [keyword: string]: unknown;
};

/** MCP's own hints on a tool. Hints: no client may rely on them for its safety. */
export type ToolAnnotations = {
  title?: string;
  /** Changes nothing. Default: false. */
  readOnlyHint?: boolean;
  /** May destroy something. Default: true; means nothing where `readOnlyHint` is true. */
  destructiveHint?: boolean;
  /** Calling it again with the same arguments changes nothing more. Default: false. */
  idempotentHint?: boolean;
  /** Reaches out to systems beyond its own. Default: true. */
  openWorldHint?: boolean;
};

/** A tool as `tools/list` answers it. */
export type McpTool = {
  /** What clients and models see: 1 to 64 of `A-Za-z0-9_-`. */
  name: string;
  title?: string;
  description?: string;
  inputSchema: ObjectSchema;
  outputSchema?: ObjectSchema;
  annotations?: ToolAnnotations;
  _meta?: { [key: string]: unknown };
};

/** One block of what a tool or a prompt says. */
export type ContentBlock =
  | { type: "text"; text: string; _meta?: { [key: string]: unknown } }
  /** `data` is base64. */
  | { type: "image"; data: string; mimeType: string; _meta?: { [key: string]: unknown } }
  /** `data` is base64. */
  | { type: "audio"; data: string; mimeType: string; _meta?: { [key: string]: unknown } }
  | {
      type: "resource_link";
      uri: string;
      name: string;
      title?: string;
      description?: string;
      mimeType?: string;
      _meta?: { [key: string]: unknown };
    }
  | {
      type: "resource";
      resource:
        | { uri: string; mimeType?: string; text: string; _meta?: { [key: string]: unknown } }
        /** `blob` is base64. */
        | { uri: string; mimeType?: string; blob: string; _meta?: { [key: string]: unknown } };
      _meta?: { [key: string]: unknown };
    };

/** A message of a prompt. */
export type PromptMessage = { role: "user" | "assistant"; content: ContentBlock };
