import type { ContentBlock } from "./mcp.ts";

/** How a call of a tool ended, as the host tells it. */
export type TrailblazeVariant =
  | "Success"
  /** The tool, or what carries its messages, failed. Any error that names no other variant. */
  | "ExceptionThrown"
  /** Arguments are missing; `missing` names them. */
  | "MissingRequiredArgs"
  /** The call was understood and refused. */
  | "MaestroValidationError"
  /** Nothing after this call can succeed: a run of several steps stops. */
  | "FatalError";

/** The variants a failing tool can name. */
export type TrailblazeErrorVariant = Exclude<TrailblazeVariant, "Success">;

/**
 * `_meta.trailblaze` of a result: what a tool tells the host besides its content. Other MCP clients ignore it. Keys
 * that are not named here become the `details` of the call.
 */
export type TrailblazeResultMeta = {
  /** Read where `isError` is true. A name the host does not know counts as `ExceptionThrown`. */
  variant?: TrailblazeErrorVariant;
  /** Names of the missing arguments, with the variant `MissingRequiredArgs`. */
  missing?: string[];
  /** Session memory to set. Applied only if the call succeeded. */
  memoryDelta?: { [name: string]: string };
  /** Session memory to delete. Applied only if the call succeeded. */
  memoryDeletions?: string[];
  [detail: string]: unknown;
};

/** What a call of a tool answers: MCP's own shape, with `_meta.trailblaze` typed. */
export type CallToolResult = {
  content: ContentBlock[];
  /** Must fit the tool's `outputSchema`, where it has one. */
  structuredContent?: { [key: string]: unknown };
  /** True if the tool failed. The first text block is then the message. Default: false. */
  isError?: boolean;
  _meta?: { trailblaze?: TrailblazeResultMeta; [key: string]: unknown };
};
