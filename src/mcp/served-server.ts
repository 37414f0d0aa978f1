import type { Cancellation } from "../runtime/abort-listeners.ts";
import type { InputRequired, InputRound } from "../runtime/input-requests.ts";
import type { ReadAnswer } from "../runtime/resource-contents.ts";
import type { CallToolResult } from "../runtime/tool-result.ts";
import type { Suggestions } from "./client/connected-server.ts";
import type { Questions } from "./questions.ts";

/** The connection of a request, as tools see it. */
export interface RequestSession {
  /** `null` for a modern client, which has no session. */
  id: string | null;
  clientInfo: unknown;
  capabilities: unknown;
}

/** One `tools/call` of a client, without the keys that only hosts may set. `input` is set if the call asked before. */
export interface ToolRequest extends Partial<InputRound> {
  /** The name in the call. */
  name: string;
  arguments: Record<string, unknown>;
  /** `_meta` of the request, without `trailblaze`. */
  meta: Record<string, unknown>;
  session: RequestSession;
}

/** What a call can send before its answer. */
export interface CallChannel {
  signal: Cancellation;
  log(level: string, data: unknown): void;
  progress(progress: number, total?: number, message?: string): void;
  /** 0 for a client's call, one more for each nested call. */
  depth: number;
  /** Asks the client. */
  questions: Questions;
}

/** How a call ends: with a result, with questions, after whose answers it is made again, or with a JSON-RPC error. */
export type CallAnswer =
  | { result: CallToolResult }
  | { inputRequired: InputRequired }
  | { error: { code: number; message: string; data?: unknown } };

/** A tool as clients see it, and its implementation. */
export interface ServedTool {
  /** Unique in its server. */
  name: string;
  /** `null` for an entry of a bundle. */
  qualifiedName: string | null;
  /** Its entry in `tools/list`. */
  listing: Readonly<Record<string, unknown>>;
  call(request: ToolRequest, channel: CallChannel): Promise<CallAnswer>;
}

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
  /** Unique in its server. */
  name: string;
  listing: Readonly<Record<string, unknown>>;
  /** Names of the required arguments. */
  required: readonly string[];
  /** `round` is set if it asked before. */
  get(
    args: Readonly<Record<string, string>>,
    channel: CallChannel,
    round?: InputRound,
  ): Promise<PromptAnswer>;
}

/** One `resources/read` of a client, without the keys that only hosts may set. */
export interface ReadRequest extends Partial<InputRound> {
  uri: string;
  /** `_meta` of the request, without `trailblaze`. */
  meta: Readonly<Record<string, unknown>>;
  session: RequestSession;
}

/** Reads one URI. What it throws is the answer's message. */
export type ReadResource = (
  request: ReadRequest,
  channel: CallChannel,
) => Promise<ReadAnswer | { inputRequired: InputRequired }>;

/** The resources of a server. */
export interface ServedResources {
  /** The entries of `resources/list`, each with a `uri` of its own. A list that has changed is another array. */
  readonly listed: readonly Readonly<Record<string, unknown>>[];
  /** The entries of `resources/templates/list`. */
  readonly templates: readonly Readonly<Record<string, unknown>>[];
  /** The reader of a URI: of a listed resource, of a template, or of a link in a result. */
  find(uri: string): ReadResource | undefined;
  /** Calls `changed` after each change of a URI, until the returned function is called. Missing if nothing can change. */
  subscribe?: ((uri: string, changed: () => void) => () => void) | undefined;
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
  /** A tool that clients may call although its name is not in the list. */
  findUnlisted(name: string): ServedTool | undefined;
}

/** What a server offers, over any transport. */
export interface ServedServer {
  info: { name: string; version: string };
  readonly instructions: string | undefined;
  /** A list that has changed is another array. */
  readonly tools: readonly ServedTool[];
  readonly prompts: readonly ServedPrompt[];
  readonly resources?: ServedResources | undefined;
  /** The values for an argument; `undefined` for a prompt or a template that does not exist. Missing if it suggests none. */
  complete?:
    | ((request: CompletionRequest, signal: AbortSignal) => Promise<Suggestions> | undefined)
    | undefined;
  /** Set if the lists can change, or are not complete yet. */
  changing?: ChangingLists;
  /** Reports to the operator why a client got a general error. */
  report(message: string): void;
}
