export type { AdaptedSession, AdapterOptions } from "./adapters/adapted-tools.ts";
export {
  type AiSdkOutput,
  type AiSdkPart,
  type AiSdkTool,
  aiSdkTools,
  standardSchema,
  type ToolSchema,
} from "./adapters/ai-sdk.ts";
export {
  type AnthropicPart,
  type AnthropicTool,
  type AnthropicToolResult,
  type AnthropicTools,
  type AnthropicToolUse,
  anthropicTools,
} from "./adapters/anthropic.ts";
export { mcpTransport, type SessionTransport } from "./adapters/mcp-transport.ts";
export {
  type OpenAiFunctionCall,
  type OpenAiFunctionOutput,
  type OpenAiPart,
  type OpenAiTool,
  type OpenAiTools,
  openAiTools,
} from "./adapters/open-ai.ts";
