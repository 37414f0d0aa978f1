// Has no dependencies at run time: only `run` loads the MCP SDK.
export { CallbackError } from "./call-back.ts";
export type {
  CallbackAction,
  CallbackRequest,
  CallbackResponse,
  CallbackResult,
  CallToolAction,
} from "./callback.ts";
export type {
  InstalledTools,
  TrailblazeClient,
  TypedCall,
  TypedResult,
  TypedTools,
} from "./client.ts";
export { OutsideSessionError } from "./client.ts";
export { type ClientOptions, clientFrom } from "./client-from.ts";
export type { DevicePlatform, TrailblazeContext, TrailblazeDevice, TrailblazeMeta } from "./context.ts";
export { contextFrom, type RequestExtra, type TrailblazeCall } from "./context-from.ts";
export {
  type ArgumentsOfTool,
  type DefinedTool,
  definePrompt,
  defineResource,
  defineServer,
  defineTool,
  defineToolset,
  type InputSchema,
  type PromptSource,
  type ToolSource,
} from "./define.ts";
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
  ToolContext,
  ToolHandler,
  ToolHandlerResult,
} from "./handlers.ts";
export type {
  FormProperty,
  FormSchema,
  InputAnswer,
  InputAnswers,
  InputRequest,
  InputRequests,
  NeededInput,
} from "./input.ts";
export type { ContentBlock, McpTool, ObjectSchema, PromptMessage, ToolAnnotations } from "./mcp.ts";
export type {
  CompleteContext,
  CompleteFunction,
  CompletionSource,
  FixedResourceDefinition,
  ResourceAnnotations,
  ResourceArguments,
  ResourceContents,
  ResourceDefinition,
  ResourceHandler,
  ResourceHandlerResult,
  ResourceTemplateDefinition,
  TemplateVariables,
  WatchContext,
  WatchFunction,
} from "./resources.ts";
export type {
  CallToolResult,
  TrailblazeErrorVariant,
  TrailblazeResultMeta,
  TrailblazeVariant,
} from "./results.ts";
export { run } from "./run/run.ts";
export type { ServerOfTools } from "./run/serve-tools.ts";
export type { StandardSchema } from "./standard-schema.ts";
export type { TrailblazeTool, TrailblazeToolMeta } from "./tool-meta.ts";
