import { isRecord } from "../data/parse-json.ts";
import { methodOf, type RequestId } from "./client-message.ts";

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

/** The key in `_meta` of a modern request that names its revision. */
const revisionKey = "io.modelcontextprotocol/protocolVersion";

export const isModern = (revision: string): boolean => revision >= modernRevision;

/** The revision that a message claims to be of; `undefined` for a legacy message. It may be any JSON value. */
export function claimedRevision(message: unknown): unknown {
  const params = isRecord(message) ? message.params : undefined;
  const meta = isRecord(params) ? params._meta : undefined;
  return isRecord(meta) && Object.hasOwn(meta, revisionKey) ? meta[revisionKey] : undefined;
}

/**
 * Whether a message is of a modern client: it claims a revision. The handshake of a legacy client is one only if it
 * claims a modern revision.
 */
export function isOfModernClient(message: unknown): boolean {
  const revision = claimedRevision(message);
  if (revision === undefined) return false;
  return methodOf(message) !== "initialize" || (typeof revision === "string" && isModern(revision));
}

/** The error code of modern revisions for a revision that is not served. */
export const unsupportedRevision = -32022;

/** The answer to a request for another revision than the modern ones. `requested` may be any JSON value. */
export function refuseRevision(id: RequestId, requested: unknown) {
  const named = typeof requested === "string" ? { requested } : {};
  const message = `Unsupported protocol version: ${named.requested ?? "the request did not name one"}`;
  const error = { code: unsupportedRevision, message, data: { supported: [modernRevision], ...named } };
  return { jsonrpc: "2.0" as const, id, error };
}
