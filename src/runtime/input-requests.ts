/** How often one call may ask. */
export const mostRounds = 8;

/** What a handler or a server asks the client's user, or the client, before it can answer. */
export type InputRequest =
  /** A form. `schema`: one flat object of strings, numbers, booleans and enums. */
  | { message: string; schema: Readonly<Record<string, unknown>> }
  /** A page for the user to visit. */
  | { message: string; url: string }
  /** A request of MCP. */
  | { method: "sampling/createMessage" | "roots/list"; params: Readonly<Record<string, unknown>> };

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
