import type { HandlerMemory as SessionMemory } from "../../../src/runtime/handler-context.ts";
import type { TrailblazeClient } from "./client.ts";
import type { TrailblazeContext, TrailblazeDevice } from "./context.ts";
import type { InputAnswers, NeededInput } from "./input.ts";
import type { PromptMessage } from "./mcp.ts";
import type { CallToolResult } from "./result.ts";

export type { SessionMemory };

/** Levels of log messages in MCP, from least to most severe. */
export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** What a handler gets besides its arguments. */
export interface HandlerContext {
  /** Aborts when the call is canceled or times out, or when the session closes. */
  readonly signal: AbortSignal;
  /** Sends a log message to the client. `data` must be JSON. */
  log(level: LogLevel, data: unknown): void;
  /** Reports progress. `progress` must increase with every message; `total` has the same unit. */
  progress(progress: number, total?: number, message?: string): Promise<void>;
  /** The tool's `options`: the user's values, otherwise the defaults. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Calls another tool by its advertised or qualified name. Resolves with `isError: true` if it fails or is unknown. */
  callTool(name: string, args: Record<string, unknown>): Promise<CallToolResult>;
  /**
   * Only when the handler runs again after `needInput`: the answers to the requests that it returned last, by their keys. A
   * request without an answer has no key.
   */
  readonly input?: InputAnswers;
  /** Only when the handler runs again after `needInput`: the `state` that it passed, if any. */
  // biome-ignore lint/suspicious/noExplicitAny: handlers know the state that they passed
  readonly state?: any;
  /** Only in a session. */
  readonly sessionId?: string;
  /** Only in a session: the id of this call. */
  readonly invocationId?: string;
  /** Only in a session: `null` if it has no device. */
  readonly device?: TrailblazeDevice | null;
  /** Only in a session. */
  readonly memory?: SessionMemory;
}

/** The context in handlers of `defineTool`, `definePrompt` and `run`: with a client for the session's other tools. */
export interface ToolContext extends HandlerContext {
  readonly client: TrailblazeClient;
}

/** Arguments of a tool's handler. In a session, they have the context as a non-enumerable property. */
export type ToolArguments<Args extends object = Record<string, unknown>> = Args & {
  readonly _trailblazeContext?: TrailblazeContext;
};

/**
 * The result of a tool's handler. A `CallToolResult` (an object with an array `content`) is sent as it is. A string
 * becomes text; another object becomes JSON text and `structuredContent`; an array, number, boolean or `null` becomes
 * JSON text; nothing becomes empty content. The value of `needInput` asks first.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler without a return statement has the type void
export type ToolHandlerResult = CallToolResult | object | string | number | boolean | null | undefined | void;

/**
 * The handler of a tool. `Args` is the type of valid arguments: the host validates them and fills in defaults before
 * the call. An error that the handler throws becomes a result with `isError: true` and its message.
 */
export type ToolHandler<Args extends object = Record<string, unknown>> = (
  args: ToolArguments<Args>,
  context: HandlerContext,
) => ToolHandlerResult | Promise<ToolHandlerResult>;

/** The handler of a prompt, whose arguments are strings. */
export type PromptHandler<Args extends object = Record<string, string>, Context = HandlerContext> = (
  args: Args,
  context: Context,
) => PromptHandlerResult | Promise<PromptHandlerResult>;

/** The text of one message of the user, an object with messages, or the value of `needInput`. */
export type PromptHandlerResult = string | { messages: PromptMessage[] } | NeededInput;
