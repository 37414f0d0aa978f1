import type { Cancellation } from "./abort-listeners.ts";

/** The key of the arguments that carries the legacy context (seed 000). Never advertised. */
export { reservedParameter as legacyContextKey } from "../json-schema/reserved-parameters.ts";

/** The session's memory, as a tool's handler sees it. Writes take effect when the call succeeds. */
export interface HandlerMemory {
  /** `undefined` for a key without a value, and for one that the pack may not see. */
  get(key: string): string | undefined;
  /** Sets a value; other tools see it after the call succeeds. */
  set(key: string, value: string): void;
  /** Removes a value; `false` if there was none. */
  delete(key: string): boolean;
}

/** The context as the host passes it on to a runner, which makes the handler's of it. */
export interface RunContext extends Omit<HandlerContext, "signal" | "callTool" | "memory"> {
  signal: Cancellation;
  /** Gets the arguments as JSON. */
  callTool(name: string, json: string): Promise<unknown>;
  memory?: RunMemory | undefined;
}

/** The memory without the writes of the call. */
export interface RunMemory {
  get(key: string): string | undefined;
  /** `undefined` deletes. */
  write(key: string, value: string | undefined): void;
  /** Everything that `get` can find, for a handler in another process. */
  snapshot(): Readonly<Record<string, string>>;
}

/** What a handler gets besides its arguments (CONTRACT 4). `input` and `state` are set if it runs again after it asked; the last four only in a session. */
export interface HandlerContext extends Partial<InputRound> {
  signal: AbortSignal;
  /** Sends JSON to the client's log, at a level of MCP. */
  log(level: string, data: unknown): void;
  /** Reports progress to the caller; `progress` and `total` have the same unit. */
  progress(progress: number, total?: number, message?: string): void;
  options: Readonly<Record<string, unknown>>;
  /** Calls another tool by its advertised or qualified name. Resolves with `isError: true` if that tool fails. */
  callTool(name: string, args?: Record<string, unknown>): Promise<unknown>;
  sessionId?: string;
  invocationId?: string;
  device?: unknown;
  memory?: HandlerMemory;
  /** Only for suggestions: the arguments that the client has already. */
  arguments?: Readonly<Record<string, string>>;
  /** Only for the watch of a resource, which runs until `signal` aborts, also if it returns before. */
  changed?(): void;
}

/** How often one call may ask. */
export const mostRounds = 8;

/** What a handler or a server asks the client's user, or the client, before it can answer. */
export type InputRequest =
  /** A form. `schema`: one flat object of strings, numbers, booleans and enums. */
  | { message: string; schema: Readonly<Record<string, unknown>> }
  /** A page for the user to visit. */
  | { message: string; url: string }
  /** A request of MCP. */
  | { method: "sampling/createMessage" | "roots/list"; params?: Readonly<Record<string, unknown>> };

/** By keys of the one who asks, which come back with the answers. */
export type InputRequests = Readonly<Record<string, InputRequest>>;

/** The user's answer; `content` only with `accept`, and for a request of MCP its result. */
export interface InputAnswer {
  action: "accept" | "decline" | "cancel";
  content?: Readonly<Record<string, unknown>>;
}

/** Answers by the keys of their requests. */
export type InputAnswers = Readonly<Record<string, InputAnswer>>;

/** What the second run of a call gets: the answers of one round, and the state that was given with the requests. */
export interface InputRound {
  input: InputAnswers;
  state?: unknown;
}

/** How a call ends that needs input. `state`: JSON that comes back with the answers. */
export interface InputRequired {
  requests: InputRequests;
  state?: unknown;
}
