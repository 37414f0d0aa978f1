import { type CallbackTarget, callBack } from "./call-back.ts";
import type { TrailblazeCall } from "./context.ts";
import type { HandlerContext } from "./handlers.ts";
import type { CallToolResult } from "./result.ts";

/**
 * The tools that a client knows by name. Empty here: `trailblaze types` generates a declaration that adds the installed
 * tools under their advertised names:
 *
 *     declare module "@trailblaze/scripting" {
 *       interface InstalledTools {
 *         jira_getIssue: { arguments: { issueKey: string }; result: { summary: string } };
 *       }
 *     }
 *
 * `result` is the type of `structuredContent`; it is optional.
 */
// biome-ignore lint/suspicious/noEmptyInterface: declarations are merged into it
export interface InstalledTools {}

type ArgumentsOf<Tool> = Tool extends { arguments: infer Args extends object }
  ? Args
  : Record<string, unknown>;

/** The result of a known tool. */
export type TypedResult<Tool> = Tool extends { result: infer Structured }
  ? Omit<CallToolResult, "structuredContent"> & { structuredContent?: Structured }
  : CallToolResult;

/** A known tool as a function. Its argument is optional if it has no required properties. */
export type TypedCall<Tool> = (
  ...args: Record<never, never> extends ArgumentsOf<Tool>
    ? [args?: ArgumentsOf<Tool>]
    : [args: ArgumentsOf<Tool>]
) => Promise<TypedResult<Tool>>;

/** The known tools as functions. */
export type TypedTools = { readonly [Name in keyof InstalledTools]: TypedCall<InstalledTools[Name]> };

/** Calls other tools of the session during a call. */
export interface TrailblazeClient {
  /**
   * Calls a tool by its advertised name. Resolves with `isError: true` if the tool fails or is unknown. Rejects if it cannot
   * be called: outside a session, after the call has ended, or if the host does not answer in time.
   */
  callTool(name: string, args?: Record<string, unknown>): Promise<CallToolResult>;
  /** The tools that `InstalledTools` declares, as functions. */
  readonly tools: TypedTools;
}

type CallTool = (name: string, args: Record<string, unknown>) => Promise<CallToolResult>;

/** Creates a client that calls tools with the given function. */
export function createClient(callTool: CallTool): TrailblazeClient {
  const call = (name: string, args: Record<string, unknown> = {}) => callTool(name, args);
  const tools = new Proxy(Object.create(null) as object, {
    // Not for symbols and `then`: they are read when the client is printed or awaited.
    get: (_, name) =>
      typeof name === "symbol" || name === "then"
        ? undefined
        : (args?: Record<string, unknown>) => call(name, args),
  });
  return Object.freeze({ callTool: call, tools: tools as TypedTools });
}

/** There is no session to call tools of: every call of a client outside a session rejects with it. */
export class OutsideSessionError extends Error {
  override readonly name = "OutsideSessionError";
}

const outside =
  "Cannot call other tools outside a Trailblaze session: this tool was called by another MCP client.";

/** Creates a client whose calls reject with a reason. */
export const createOutsideClient = (reason: string = outside): TrailblazeClient =>
  createClient(() => Promise.reject(new OutsideSessionError(reason)));

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

/** A handler's context, or the host's form of it, with a client. */
export const addClient = <Context extends object>(context: Context) =>
  Object.freeze({ client: clientFrom(context as object as HandlerContext), ...context });

/** The host's default timeout of a callback, and time for the transfer. */
const defaultTimeoutMs = 122_000;
