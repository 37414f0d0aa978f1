import type { TrailblazeClient } from "./client.ts";
import type { TrailblazeContext, TrailblazeDevice } from "./context.ts";
import type { PromptMessage } from "./mcp.ts";
import type { CallToolResult } from "./results.ts";

/** Levels of log messages in MCP, from least to most severe. */
export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** The memory of a session, as a handler sees it. What a handler writes counts if its call succeeds. */
export interface SessionMemory {
  /** `undefined` where nothing is kept under that name, or the user keeps it from the pack. */
  get(name: string): unknown;
  set(name: string, value: string): void;
  delete(name: string): void;
}

/** What a handler is given besides its arguments. */
export interface HandlerContext {
  /** Aborts when the caller gives up: the call was cancelled, took too long, or the session closed. */
  readonly signal: AbortSignal;
  /** Sends a log message to the client. `data` is anything that is JSON. */
  log(level: LogLevel, data: unknown): void;
  /** Tells how far the call is. `progress` grows with every message; `total` has the same unit. */
  progress(progress: number, total?: number, message?: string): Promise<void>;
  /** The tool's `options`: the user's values, else the defaults. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Calls another tool by its advertised or qualified name. A tool that fails answers with `isError: true`. */
  callTool(name: string, args: Record<string, unknown>): Promise<CallToolResult>;
  /** Only in a session. */
  readonly sessionId?: string;
  /** Only in a session: of this one call. */
  readonly invocationId?: string;
  /** Only in a session: `null` in one without a device. */
  readonly device?: TrailblazeDevice | null;
  /** Only in a session. */
  readonly memory?: SessionMemory;
}

/** What `defineTool`, `definePrompt` and `run` give besides: a client for the session's other tools. */
export interface ToolContext extends HandlerContext {
  readonly client: TrailblazeClient;
}

/** Arguments as a tool's handler gets them: in a session with the context, which is not enumerable there. */
export type ToolArguments<Args extends object = Record<string, unknown>> = Args & {
  readonly _trailblazeContext?: TrailblazeContext;
};

/**
 * What a tool's handler may return. A `CallToolResult` (an object with a list `content`) is sent as it is; a string
 * becomes text; another object JSON text and `structuredContent`; a list, number, boolean or `null` JSON text; nothing
 * an empty content.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler without a return statement has the type void
export type ToolHandlerResult = CallToolResult | object | string | number | boolean | null | undefined | void;

/**
 * The function behind a tool. `Args` is what its `inputSchema` admits: the host checks arguments, and fills in
 * defaults, before it calls. What the handler throws becomes a result with `isError: true` and the error's message.
 */
export type ToolHandler<Args extends object = Record<string, unknown>> = (
  args: ToolArguments<Args>,
  context: HandlerContext,
) => ToolHandlerResult | Promise<ToolHandlerResult>;

/** The function behind a prompt. Arguments of prompts are texts. */
export type PromptHandler<Args extends object = Record<string, string>> = (
  args: Args,
  context: HandlerContext,
) => PromptHandlerResult | Promise<PromptHandlerResult>;

/** The text of one message of the user, or the messages themselves. */
export type PromptHandlerResult = string | { messages: PromptMessage[] };
