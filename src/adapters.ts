export { mcpTransport, type SessionTransport } from "./adapters/mcp-transport.ts";
export {
  type AdaptedSession,
  type AdapterOptions,
  type AiSdkTool,
  type AnthropicToolResult,
  aiSdkTools,
  anthropicTools,
  type DescribedTool,
  type OpenAiPart,
  openAiTools,
  standardSchema,
} from "./adapters/model-tools.ts";
