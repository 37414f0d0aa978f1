// What is served, and to whom: what a start needs to know of MCP before the SDK is loaded.
import { randomBytes } from "node:crypto";
import type { Transport } from "@modelcontextprotocol/server";
import { failure } from "../problems/index.ts";
import type { Cancellation } from "../runtime/abort-listeners.ts";
import type { InputRequired, InputRound } from "../runtime/handler-context.ts";
import type { ReadAnswer } from "../runtime/pack-resource.ts";
import type { CallToolResult, PromptResult } from "../runtime/tool-result.ts";
import type { ServerCompletion, Suggestions } from "./client/server-calls.ts";
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

export interface ServedPrompt {
  /** Names of the required arguments. */
  required: readonly string[];
  get(
    args: Readonly<Record<string, string>>,
    ...use: Parameters<Use<PromptResult>>
  ): ReturnType<Use<PromptResult>>;
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
  /** The entries of a list. `showsApps`: of tools also those that are for the code of apps alone, which a client hides from models. */
  list(key: ListKey, showsApps?: boolean): readonly Listing[];
  /** What calls a tool by this name, listed or not. */
  findTool(name: string): CallTool | undefined;
  findPrompt(name: string): ServedPrompt | undefined;
  /** The reader of a URI: of a listed resource, of a template, or of a link in a result. */
  findResource(uri: string): Use<ReadAnswer> | undefined;
  /** Calls `changed` after each change of a URI, until the returned function is called. Missing if nothing can change. */
  subscribe?: ((uri: string, changed: (uri: string) => void) => () => void) | undefined;
  /** The values for an argument; `undefined` for a prompt or a template that does not exist. Missing if it suggests none. */
  complete?:
    | ((request: ServerCompletion, signal: AbortSignal) => Promise<Suggestions> | undefined)
    | undefined;
  /** Set if the lists can change, or are not complete yet. */
  changing?: ChangingLists | undefined;
  /** Whether results may link to what is in no list. */
  keepsResults?: boolean;
  /** Reports to the operator why a client got a general error. */
  report(message: string): void;
}

/** The MCP server of one connection. Each connection needs a new one, because it holds the client's `initialize`. */
export interface ProtocolServer {
  /** Connects to the transport; resolves when it listens. */
  connect(transport: Transport): Promise<void>;
  /** Aborts the open calls and closes the transport. Idempotent. */
  close(): Promise<void>;
}

/** Creates the server of a connection. `sessionId` is what tools see as `request.session.id`. */
export type CreateProtocolServer = (connection: { sessionId: string }) => ProtocolServer;

/** Answers requests of modern clients over HTTP, each on its own. */
export interface ModernHttpServer {
  /**
   * Answers a POST. `message` is its parsed body; the request has its headers. `over` aborts when the answer is sent or the client
   * has disconnected. Rejects after `close`.
   */
  answer(request: Request, message: unknown, over: AbortSignal): Promise<Response>;
  /** Aborts the open calls, and ends subscriptions with their result. Idempotent. */
  close(): Promise<void>;
}

/** Which clients are served: those of revisions up to 2025-11-25 (legacy), of later ones (modern), or both. */
export type ServedProtocol = "both" | "modern" | "legacy";

export const servedProtocols = ["both", "modern", "legacy"] as const satisfies readonly ServedProtocol[];

/** What clients are served: a legacy client's connection may have state of its own. */
export interface ServedClients {
  legacy(connection: { sessionId: string }): ServedServer;
  modern: ServedServer;
}

/** How many bytes a key has at least. */
const shortestKey = 32;

/**
 * The key in TRAILBLAZE_STATE_KEY, which replicas of a server share; otherwise a random one. Throws `InvalidArguments` if it
 * is too short.
 */
export function readStateKey({ TRAILBLAZE_STATE_KEY: key = "" }: NodeJS.ProcessEnv = process.env): Buffer {
  if (key === "") return randomBytes(shortestKey);
  const bytes = Buffer.from(key);
  if (bytes.length >= shortestKey) return bytes;
  const reason = `TRAILBLAZE_STATE_KEY has ${bytes.length} bytes, but it must have at least ${shortestKey}`;
  throw failure("InvalidArguments", { reason, hint: "Set it to a long random string, or unset it." });
}
