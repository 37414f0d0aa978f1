import { methodOf, requestIdOf } from "../client-message.ts";
import { RpcError } from "../rpc-error.ts";
import { noSession, refusal } from "./answers.ts";
import type { Answer, RequestHead, StreamedAnswer } from "./http-answers.ts";
import type { HttpSession } from "./http-session.ts";

export interface Request {
  readonly head: RequestHead;
  /** The parsed JSON; `undefined` for a method without a body. */
  readonly message: unknown;
  readonly signal: AbortSignal;
}

/** Finds the server for a request. */
export interface RequestRouter {
  /** Refuses a request before its body is read. */
  admit(head: RequestHead): Answer | undefined;
  handle(request: Request): Promise<Answer | StreamedAnswer>;
  /** Ends all sessions. Never rejects. */
  close(): Promise<void>;
}

const idIn = (head: RequestHead): string | undefined =>
  head.headerValues("mcp-session-id").join(", ") || undefined;

const asksToInitialize = (message: unknown): boolean =>
  methodOf(message) === "initialize" && requestIdOf(message) !== undefined;

/** Sessions by their ids. A session starts with `initialize`, and ends with DELETE, by being idle, or with the server. */
export class HttpSessions implements RequestRouter {
  readonly #maxSessions: number;
  readonly #open: (onEnd: (session: HttpSession) => void) => HttpSession;
  readonly #sessions = new Map<string, HttpSession>();
  /** Including sessions that are not initialized yet. */
  readonly #all = new Set<HttpSession>();
  #isClosed = false;

  /** `open` creates the session that a client starts. */
  constructor(
    { maxSessions }: { maxSessions: number },
    open: (onEnd: (session: HttpSession) => void) => HttpSession,
  ) {
    this.#maxSessions = maxSessions;
    this.#open = open;
  }

  admit(head: RequestHead): Answer | undefined {
    const id = idIn(head);
    if (id !== undefined) return this.#sessions.has(id) ? undefined : noSession();
    return head.method === "POST" ? undefined : refusal(400, "The Mcp-Session-Id header is missing.");
  }

  async handle({ head, message, signal }: Request): Promise<Answer | StreamedAnswer> {
    const id = idIn(head);
    if (id === undefined) return this.#begin(head, message, signal);
    const session = this.#sessions.get(id);
    if (session === undefined) return noSession();
    const answer = await session.handle(head, message, signal);
    if (head.method === "DELETE" && answer.status === 200) await session.end();
    return answer;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#all].map((session) => session.end()));
  }

  async #begin(head: RequestHead, message: unknown, signal: AbortSignal): Promise<Answer | StreamedAnswer> {
    if (!asksToInitialize(message)) return refusal(400, "The Mcp-Session-Id header is missing.");
    // The SDK's transport takes an invalid one for another request.
    const { checkParams } = await import("../mcp-server.ts");
    try {
      checkParams("initialize", (message as { params?: unknown }).params);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return refusal(400, error.message, { code: error.code, id: requestIdOf(message) });
    }
    if (this.#isClosed || this.#all.size >= this.#maxSessions) {
      return refusal(503, "Too many sessions. Try again later.", {
        headers: { "retry-after": "60" },
      });
    }
    const session = this.#open((ended) => {
      this.#all.delete(ended);
      this.#sessions.delete(ended.id);
    });
    this.#all.add(session);
    try {
      await session.connect();
      const answering = session.handle(head, message, signal);
      // Before the answer is sent: the next request may follow immediately.
      this.#sessions.set(session.id, session);
      const answer = await answering;
      if (!session.isInitialized) await session.end();
      return answer;
    } catch (error) {
      await session.end();
      throw error;
    }
  }
}
