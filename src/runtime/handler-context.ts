/** The key of the arguments that carries the context of seed 000. Never advertised. */
export { reservedParameter as legacyContextKey } from "../json-schema/reserved-parameters.ts";

/** What a tool's handler sees of the session's memory. Writes count when the call succeeds. */
export interface HandlerMemory {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
  delete(key: string): boolean;
  /** Everything that `get` would find. For a handler in another process; handlers do not see it. */
  snapshot?(): Readonly<Record<string, string>>;
}

/** What a handler is called with beside its arguments (CONTRACT 4). The last four only in a session. */
export interface HandlerContext {
  signal: AbortSignal;
  log(level: string, data: unknown): void;
  progress(progress: number, total?: number, message?: string): void;
  options: Readonly<Record<string, unknown>>;
  callTool(name: string, args?: Record<string, unknown>): Promise<unknown>;
  sessionId?: string;
  invocationId?: string;
  device?: unknown;
  memory?: HandlerMemory;
}
