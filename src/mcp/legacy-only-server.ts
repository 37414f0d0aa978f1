import { requestIdOf } from "./client-message.ts";
import type { ModernHttpServer } from "./protocol-server.ts";
import { claimedRevision, unsupportedRevision } from "./revisions.ts";

/** The revisions that legacy servers speak. */
const legacyRevisions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** Refuses modern clients of a server that speaks only legacy revisions, and names these, so that clients fall back. */
export const createLegacyOnlyServer = (): ModernHttpServer => ({
  headersOf: async () => [],
  async answer(request, message) {
    const requested = claimedRevision(message) ?? request.headers.get("mcp-protocol-version");
    const data = { supported: legacyRevisions, requested };
    const error = { code: unsupportedRevision, message: "Unsupported protocol version.", data };
    return Response.json({ jsonrpc: "2.0", error, id: requestIdOf(message) ?? null }, { status: 400 });
  },
  close: async () => {},
});
