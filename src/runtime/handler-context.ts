/** The key of the arguments that carries the legacy context (seed 000). Never advertised. */
export { reservedParameter as legacyContextKey } from "../json-schema/reserved-parameters.ts";

/** The session's memory, as a tool's handler sees it. Writes take effect when the call succeeds. */
export interface HandlerMemory {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
  delete(key: string): boolean;
  /** Everything that `get` can find, for a handler in another process. Handlers do not see it. */
  snapshot?(): Readonly<Record<string, string>>;
}

/** What a handler gets besides its arguments (CONTRACT 4). The last four are set only in a session. */
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
