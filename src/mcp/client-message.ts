import { parseExactly } from "../data/exact-integers.ts";
import { decodeUtf8, findExcessiveDepth } from "../data/parse-json.ts";

export type RequestId = string | number;

/** Error codes of JSON-RPC, and those that the SDK's transport uses. */
export const rpcCode = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  refused: -32000,
  noSession: -32001,
  /** Of modern revisions: a header of the protocol is missing, or is not as the message says. */
  header: -32020,
  /** Of modern revisions: the client did not declare a capability. */
  capability: -32021,
  /** Of modern revisions: one that is not served. */
  revision: -32022,
} as const;

/**
 * A JSON-RPC error with exactly this message, for a client or of a server. The SDK sends the `code` and `data` of any error. A
 * server's answer that is invalid has no code.
 */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number | undefined;
  readonly data: unknown;

  constructor(message: string, code?: number, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const badRequest = (message: string) => new RpcError(message, rpcCode.params);

/** How many arrays and objects of a message may be nested. */
const maximumDepth = 512;

/** The value of a client's JSON text. What is nested too deeply is not parsed, because that would take seconds. */
export function parseMessage(bytes: Uint8Array): { value: unknown } | { code: number; fault: string } {
  try {
    const text = decodeUtf8(bytes);
    if (findExcessiveDepth(text, maximumDepth) < 0) return { value: parseExactly(text) };
    const fault = `The message is nested more than ${maximumDepth} levels deep.`;
    return { code: rpcCode.request, fault };
  } catch {
    return { code: rpcCode.parse, fault: "The message is not valid JSON." };
  }
}

const own = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;

const asId = (id: unknown): RequestId | undefined =>
  typeof id === "string" || typeof id === "number" ? id : undefined;

export const methodOf = (message: unknown): string | undefined => {
  const method = own(message, "method");
  return typeof method === "string" ? method : undefined;
};

export const requestIdOf = (message: unknown): RequestId | undefined =>
  methodOf(message) === undefined ? undefined : asId(own(message, "id"));

export const cancelledIdOf = (message: unknown): RequestId | undefined =>
  methodOf(message) === "notifications/cancelled"
    ? asId(own(own(message, "params"), "requestId"))
    : undefined;

/** The id of the `subscriptions/listen` request that a message acknowledges. */
export const subscriptionOf = (message: unknown): RequestId | undefined =>
  methodOf(message) === "notifications/subscriptions/acknowledged"
    ? asId(own(own(own(message, "params"), "_meta"), "io.modelcontextprotocol/subscriptionId"))
    : undefined;

/** The URIs of resources of which a valid `subscriptions/listen` asks to hear, as the message has them. */
export function listenedUris(message: unknown): string[] {
  const uris = own(own(own(message, "params"), "notifications"), "resourceSubscriptions");
  return Array.isArray(uris) && uris.every((uri) => typeof uri === "string") ? uris : [];
}

/** The oldest revision whose requests carry everything that they need. Revisions are dates, so they compare as strings. */
export const modernRevision = "2026-07-28";

/** The revisions with sessions, newest first. */
export const legacyRevisions: readonly string[] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
];

const revisionKey = "io.modelcontextprotocol/protocolVersion";

export const isModern = (revision: string): boolean => revision >= modernRevision;

/** The revision that a message claims to be of; `undefined` for a legacy message. It may be any JSON value. */
export const claimedRevision = (message: unknown): unknown =>
  own(own(own(message, "params"), "_meta"), revisionKey);

/** The handshake of a legacy client is of a modern one only if it claims a modern revision. */
export function isOfModernClient(message: unknown): boolean {
  const revision = claimedRevision(message);
  if (revision === undefined) return false;
  return methodOf(message) !== "initialize" || (typeof revision === "string" && isModern(revision));
}

/** The key in the `_meta` of a modern request. */
export const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

/** What a client says that it can do, in `initialize` or in a modern request. */
export function capabilitiesIn(message: unknown): unknown {
  const params = own(message, "params");
  return own(params, "capabilities") ?? own(own(params, "_meta"), capabilitiesKey);
}
