import { createHash, timingSafeEqual } from "node:crypto";
import { failure, quote } from "../../problems/index.ts";
import { atMost, whenAborted } from "../../runtime/abort-listeners.ts";
import { type Clock, systemClock } from "../../runtime/time-limit.ts";
import {
  isModern,
  isOfModernClient,
  methodOf,
  noBatches,
  parseMessage,
  requestIdOf,
  rpcCode,
} from "../client-message.ts";
import type { CreateProtocolServer, ModernHttpServer, ServedProtocol } from "../served-server.ts";
import {
  checkHttpTransport,
  createHostCheck,
  type HttpTransport,
  hostInUrl,
  hostOf,
  readOrigin,
} from "./http-options.ts";
import {
  checkEncoding,
  checkMethod,
  checkPath,
  checkToken,
  type Handler,
  type HttpServer,
  listenForHttp,
  type Refusal,
  type RequestHead,
} from "./http-server.ts";
import { HttpSessions, refuse, toRequest } from "./http-sessions.ts";

const path = "/mcp";

export interface ServeHttpOptions extends HttpTransport {
  /** The server's name in messages. */
  label: string;
  /** Serves modern clients. Default: only legacy clients are served. */
  modern?: ModernHttpServer;
  /** Which clients are served if there is a server for both. Default: both. */
  protocol?: ServedProtocol;
  /** Default: 4 MiB. */
  maxBodyBytes?: number;
  /** How long open requests may take when the server closes. Default: 2 s. */
  graceMs?: number;
  /** Limits of connections; not documented for users. */
  connections?: {
    headersTimeoutMs?: number;
    bodyTimeoutMs?: number;
    idleTimeoutMs?: number;
    max?: number;
  };
  /** The time that sessions go by; tests pass their own. */
  clock?: Clock;
}

export interface ServedOverHttp {
  /** `http://HOST:PORT/mcp` */
  readonly url: string;
  /** Resolves when no request is under way, at the latest after `limitMs`. Probes get 503 from now on. */
  drain(limitMs: number): Promise<void>;
  /** Stops accepting requests, ends the sessions, and destroys open requests after the grace period. Idempotent. */
  close(): Promise<void>;
}

/** What a page may read besides the body. */
const exposed = "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After";
const tokenMessages = {
  missing: "A token is required: send it as `Authorization: Bearer <token>`.",
  invalid: "The token is invalid.",
};

const digestOf = (token: string): Uint8Array => createHash("sha256").update(token).digest();

/** What is checked before the body of a request, and said to pages of other origins. */
function createHeadCheck(options: ServeHttpOptions, methods: readonly string[]) {
  const { token, allowedHosts = [], allowedOrigins = [] } = options;
  const isOurHost = createHostCheck(hostOf(options), allowedHosts);
  const origins = new Set(allowedOrigins.map(readOrigin));
  const digest = token === undefined ? undefined : digestOf(token);
  const findToken = (sent: string) =>
    digest === undefined || timingSafeEqual(digestOf(sent), digest) || undefined;
  /** The origin of a page that may read the answer. Others, the server's own included, get no permission. */
  const findOrigin = ({ headers }: RequestHead): string | undefined => {
    const origin = headers.get("origin") ?? "";
    return origins.has(origin) ? origin : undefined;
  };
  const isOwnOrigin = (origin: string, port: number): boolean => {
    const { protocol, host, origin: canonical } = URL.canParse(origin) ? new URL(origin) : {};
    if (host === undefined || canonical !== origin || !/^https?:$/.test(protocol ?? "")) return false;
    return isOurHost(host, port, protocol === "https:" ? 443 : 80);
  };

  /** The messages say how to allow what they refuse. */
  const checkPlace = (head: RequestHead, port: number): Refusal | undefined => {
    const host = head.headers.get("host") ?? "";
    if (!isOurHost(host, port, 80)) {
      const message = `The Host header ${quote(host, 200)} is not a name of this server. If clients use this name, pass it with --allowed-host.`;
      return { status: 403, message };
    }
    const origin = head.headers.get("origin");
    if (origin === null || findOrigin(head) !== undefined || isOwnOrigin(origin, port)) return undefined;
    const message = `The Origin header ${quote(origin, 200)} is not an origin of this server. If a page of it may use the server, pass it with --allowed-origin.`;
    return { status: 403, message };
  };

  /** The answer to a browser that asks if a page may send a request. */
  const answerPreflight = (head: RequestHead): Refusal | undefined => {
    const isAsked = head.headers.has("access-control-request-method");
    if (head.method !== "OPTIONS" || !isAsked || findOrigin(head) === undefined) return undefined;
    const headers = {
      "access-control-allow-methods": methods.join(", "),
      "access-control-allow-headers": head.headers.get("access-control-request-headers") ?? "",
      "access-control-max-age": "600",
    };
    return { status: 204, message: "", headers };
  };

  const refuseToken = (head: RequestHead): Refusal | undefined => {
    const checked = checkToken(head, findToken, tokenMessages);
    return digest !== undefined && "refusal" in checked ? checked.refusal : undefined;
  };

  return {
    /** Checks Host, Origin, path, token, method and encoding, in this order; a preflight is answered after Host and Origin. */
    refuse: (head: RequestHead, port: number): Refusal | undefined =>
      checkPlace(head, port) ??
      answerPreflight(head) ??
      checkPath(head, path) ??
      refuseToken(head) ??
      checkMethod(head, methods) ??
      checkEncoding(head),
    /** Makes an answer readable for the page that gets it if the operator has named its origin. */
    permit(head: RequestHead, answer: Response): Response {
      const origin = findOrigin(head);
      if (origin === undefined) return answer;
      answer.headers.set("access-control-allow-origin", origin);
      answer.headers.set("access-control-expose-headers", exposed);
      answer.headers.set("vary", "Origin");
      return answer;
    },
  };
}

