/** A call of a tool that a server asked for while it was called itself. */
export interface CallbackCall {
  /** The invocation that the callback belongs to. */
  invocationId: string;
  /** Of the new call: one more than its invocation's. */
  depth: number;
  /** Hostile: any text. */
  toolName: string;
  /** Parsed, but not yet checked against a schema. No key in it is `__proto__`. */
  arguments: Record<string, unknown>;
  /** Aborts when nobody waits any longer: too late, the client gone, or the invocation, the server or the session over. */
  signal: AbortSignal;
}

/** What became of it. An unknown tool and arguments that break its schema are failures like any other. */
export type CallbackOutcome =
  | { success: true; text: string; structuredContent?: unknown }
  | { success: false; errorMessage: string; text?: string };
