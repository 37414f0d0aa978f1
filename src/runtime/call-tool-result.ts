/** A block of MCP content; `type` says which. */
export type ContentBlock = { type: string } & Record<string, unknown>;

/** MCP's answer to `tools/call`, as it goes over the wire. */
export interface CallToolResult {
  content: ContentBlock[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}
