import { randomUUID } from "node:crypto";
import { failure } from "../../problems/index.ts";
import { atMost } from "../../runtime/abort-listeners.ts";
import { methodOf, noBatches, parseMessage, requestIdOf, rpcCode } from "../client-message.ts";
import type { CreateProtocolServer } from "../protocol-server.ts";
import { createHostCheck, hostInUrl } from "./allowed-hosts.ts";
import { refusal, transportRefusal } from "./answers.ts";
import { answerProbe, createHeadCheck, path } from "./check-head.ts";
import { CrossOrigins } from "./cors.ts";
import type { Answer, StreamedAnswer } from "./http-answers.ts";
import { completeOptions, type HttpSettings, type ServeHttpOptions } from "./http-options.ts";
import { type HttpServer, listenForHttp } from "./http-server.ts";
import { HttpSession } from "./http-session.ts";
import { HttpSessions, type RequestRouter } from "./http-sessions.ts";
import { HttpTransport } from "./http-transport.ts";
import { DualRouter, ModernRequests } from "./modern-requests.ts";
import { SingleRequests } from "./single-requests.ts";

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

type SdkTransport = typeof import("@modelcontextprotocol/server");

/** Counts the requests under way. */
class OpenRequests {
  #count = 0;
  #whenNone = () => {};

  async run(
    message: unknown,
    handle: () => Promise<Answer | StreamedAnswer>,
  ): Promise<Answer | StreamedAnswer> {
    // A subscription would never end by itself.
    if (requestIdOf(message) === undefined || methodOf(message) === "subscriptions/listen") return handle();
    this.#count++;
    const onSent = () => {
      this.#count--;
      if (this.#count === 0) this.#whenNone();
    };
    try {
      return { ...(await handle()), onSent };
    } catch (error) {
      onSent();
      throw error;
    }
  }

  async untilNone(limitMs: number): Promise<void> {
    if (this.#count === 0) return;
    const none = new Promise<void>((resolve) => {
      this.#whenNone = resolve;
    });
    await atMost(none, limitMs);
  }
}

/** Serves legacy clients. The SDK is loaded when the first of them speaks. */
function createLegacyRouter(create: CreateProtocolServer, settings: HttpSettings): RequestRouter {
  const { sessionTtlMs, stateless, clock } = settings;
  let sdk: SdkTransport | undefined;
  const open = (onEnd: (session: HttpSession) => void): HttpSession => {
    if (sdk === undefined) throw new Error("The SDK is loaded before a session is opened.");
    const id = randomUUID();
    const stateful = {
      sessionIdGenerator: () => id,
      onsessionclosed: (): Promise<void> => transport.failOpen(),
    };
    const inner = new sdk.WebStandardStreamableHTTPServerTransport(stateless ? {} : stateful);
    const transport: HttpTransport = new HttpTransport(inner, id);
    const server = create({ sessionId: id });
    const session = new HttpSession({
      server,
      transport,
      ttlMs: sessionTtlMs,
      clock,
      onEnd: () => onEnd(session),
    });
    return session;
  };
  const router = stateless ? new SingleRequests(open) : new HttpSessions(settings, open);
  return {
    admit: (head) => router.admit(head),
    async handle(request) {
      sdk ??= await import("@modelcontextprotocol/server");
      return router.handle(request);
    },
    close: () => router.close(),
  };
}

function createRouter(
  create: CreateProtocolServer,
  { modern }: ServeHttpOptions,
  settings: HttpSettings,
): RequestRouter {
  const { protocol } = settings;
  if (modern === undefined) return createLegacyRouter(create, settings);
  const requests = new ModernRequests(modern);
  return protocol === "modern"
    ? requests
    : new DualRouter(createLegacyRouter(create, settings), requests, protocol);
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
  const { label, host, graceMs, health } = settings;
  const open = new OpenRequests();
  let isEnding = false;
  const router = createRouter(create, options, settings);
  const origins = new CrossOrigins(settings.allowedOrigins, settings.allowedHosts);
  const check = createHeadCheck({
    isOurHost: createHostCheck(host, settings.allowedHosts),
    origins,
    onMisplaced: options.onMisplaced,
    token: settings.token,
    methods: settings.stateless || settings.protocol === "modern" ? ["POST"] : ["GET", "POST", "DELETE"],
  });

  let server: HttpServer;
  try {
    server = await listenForHttp({
      ...settings,
      refuse: (reason) => transportRefusal(reason, settings),
      admit: (head, port) => {
        const refused =
          (health ? answerProbe(head, isEnding) : undefined) ?? check(head, port) ?? router.admit(head);
        if (refused !== undefined) return origins.permit(head, refused);
        const answer = async (body: Uint8Array, signal: AbortSignal): Promise<Answer | StreamedAnswer> => {
          const parsed = head.method === "POST" ? parseMessage(body) : { value: undefined };
          if ("fault" in parsed) return refusal(400, parsed.fault, { code: parsed.code });
          if (Array.isArray(parsed.value)) return refusal(400, noBatches, { code: rpcCode.request });
          try {
            const { value: message } = parsed;
            return await open.run(message, () => router.handle({ head, message, signal }));
          } catch {
            return refusal(500, "The server failed.", { code: rpcCode.internal });
          }
        };
        return async (body, signal) => origins.permit(head, await answer(body, signal));
      },
    });
  } catch (error) {
    const hint = "Pass another address or port; port 0 selects a free one.";
    const args = { label, reason: reasonFor(error, settings), hint };
    throw failure("ServerStartFailed", args, {}, { cause: error });
  }

  return {
    url: `http://${hostInUrl(host)}:${server.port}${path}`,
    drain: (limitMs) => {
      isEnding = true;
      return open.untilNone(limitMs);
    },
    close: async () => {
      const closed = server.close(graceMs);
      // A server that does not close must not block the exit.
      await atMost(router.close(), graceMs);
      await closed;
    },
  };
}
