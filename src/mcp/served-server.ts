import type { CallToolResult } from "../runtime/tool-result.ts";

/** What a request tells a tool about its connection. */
export interface RequestSession {
  id: string;
  clientInfo: unknown;
  capabilities: unknown;
}

/** One `tools/call` of a client, after what only hosts may say was taken out. */
export interface ToolRequest {
  /** The name it was called by. */
  name: string;
  arguments: Record<string, unknown>;
  /** `_meta` of the request, without `trailblaze`. */
  meta: Record<string, unknown>;
  session: RequestSession;
}

/** What a call may do besides answering. */
export interface CallChannel {
  signal: AbortSignal;
  log(level: string, data: unknown): void;
  progress(progress: number, total?: number, message?: string): void;
  /** 0 for a client's call, one more for each call inside another. */
  depth: number;
}

/** How a call ends: with a result, or with an error of the protocol. */
export type CallAnswer =
  | { result: CallToolResult }
  | { error: { code: number; message: string; data?: unknown } };

/** A tool as clients see it, and what carries it out. */
export interface ServedTool {
  /** Unique in its server. */
  name: string;
  /** `null` for an entry of a bundle. */
  qualifiedName: string | null;
  /** What `tools/list` says of it. */
  listing: Readonly<Record<string, unknown>>;
  call(request: ToolRequest, channel: CallChannel): Promise<CallAnswer>;
}

export interface PromptMessage {
  role: "user" | "assistant";
  content: { type: string } & Record<string, unknown>;
}

export interface ServedPrompt {
  /** Unique in its server. */
  name: string;
  listing: Readonly<Record<string, unknown>>;
  /** Names of the arguments that must be given. */
  required: readonly string[];
  get(
    args: Readonly<Record<string, string>>,
    channel: CallChannel,
  ): Promise<{ messages: PromptMessage[]; description?: string }>;
}

/** What a server offers, whatever carries its messages. */
export interface ServedServer {
  info: { name: string; version: string };
  instructions: string | undefined;
  tools: readonly ServedTool[];
  prompts: readonly ServedPrompt[];
  /** Told, for whoever runs the server, why a client got an error that says nothing. */
  report(message: string): void;
}
