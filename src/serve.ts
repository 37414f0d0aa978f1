export type { BuiltInDefinition } from "./config/session-config.ts";
export { type Problem, TrailblazeError } from "./problems/index.ts";
export type {
  HttpTransport,
  RunningServer,
  ServedSessionOptions,
  ServeOptions,
} from "./serve/serve-options.ts";
export { startServer } from "./serve/start-server.ts";
