import { isIPv6 } from "node:net";
import { methodOf, requestIdOf, rpcCode } from "../client-message.ts";
import { findParamsFault } from "../request-params.ts";
import { isLoopback } from "./allowed-hosts.ts";
import { noSession, refusal } from "./answers.ts";
import type { Answer, RequestHead, StreamedAnswer } from "./http-answers.ts";
import type { HttpSettings } from "./http-options.ts";
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

type SessionLimits = Pick<HttpSettings, "maxSessions" | "replaceableAfterMs" | "token" | "clock">;

/** The share of all sessions that one client address may keep. */
const safeShare = 0.1;

/**
 * Sessions by their ids. A session starts with `initialize`, and ends with DELETE, by being idle, or with the server.
 *
 * At the limit, new sessions are refused. Without a token, one client could thus block all others, so a new session may
 * then replace an idle one that was never used, or whose address has more than a tenth of all sessions and more than
 * the new one's.
 */
export class HttpSessions implements RequestRouter {
  readonly #limits: SessionLimits;
  readonly #open: (onEnd: (session: HttpSession) => void) => HttpSession;
  readonly #sessions = new Map<string, HttpSession>();
  /** With their clients' addresses, including sessions that are not initialized yet. */
  readonly #all = new Map<HttpSession, string>();
  #isClosed = false;

  /** `open` creates the session that a client starts. */
  constructor(limits: SessionLimits, open: (onEnd: (session: HttpSession) => void) => HttpSession) {
    this.#limits = limits;
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
    await Promise.all([...this.#all.keys()].map((session) => session.end()));
  }

  /** Makes room for a session of that client if possible, by ending another session if necessary. */
  #makeRoom(client: string): boolean {
    const { maxSessions, replaceableAfterMs, token, clock } = this.#limits;
    if (this.#isClosed) return false;
    if (this.#all.size < maxSessions) return true;
    if (token !== undefined) return false;
    const counts = new Map<string, number>();
    for (const owner of this.#all.values()) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    const countOf = (owner: string) => counts.get(owner) ?? 0;
    const most = Math.max(maxSessions * safeShare, countOf(client) + 1);
    const latest = clock.now() - replaceableAfterMs;
    const replaceable = [...this.#all].flatMap(([session, owner]) => {
      const { idleSince = Number.POSITIVE_INFINITY, isUsed } = session;
      const mayEnd = idleSince <= latest && (!isUsed || countOf(owner) > most);
      return mayEnd ? [{ session, idleSince, isUsed, count: countOf(owner) }] : [];
    });
    replaceable.sort(
      (one, other) =>
        Number(one.isUsed) - Number(other.isUsed) ||
        other.count - one.count ||
        one.idleSince - other.idleSince,
    );
    void replaceable[0]?.session.end();
    return replaceable.length > 0;
  }

  async #begin(head: RequestHead, message: unknown, signal: AbortSignal): Promise<Answer | StreamedAnswer> {
    if (!asksToInitialize(message)) return refusal(400, "The Mcp-Session-Id header is missing.");
    const fault = findParamsFault("initialize", (message as { params?: unknown }).params);
    if (fault !== undefined) {
      return refusal(400, fault, { code: rpcCode.params, id: requestIdOf(message) });
    }
    const client = clientOf(head.address);
    if (!this.#makeRoom(client)) {
      return refusal(503, "Too many sessions. Try again later.", {
        headers: { "retry-after": "60" },
      });
    }
    const session = this.#open((ended) => {
      this.#all.delete(ended);
      this.#sessions.delete(ended.id);
    });
    this.#all.set(session, client);
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

/** The first four of the eight groups of an IPv6 address: the network of one customer. */
function networkOf(address: string): string {
  const [before = "", after] = address.split("%", 1)[0]?.split("::") ?? [];
  const groups = before === "" ? [] : before.split(":");
  const rest = after === undefined || after === "" ? [] : after.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - rest.length) }, () => "0");
  return [...groups, ...zeros, ...rest].slice(0, 4).join(":");
}

/** Identifies a client by its IP address. All of loopback counts as one client, as does an IPv6 network. */
export function clientOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  if (isLoopback(plain)) return "loopback";
  return isIPv6(plain) ? networkOf(plain) : plain;
}
