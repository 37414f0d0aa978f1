import { type CallbackTarget, callBack } from "./call-back.ts";
import { createClient, createOutsideClient, type TrailblazeClient } from "./client.ts";
import type { TrailblazeCall } from "./context-from.ts";
import type { HandlerContext } from "./handlers.ts";

/** Options of a client. */
export interface ClientOptions {
  /** Cancels open calls when it aborts. */
  signal?: AbortSignal;
  /** The environment with the session's variables. Default: the process's. */
  environment?: Readonly<Record<string, string | undefined>>;
}

const isHandlerContext = (source: object): source is HandlerContext =>
  typeof (source as Partial<HandlerContext>).callTool === "function";

/**
 * Creates a client for the session's other tools, from the context of a handler or from what `contextFrom` read from a
 * call. Never throws; outside a session, each call rejects with the reason.
 */
export function clientFrom(
  source: HandlerContext | TrailblazeCall | undefined,
  { signal, environment = globalThis.process?.env ?? {} }: ClientOptions = {},
): TrailblazeClient {
  if (source === undefined) return createOutsideClient();
  if (isHandlerContext(source)) return createClient((name, args) => source.callTool(name, args));
  const { sessionId, invocationId } = source;
  // The token belongs to the session in the environment, so a call cannot redirect it.
  const baseUrl = environment.TRAILBLAZE_BASE_URL ?? source.baseUrl;
  const token = environment.TRAILBLAZE_SESSION_TOKEN;
  if (sessionId === undefined || invocationId === undefined) return createOutsideClient();
  if (baseUrl === undefined || token === undefined) {
    return createOutsideClient(
      "Callbacks are disabled in this session: set `callback.enabled` in its config.",
    );
  }
  const timeoutMs = Number(environment.TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS);
  const target: CallbackTarget = {
    baseUrl,
    token,
    sessionId,
    invocationId,
    timeoutMs: timeoutMs > 0 ? timeoutMs : defaultTimeoutMs,
    signal,
  };
  return createClient((name, args) => callBack(target, name, args));
}

/** The host's default timeout of a callback, and time for the transfer. */
const defaultTimeoutMs = 122_000;
