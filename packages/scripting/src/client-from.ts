import { type CallbackMeans, callBack } from "./call-back.ts";
import { createClient, createOutsideClient, type TrailblazeClient } from "./client.ts";
import type { TrailblazeCall } from "./context-from.ts";
import type { HandlerContext } from "./handlers.ts";

/** How long and under which circumstances a client may call. */
export interface ClientOptions {
  /** Gives up calls that are under way. */
  signal?: AbortSignal;
  /** Where the session's variables are read from. Default: the process's environment. */
  environment?: Readonly<Record<string, string | undefined>>;
}

const isHandlerContext = (source: object): source is HandlerContext =>
  typeof (source as Partial<HandlerContext>).callTool === "function";

/**
 * A client for the session's other tools: from the context of a handler, or from what `contextFrom` read from a call.
 * Never throws; where there is no session, each call says so.
 */
export function clientFrom(
  source: HandlerContext | TrailblazeCall | undefined,
  { signal, environment = globalThis.process?.env ?? {} }: ClientOptions = {},
): TrailblazeClient {
  if (source === undefined) return createOutsideClient();
  if (isHandlerContext(source)) return createClient((name, args) => source.callTool(name, args));
  const { sessionId, invocationId } = source;
  // The token is for who gave it: it goes where the environment says, whatever a call says.
  const baseUrl = environment.TRAILBLAZE_BASE_URL ?? source.baseUrl;
  const token = environment.TRAILBLAZE_SESSION_TOKEN;
  if (sessionId === undefined || invocationId === undefined) return createOutsideClient();
  if (baseUrl === undefined || token === undefined) {
    return createOutsideClient("This session takes no callbacks: `callback.enabled` in its config is off.");
  }
  const timeoutMs = Number(environment.TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS);
  const means: CallbackMeans = {
    baseUrl,
    token,
    sessionId,
    invocationId,
    timeoutMs: timeoutMs > 0 ? timeoutMs : defaultTimeoutMs,
    ...(signal === undefined ? {} : { signal }),
  };
  return createClient((name, args) => callBack(means, name, args));
}

/** The host's default limit for a callback, and a little for the way. */
const defaultTimeoutMs = 122_000;