/**
 * Serves at `/mcp` over streamable HTTP until it is closed, and keeps the process alive. Requests of modern clients are
 * served on their own, all others in sessions. Throws `InvalidArguments` for a missing or unusable token, and
 * `ServerStartFailed` if it cannot listen.
 */
export async function serveHttp(
  create: CreateProtocolServer,
  options: ServeHttpOptions,
): Promise<ServedOverHttp> {
  checkHttpTransport(options);
  const { label, port = 0, stateless = false, modern, connections = {}, graceMs = 2000 } = options;
  const host = hostOf(options);
  const protocol = modern === undefined ? "legacy" : (options.protocol ?? "both");
  const methods = stateless || protocol === "modern" ? ["POST"] : ["GET", "POST", "DELETE"];
  const check = createHeadCheck(options, methods);
  const sessions = new HttpSessions(create, {
    stateless,
    sessionTtlMs: (options.sessionTtl ?? 1800) * 1000,
    maxSessions: options.maxSessions ?? 1000,
    clock: options.clock ?? systemClock,
  });
  const open = new Set<AbortSignal>();
  let isEnding = false;
  let whenIdle = () => {};

  /** The answer to a probe, which needs neither a token nor a known host; `undefined` for another path. */
  const answerProbe = (head: RequestHead): Refusal | Handler | undefined => {
    if (options.health !== true || checkPath(head, "/healthz") !== undefined) return undefined;
    const [code, status] = isEnding ? [503, "ending"] : [200, "ok"];
    return checkMethod(head, ["GET", "HEAD"]) ?? (async () => Response.json({ status }, { status: code }));
  };
  const answer = async (head: RequestHead, body: Uint8Array): Promise<Response> => {
    const { over } = head;
    const parsed = head.method === "POST" ? parseMessage(body) : { value: undefined };
    if ("fault" in parsed) return refuse(400, parsed.fault, { code: parsed.code });
    const { value: message } = parsed;
    if (Array.isArray(message)) return refuse(400, noBatches, { code: rpcCode.request });
    // A subscription would never end by itself.
    if (requestIdOf(message) !== undefined && methodOf(message) !== "subscriptions/listen") {
      open.add(over);
      whenAborted(over, () => {
        open.delete(over);
        if (open.size === 0) whenIdle();
      });
    }
    const isClaimed = () =>
      isOfModernClient(message) || isModern(head.headers.get("mcp-protocol-version") ?? "");
    if (protocol !== "modern" && !(head.method === "POST" && isClaimed()))
      return sessions.answer(head, message);
    if (modern !== undefined && protocol !== "legacy") return modern.answer(toRequest(head), message, over);
    // Without a code of the modern revisions, so that clients fall back to `initialize`.
    const text = "Only clients of revisions up to 2025-11-25 are served. Start with `initialize`.";
    return refuse(400, text, { id: requestIdOf(message) });
  };
  const failed = () => refuse(500, "The server failed.", { code: rpcCode.internal });

  let server: HttpServer;
  try {
    server = await listenForHttp({
      host,
      port,
      maxBodyBytes: options.maxBodyBytes ?? 4 * 1024 * 1024,
      headersTimeoutMs: connections.headersTimeoutMs ?? 10_000,
      bodyTimeoutMs: connections.bodyTimeoutMs ?? 60_000,
      // Streams send a comment every 15 s.
      idleTimeoutMs: connections.idleTimeoutMs ?? 120_000,
      maxConnections: connections.max ?? 5120,
      formatRefusal: ({ status, message, headers }, head) => {
        const isEmpty = status === 204;
        const answer = isEmpty
          ? new Response(null, { status, headers })
          : refuse(status, message, { headers });
        return check.permit(head, answer);
      },
      admit: (head, bound) =>
        answerProbe(head) ??
        check.refuse(head, bound) ??
        (async (body) => check.permit(head, await answer(head, body).catch(failed))),
    });
  } catch (error) {
    const hint = "Pass another address or port; port 0 selects a free one.";
    const reason = `cannot listen on ${hostInUrl(host)}:${port}: ${(error as Error).message}`;
    throw failure("ServerStartFailed", { label, reason, hint }, {}, { cause: error });
  }

  return {
    url: `http://${hostInUrl(host)}:${server.port}${path}`,
    drain: async (limitMs) => {
      isEnding = true;
      const idle = new Promise<void>((resolve) => {
        whenIdle = resolve;
      });
      if (open.size > 0) await atMost(idle, limitMs);
    },
    close: async () => {
      const closed = server.close(graceMs);
      // A server that does not close must not block the exit.
      await atMost(Promise.all([sessions.close(), modern?.close()]), graceMs);
      await closed;
    },
  };
}
