import { isRecord } from "../data/parse-json.ts";
import type { ProcessLaunch, ProcessPort, SupervisedProcess } from "../processes/process-port.ts";
import { whenAborted } from "../runtime/abort-listeners.ts";
import { AnswerError } from "./client/answer-error.ts";
import type { ServerFacts, ServerProtocol } from "./client/handshake.ts";
import { own } from "./client/incoming-message.ts";
import { McpClient } from "./client/mcp-client.ts";
import { type ListKey, listRules } from "./client/server-lists.ts";
import { openStdioChannel } from "./client/stdio-channel.ts";
import { maximumDepth, requestIdOf, rpcCode } from "./client-message.ts";
import {
  createLinks,
  findUse,
  KnownLists,
  type ListPolicy,
  listOf,
  readAnswer,
  refuseUse,
} from "./known-lists.ts";
import type { ModernHttpServer } from "./protocol-server.ts";
import { claimedRevision, unsupportedRevision } from "./revisions.ts";
import { RpcError } from "./rpc-error.ts";
import type { ForwardRequest } from "./serve-clients.ts";
import type { CallChannel } from "./served-server.ts";
import { unapprovedInstructions } from "./tool-guard.ts";

/** The revisions that legacy servers speak. */
const legacyRevisions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** Refuses modern clients of a server that speaks only legacy revisions, and names these, so that clients fall back. */
const createLegacyOnlyServer = (): ModernHttpServer => ({
  async answer(request, message) {
    const requested = claimedRevision(message) ?? request.headers.get("mcp-protocol-version");
    const data = { supported: legacyRevisions, requested };
    const error = { code: unsupportedRevision, message: "Unsupported protocol version.", data };
    return Response.json({ jsonrpc: "2.0", error, id: requestIdOf(message) ?? null }, { status: 400 });
  },
  close: async () => {},
});

const limits = { frameBytes: 32 << 20, waitingBytes: 32 << 20, depth: maximumDepth };
/** How the process ends, in milliseconds. */
const endDurations = { inputMs: 5000, termMs: 2000 };
/** In milliseconds. */
const handshakeMs = 60_000;

/** A process that the requests of all modern clients share, with ids and progress tokens of its own. */
class SharedProcess {
  readonly facts: Promise<ServerFacts>;
  readonly #child: SupervisedProcess;
  readonly #client: McpClient;
  readonly #progress = new Map<unknown, CallChannel["progress"]>();
  #lastToken = 0;
  hasEnded = false;

  constructor(child: SupervisedProcess, protocol: ServerProtocol, onStderr: (chunk: Buffer) => void) {
    this.#child = child;
    const end = () => {
      this.hasEnded = true;
      channel.detach();
      this.#client.close();
    };
    const channel = openStdioChannel(child, limits, {
      onNoise: () => {},
      onFault(reason) {
        onStderr(Buffer.from(`The server was terminated because ${reason}.\n`));
        void child.end({ ...endDurations, inputMs: 0 });
      },
    });
    child.stdin.on("error", () => {});
    child.stderr.on("data", onStderr);
    this.#client = new McpClient(channel, ({ method, params }) => {
      const progress = own(params, "progress");
      if (method !== "notifications/progress" || typeof progress !== "number") return;
      const [total, message] = [own(params, "total"), own(params, "message")];
      this.#progress.get(own(params, "progressToken"))?.(
        progress,
        typeof total === "number" ? total : undefined,
        typeof message === "string" ? message : undefined,
      );
    });
    void child.exited.then(end);
    this.facts = child.started.then(() => this.#client.connect(protocol, AbortSignal.timeout(handshakeMs)));
    this.facts.catch(() => this.end());
  }

  readonly forward: ForwardRequest = async (method, params, { signal, progress }) => {
    const meta = isRecord(params._meta) ? params._meta : {};
    const token = ++this.#lastToken;
    const ownToken = meta.progressToken === undefined ? {} : { progressToken: token };
    this.#progress.set(token, progress);
    const sent = { ...params, _meta: { ...meta, ...ownToken } };
    const request = this.#client.request(method, sent, { openEnded: true });
    const unlisten = whenAborted(signal, () => request.cancel("The client has canceled the request."));
    try {
      return await request.answer;
    } catch (error) {
      if (error instanceof AnswerError && error.code !== undefined) {
        throw new RpcError(error.code, error.message, error.data);
      }
      throw new RpcError(rpcCode.internal, "The server failed to answer.");
    } finally {
      unlisten();
      this.#progress.delete(token);
    }
  };

  async end(): Promise<void> {
    this.hasEnded = true;
    await this.#child.end(endDurations);
  }
}

