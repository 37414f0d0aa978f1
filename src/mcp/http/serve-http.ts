import { failure, quote } from "../../problems/index.ts";
import { atMost, whenAborted } from "../../runtime/abort-listeners.ts";
import { type Clock, systemClock } from "../../runtime/time-limit.ts";
import { methodOf, noBatches, parseMessage, requestIdOf, rpcCode } from "../client-message.ts";
import type { CreateProtocolServer, ModernHttpServer, ServedProtocol } from "../protocol-server.ts";
import { isModern, isOfModernClient } from "../revisions.ts";
import { createHostCheck, hostInUrl, isAuthority, isLoopback, readOrigin } from "./allowed-hosts.ts";
import { checkMethod, checkPath, HeadCheck, type HeadRefusal } from "./check-head.ts";
import { type HttpRequest, refuse, toRequest } from "./http-requests.ts";
import {
  type Answer,
  type HttpServer,
  listenForHttp,
  type Refusal,
  type RequestHead,
  toAnswer,
} from "./http-server.ts";
import type { HttpSessions } from "./http-sessions.ts";

const path = "/mcp";

/** How a server is offered over HTTP. */
export interface HttpTransport {
  /** Default: 127.0.0.1. A host that is not loopback requires a `token` or `noAuth`. */
  host?: string;
  /** Default: a free port. */
  port?: number;
  /** The token that clients must send as `Authorization: Bearer`. */
  token?: string;
  /** Allows unauthenticated access on a host that is not loopback. */
  noAuth?: boolean;
  /** More names (or `name:port`) that clients may use for the server, such as those of a proxy. */
  allowedHosts?: readonly string[];
  /** Origins of pages that may use the server in a browser, such as `http://localhost:6274`. */
  allowedOrigins?: readonly string[] | undefined;
  /** Seconds without a request after which a session ends. Default: 1800. */
  sessionTtl?: number;
  /** Default: 1000. */
  maxSessions?: number;
  /** Serves each request without a session. */
  stateless?: boolean;
  /** Answers `GET /healthz` without a token: 200, and 503 while the server ends. */
  health?: boolean;
}

export interface ServeHttpOptions extends HttpTransport {
  /** The server's name in messages. */
  label: string;
  /** Called with a message when a request is refused for its `Host`, once, and for its `Origin`. */
  onMisplaced?: (message: string) => void;
  /** Serves modern clients; created when one speaks. Default: only legacy clients are served. */
  modern?(): Promise<ModernHttpServer>;
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

/** The options with all defaults. */
type HttpSettings = ReturnType<typeof completeOptions>;

/** Completes the options. Throws `InvalidArguments` if the token is missing or cannot be sent in a header. */
function completeOptions(options: ServeHttpOptions) {
  const { label, token, noAuth = false, connections = {} } = options;
  const host = (options.host ?? "127.0.0.1").replace(/^\[(.*)\]$/, "$1");
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    const reason = "The token is empty or has characters that HTTP headers do not allow";
    throw failure("InvalidArguments", { reason, hint: "Use ASCII letters, digits and punctuation." });
  }
  const { allowedHosts = [], allowedOrigins = [] } = options;
  const invalidHost = allowedHosts.find((name) => !isAuthority(name));
  if (invalidHost !== undefined) {
    const reason = `An allowed host must be like mcp.example.com, not ${quote(invalidHost)}`;
    throw failure("InvalidArguments", { reason, hint: "Pass a name or an address, with a port or without." });
  }
  const invalid = allowedOrigins.find((origin) => readOrigin(origin) === undefined);
  if (invalid !== undefined) {
    const reason = `An allowed origin must be like https://app.example, not ${quote(invalid)}`;
    throw failure("InvalidArguments", {
      reason,
      hint: "Pass a scheme and a host, with a port if it has one.",
    });
  }
  if (token === undefined && !noAuth && !isLoopback(host)) {
    throw failure("InvalidArguments", {
      reason: `A token is required because other machines can reach ${host === "" ? "all addresses" : host}`,
      hint: "Pass --token, set TRAILBLAZE_HTTP_TOKEN, or allow unauthenticated access with --no-auth.",
    });
  }
  return {
    label,
    host,
    port: options.port ?? 0,
    token,
    allowedHosts,
    allowedOrigins,
    sessionTtlMs: (options.sessionTtl ?? 1800) * 1000,
    maxSessions: options.maxSessions ?? 1000,
    stateless: options.stateless ?? false,
    protocol: options.modern === undefined ? "legacy" : (options.protocol ?? "both"),
    health: options.health ?? false,
    maxBodyBytes: options.maxBodyBytes ?? 4 * 1024 * 1024,
    graceMs: options.graceMs ?? 2000,
    headersTimeoutMs: connections.headersTimeoutMs ?? 10_000,
    bodyTimeoutMs: connections.bodyTimeoutMs ?? 60_000,
    // Streams send a comment every 15 s.
    idleTimeoutMs: connections.idleTimeoutMs ?? 120_000,
    maxConnections: connections.max ?? 5120,
    clock: options.clock ?? systemClock,
  };
}

export interface ServedOverHttp {
  /** `http://HOST:PORT/mcp` */
  readonly url: string;
  /** Resolves when no request is under way, at the latest after `limitMs`. Probes get 503 from now on. */
  drain(limitMs: number): Promise<void>;
  /** Stops accepting requests, ends the sessions, and destroys open requests after the grace period. Idempotent. */
  close(): Promise<void>;
}

