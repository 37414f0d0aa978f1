export { mcpTransport, type SessionTransport } from "./adapters/mcp-transport.ts";
export {
  type AdaptedSession,
  type AdapterOptions,
  type AiSdkTool,
  type AnthropicPart,
  aiSdkTools,
  anthropicTools,
  type OpenAiPart,
  openAiTools,
  standardSchema,
  type ToolSchema,
} from "./adapters/model-tools.ts";
