// Small, because definition files load it: what `run` needs, the MCP SDK too, is loaded when it is called.
export { CallbackError } from "./call-back.ts";
export {
  type ClientOptions,
  clientFrom,
  type InstalledTools,
  OutsideSessionError,
  type TrailblazeClient,
  type TypedCall,
  type TypedResult,
  type TypedTools,
} from "./client.ts";
export {
  contextFrom,
  type DevicePlatform,
  type RequestExtra,
  type TrailblazeCall,
  type TrailblazeContext,
  type TrailblazeDevice,
  type TrailblazeMeta,
} from "./context.ts";
export * from "./define.ts";
export type * from "./definitions.ts";
export type * from "./handlers.ts";
export type * from "./input.ts";
export type * from "./mcp.ts";
export type * from "./resources.ts";
export type {
  CallToolResult,
  TrailblazeErrorVariant,
  TrailblazeResultMeta,
  TrailblazeVariant,
} from "./result.ts";
export type { ServerOfTools } from "./run.ts";
export { run } from "./run.ts";
export type { StandardSchema } from "./standard-schema.ts";
export type { TrailblazeTool, TrailblazeToolMeta } from "./tool-meta.ts";
