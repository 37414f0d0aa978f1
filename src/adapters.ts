export { mcpTransport, type SessionTransport } from "./adapters/mcp-transport.ts";
export {
  type AdaptedSession,
  type AdapterOptions,
  type AiSdkTool,
  type AnthropicPart,
  type AnthropicTool,
  type AnthropicToolResult,
  aiSdkTools,
  anthropicTools,
  type OpenAiPart,
  type OpenAiTool,
  openAiTools,
  standardSchema,
} from "./adapters/model-tools.ts";
