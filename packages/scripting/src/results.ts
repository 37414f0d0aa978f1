import type { ContentBlock } from "./mcp.ts";

/** How a call of a tool ended, as the host reports it. */
export type TrailblazeVariant =
  | "Success"
  /** The tool or its transport failed. Also any error with an unknown variant. */
  | "ExceptionThrown"
  /** Arguments are missing; `missing` names them. */
  | "MissingRequiredArgs"
  /** The tool refused the request. */
  | "MaestroValidationError"
  /** No further call can succeed: a run of several steps stops. */
  | "FatalError"
  /** Not a failure: the tool asks for input before it can answer. */
  | "InputRequired";

/** The variants that a failing tool can report. */
export type TrailblazeErrorVariant = Exclude<TrailblazeVariant, "Success" | "InputRequired">;

/**
 * `_meta.trailblaze` of a result: data for the host besides the content. Other MCP clients ignore it. Further keys
 * become the `details` of the call.
 */
export type TrailblazeResultMeta = {
  /** Used if `isError` is true. An unknown value counts as `ExceptionThrown`. */
  variant?: TrailblazeErrorVariant;
  /** Names of the missing arguments, with the variant `MissingRequiredArgs`. */
  missing?: string[];
  /** Session memory to set. Applied only if the call succeeded. */
  memoryDelta?: { [name: string]: string };
  /** Session memory to delete. Applied only if the call succeeded. */
  memoryDeletions?: string[];
  [detail: string]: unknown;
};

/** The result of a tool call: MCP's own, with typed `_meta.trailblaze`. */
export type CallToolResult = {
  content: ContentBlock[];
  /** Any JSON. Must match the tool's `outputSchema`, if it has one. Clients of older revisions get only an object. */
  // biome-ignore lint/suspicious/noExplicitAny: callers know the tool's `outputSchema`, and MCP's SDKs have other types
  structuredContent?: any;
  /** True if the tool failed. The first text block is then the error message. Default: false. */
  isError?: boolean;
  _meta?: { trailblaze?: TrailblazeResultMeta; [key: string]: unknown };
};
