// Types only: importing this entry costs nothing at run time.
export type {
  CallbackAction,
  CallbackRequest,
  CallbackResponse,
  CallbackResult,
  CallToolAction,
} from "./callback.ts";
export type { DevicePlatform, TrailblazeContext, TrailblazeDevice, TrailblazeMeta } from "./context.ts";
export type {
  ComposedServerDefinition,
  ModuleReference,
  OptionDefinition,
  ParameterDefinition,
  PromptArgumentDefinition,
  PromptDefinition,
  ServerDefinition,
  ServerDocument,
  SubprocessServerDefinition,
  ToolDefinition,
  ToolsBundle,
  ToolsBundleCatch,
  ToolsBundleEntry,
  ToolsetDefinition,
} from "./definitions.ts";
export type {
  HandlerContext,
  LogLevel,
  PromptHandler,
  PromptHandlerResult,
  SessionMemory,
  ToolArguments,
  ToolHandler,
  ToolHandlerResult,
} from "./handlers.ts";
export type { ContentBlock, McpTool, ObjectSchema, PromptMessage, ToolAnnotations } from "./mcp.ts";
export type {
  CallToolResult,
  TrailblazeErrorVariant,
  TrailblazeResultMeta,
  TrailblazeVariant,
} from "./results.ts";
export type { TrailblazeTool, TrailblazeToolMeta } from "./tool-meta.ts";
