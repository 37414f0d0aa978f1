export type { AdaptedSession, AdapterOptions, DeferOptions } from "./adapters/adapted-tools.ts";
export { type AiSdkOutput, type AiSdkPart, type AiSdkTool, aiSdkTools } from "./adapters/ai-sdk.ts";
export {
  type AnthropicPart,
  type AnthropicTool,
  type AnthropicToolResult,
  type AnthropicToolSearch,
  type AnthropicTools,
  type AnthropicToolUse,
  anthropicTools,
} from "./adapters/anthropic.ts";
export { mcpTransport, type SessionTransport } from "./adapters/mcp-transport.ts";
export {
  type OpenAiChatCall,
  type OpenAiChatTool,
  type OpenAiFunctionCall,
  type OpenAiFunctionOutput,
  type OpenAiPart,
  type OpenAiTool,
  type OpenAiToolMessage,
  type OpenAiToolSearch,
  type OpenAiTools,
  openAiTools,
} from "./adapters/open-ai.ts";
export { standardSchema, type ToolSchema } from "./adapters/standard-schema.ts";