/** Why the server cannot listen, as a reason. */
function reasonFor(error: unknown, { host, port }: HttpSettings): string {
  const place = `${hostInUrl(host)}:${port}`;
  switch ((error as NodeJS.ErrnoException).code) {
    case "EADDRINUSE":
      return `${place} is already in use`;
    case "EACCES":
      return `no permission to listen on ${place}`;
    case "EADDRNOTAVAIL":
      return `${host} is not an address of this machine`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `unknown host ${host}`;
    default:
      return `cannot listen on ${place}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

const refuseHead = (refused: HeadRefusal): Answer =>
  refused.status === 204
    ? { status: 204, body: "", headers: refused.headers }
    : refuse(refused.status, refused.message, refused);

/** The answer to a request that is invalid HTTP or exceeds a limit. */
function refuseTransport(reason: Refusal, { bodyTimeoutMs, maxBodyBytes }: HttpSettings): Answer {
  const messages = {
    400: "The request is not valid HTTP/1.1.",
    405: "Method not allowed. Use GET, POST or DELETE.",
    408: `The request was not complete in time; it must arrive within ${bodyTimeoutMs} ms.`,
    413: `The body exceeds ${maxBodyBytes} bytes.`,
    431: "The headers are too large.",
  };
  return refuse(reason, messages[reason], {
    headers: reason === 405 ? { allow: "GET, POST, DELETE" } : undefined,
  });
}

/** The answer to a probe, which needs neither a token nor a known host; `undefined` for another path. */
function answerProbe(head: RequestHead, isEnding: boolean): Answer | undefined {
  if (checkPath(head, "/healthz") !== undefined) return undefined;
  const refused = checkMethod(head, ["GET", "HEAD"]);
  if (refused !== undefined) return refuseHead(refused);
  return isEnding
    ? { status: 503, body: JSON.stringify({ status: "ending" }) }
    : { status: 200, body: JSON.stringify({ status: "ok" }) };
}

/** Serves requests of modern clients on their own, and all others in sessions. The SDK is loaded with the first request. */
class Router {
  readonly #create: CreateProtocolServer;
  readonly #modern: () => Promise<ModernHttpServer>;
  readonly #settings: HttpSettings;
  #sessions: Promise<HttpSessions> | undefined;
  #requests: Promise<ModernHttpServer> | undefined;

  constructor(create: CreateProtocolServer, modern: () => Promise<ModernHttpServer>, settings: HttpSettings) {
    this.#create = create;
    this.#modern = modern;
    this.#settings = settings;
  }

  async answer(request: HttpRequest): Promise<Answer> {
    const { head, message, over } = request;
    const { protocol } = this.#settings;
    const claims = () => isOfModernClient(message) || head.headers["mcp-protocol-version"]?.some(isModern);
    if (protocol === "modern" || (head.method === "POST" && claims())) {
      // Without a code of the modern revisions, so that clients fall back to `initialize`.
      const text = "Only clients of revisions up to 2025-11-25 are served. Start with `initialize`.";
      if (protocol === "legacy") return refuse(400, text, { id: requestIdOf(message) });
      this.#requests ??= this.#modern().catch((error) => {
        this.#requests = undefined;
        throw error;
      });
      const requests = await this.#requests;
      return toAnswer(await requests.answer(toRequest(head, over), message));
    }
    this.#sessions ??= import("./http-sessions.ts").then(
      ({ HttpSessions }) => new HttpSessions(this.#create, this.#settings),
    );
    return (await this.#sessions).answer(request);
  }

  async close(): Promise<void> {
    await Promise.all([this.#sessions, this.#requests].map(async (served) => (await served)?.close()));
  }
}

/**
 * Serves at `/mcp` over streamable HTTP until it is closed, and keeps the process alive. Throws `InvalidArguments` for
 * a missing or unusable token, and `ServerStartFailed` if it cannot listen.
 */
export async function serveHttp(
  create: CreateProtocolServer,
  options: ServeHttpOptions,
): Promise<ServedOverHttp> {
  const settings = completeOptions(options);
  const { label, host, graceMs, health, stateless, protocol } = settings;
  const open = new Set<AbortSignal>();
  let isEnding = false;
  let whenIdle = () => {};
  const modern = options.modern ?? (() => Promise.reject(new Error("Only legacy clients are served.")));
  const router = new Router(create, modern, settings);
  const check = new HeadCheck({
    ...settings,
    isOurHost: createHostCheck(host, settings.allowedHosts),
    path,
    methods: stateless || protocol === "modern" ? ["POST"] : ["GET", "POST", "DELETE"],
    onMisplaced: options.onMisplaced,
  });
  const answer = async (head: RequestHead, body: Uint8Array, over: AbortSignal): Promise<Answer> => {
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
    return router
      .answer({ head, message, over })
      .catch(() => refuse(500, "The server failed.", { code: rpcCode.internal }));
  };

  let server: HttpServer;
  try {
    server = await listenForHttp({
      ...settings,
      refuse: (reason) => refuseTransport(reason, settings),
      admit: (head, port) => {
        const probed = health ? answerProbe(head, isEnding) : undefined;
        if (probed !== undefined) return probed;
        const refused = check.refuse(head, port);
        if (refused !== undefined) return check.permit(head, refuseHead(refused));
        return async (body, over) => check.permit(head, await answer(head, body, over));
      },
    });
  } catch (error) {
    const hint = "Pass another address or port; port 0 selects a free one.";
    const args = { label, reason: reasonFor(error, settings), hint };
    throw failure("ServerStartFailed", args, {}, { cause: error });
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
      await atMost(router.close(), graceMs);
      await closed;
    },
  };
}
