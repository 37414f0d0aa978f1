import type { Cancellation } from "../runtime/abort-listeners.ts";
import type { InputRequired, InputRound } from "../runtime/handler-context.ts";
import type { ReadAnswer } from "../runtime/pack-resource.ts";
import type { CallToolResult } from "../runtime/tool-result.ts";
import type { Suggestions } from "./client/connected-server.ts";
import type { ListKey } from "./client/server-lists.ts";
import type { Questions } from "./questions.ts";

/** One request of a client, without the keys that only hosts may set, and what it can be sent before the answer. */
export interface ServedRequest {
  /** `_meta` of the request, without `trailblaze`. */
  meta: Record<string, unknown>;
  /** The connection as tools see it; `id` is `null` for a modern client, which has no session. */
  session: { id: string | null; clientInfo: unknown; capabilities: unknown };
  signal: Cancellation;
  log(level: string, data: unknown): void;
  progress(progress: number, total?: number, message?: string): void;
  /** Asks the client. */
  questions: Questions;
}

/** Answers a request, or asks; `round` is set if it asked before. What it throws is the answer's message. */
type Use<Answer> = (
  request: ServedRequest,
  round: InputRound | undefined,
) => Promise<Answer | { inputRequired: InputRequired }>;

export type CallTool = (
  args: Record<string, unknown>,
  ...use: Parameters<Use<CallToolResult>>
) => ReturnType<Use<CallToolResult>>;

/** A message of a prompt: who says it, and a block of MCP content. */
export interface PromptMessage {
  role: "user" | "assistant";
  content: { type: string } & Record<string, unknown>;
}

/** How a request for a prompt ends. */
export type PromptAnswer =
  | { messages: PromptMessage[]; description?: string }
  | { inputRequired: InputRequired };

export interface ServedPrompt {
  /** Names of the required arguments. */
  required: readonly string[];
  get(
    args: Readonly<Record<string, string>>,
    request: ServedRequest,
    round: InputRound | undefined,
  ): Promise<PromptAnswer>;
}

/** One `completion/complete` of a client. */
export interface CompletionRequest {
  kind: "prompt" | "resource";
  /** The name of a prompt, or a URI template. */
  name: string;
  argument: string;
  value: string;
  /** The arguments that the client has already. */
  arguments: Readonly<Record<string, string>>;
}

/** Which lists of a server have changed. */
export interface ListChange {
  tools: boolean;
  prompts: boolean;
  resources?: boolean;
}

/** A server whose lists can change while it is served. */
export interface ChangingLists {
  /** Resolves when the first lists are complete. Rejects if there will be none. */
  ready(): Promise<unknown>;
  /** Calls back after each change, until the returned function is called. */
  onChange(listener: (change: ListChange) => void): () => void;
}

/** An entry of a list. */
export type Listing = Readonly<Record<string, unknown>>;

/** What a server offers, over any transport. */
export interface ServedServer {
  info: { name: string; version: string };
  readonly instructions: string | undefined;
  /** The entries of a list; one that has changed is another array. */
  list(key: ListKey): readonly Listing[];
  /** What calls a tool by this name, listed or not. */
  findTool(name: string): CallTool | undefined;
  findPrompt(name: string): ServedPrompt | undefined;
  /** The reader of a URI: of a listed resource, of a template, or of a link in a result. */
  findResource(uri: string): Use<ReadAnswer> | undefined;
  /** Calls `changed` after each change of a URI, until the returned function is called. Missing if nothing can change. */
  subscribe?: ((uri: string, changed: () => void) => () => void) | undefined;
  /** The values for an argument; `undefined` for a prompt or a template that does not exist. Missing if it suggests none. */
  complete?:
    | ((request: CompletionRequest, signal: AbortSignal) => Promise<Suggestions> | undefined)
    | undefined;
  /** Set if the lists can change, or are not complete yet. */
  changing?: ChangingLists | undefined;
  /** Reports to the operator why a client got a general error. */
  report(message: string): void;
}
