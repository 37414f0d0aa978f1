export { mcpTransport, type SessionTransport } from "./adapters/mcp-transport.ts";
export {
  type AdaptedSession,
  type AdapterOptions,
  aiSdkTools,
  anthropicTools,
  openAiTools,
  standardSchema,
} from "./adapters/model-tools.ts";