/** Hides what is not approved. */
function guardRequests(policy: ListPolicy, forward: ForwardRequest): ForwardRequest {
  const links = createLinks();
  const readList = async (
    known: KnownLists,
    list: ListKey,
    meta: Readonly<Record<string, unknown>>,
    channel: Parameters<ForwardRequest>[2],
  ) => {
    for (let cursor: unknown; !known.isKnown(list); ) {
      const asked = { ...(cursor === undefined ? {} : { cursor }), _meta: meta };
      const answer = await forward(listRules[list].method, asked, channel).catch((error) => {
        if (error instanceof RpcError && error.code === rpcCode.method) return {};
        throw error;
      });
      cursor = known.filter(list, { ...answer }, cursor).nextCursor;
    }
  };
  return async (method, params, channel) => {
    const list = listOf(method);
    const known = new KnownLists(policy, links);
    if (list !== undefined) {
      const page = await forward(method, params, channel);
      return known.filter(list, { ...page }, params.cursor);
    }
    const use = findUse(method, params);
    if (use !== undefined) {
      const { progressToken: _, ...meta } = isRecord(params._meta) ? params._meta : {};
      // The lists may have changed since the client read them.
      for (const one of known.findUnknown(use)) await readList(known, one, meta, channel);
      const { code, message } = refuseUse(use);
      if (!known.mayUse(use)) throw new RpcError(code, message);
    }
    const result: Record<string, unknown> = { ...(await forward(method, params, channel)) };
    const fault = readAnswer({ method, params, result }, policy, links);
    if (fault !== undefined) throw new RpcError(rpcCode.internal, fault);
    return result;
  };
}

/**
 * Serves modern clients of a subprocess server: all share one process, which is started again for the first request after
 * it has exited. If the server is legacy, modern clients are refused so that they fall back. Rejects if it does not start.
 */
export async function createModernProxy(
  launch: ProcessLaunch,
  protocol: ServerProtocol,
  processes: ProcessPort,
  onStderr: (chunk: Buffer) => void,
  policy?: ListPolicy,
): Promise<ModernHttpServer> {
  if (protocol === "legacy") return createLegacyOnlyServer();
  const start = () => new SharedProcess(processes.start(launch), protocol, onStderr);
  let shared = start();
  const facts = await shared.facts;
  if (facts.era === "legacy") {
    await shared.end();
    return createLegacyOnlyServer();
  }
  const { createModernHttpProxy } = await import("./serve-clients.ts");
  const forwardAny: ForwardRequest = async (...request) => {
    if (shared.hasEnded) shared = start();
    const { forward, facts: ready } = shared;
    const { instructions } = await ready;
    if (policy?.checkInstructions(instructions) === "refuse") {
      await shared.end();
      throw new RpcError(rpcCode.internal, unapprovedInstructions);
    }
    return forward(...request);
  };
  const verdict = policy?.checkInstructions(facts.instructions) ?? "pass";
  if (verdict === "refuse") {
    await shared.end();
    throw new Error(unapprovedInstructions);
  }
  const server = createModernHttpProxy(
    verdict === "omit" ? { ...facts, instructions: undefined } : facts,
    policy === undefined ? forwardAny : guardRequests(policy, forwardAny),
  );
  return {
    ...server,
    async close() {
      await server.close();
      await shared.end();
    },
  };
}
