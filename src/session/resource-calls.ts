import { describeType } from "../data/parse-json.ts";
import { AnswerError, saysUnknownResource } from "../mcp/client/answer-error.ts";
import { ServerCallError } from "../mcp/client/connected-server.ts";
import { failure, TrailblazeError } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/index.ts";
import type { CodeRunners } from "../runtime/code-runners.ts";
import type { HandlerContext } from "../runtime/handler-context.ts";
import type { InputRequired, InputRound } from "../runtime/input-requests.ts";
import type { ReadAnswer, ResourceContents } from "../runtime/resource-contents.ts";
import type { TimeLimit } from "../runtime/time-limit.ts";
import { answerWithHost, askInScope } from "./host-input.ts";
import type { CallScope } from "./invocation.ts";
import { PromptCalls } from "./prompt-calls.ts";
import { keepRunning, sendRequest } from "./server-requests.ts";
import { findRoute, type ResourceRoute } from "./session-reads.ts";
import type { SessionState } from "./session-state.ts";
import type { ToolCalls } from "./tool-calls.ts";

/** Limits of reading a resource. */
export interface ReadOptions {
  /** Cancels the request, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds. Default: the config's `timeouts.callMs`. */
  timeoutMs?: number | undefined;
}

/** What a resource contains. Strings are the author's and not trusted. */
export interface ResourceResult {
  contents: readonly ResourceContents[];
  /** What its server adds. */
  _meta?: Readonly<Record<string, unknown>>;
}

/** The error for a URI that neither the session nor its server knows. */
function notFound({ resources }: SessionState, uri: string): TrailblazeError {
  const known = resources.flatMap(({ resource }) => resource.uri ?? resource.uriTemplate ?? []);
  const nearest = findNearestNames(uri, known).filter((one) => one !== uri);
  return failure("ResourceNotFound", { name: uri, otherKind: undefined, nearest });
}

/** Reads resources of packs and servers, for the host and for clients that the session is served to. */
export class ResourceCalls {
  readonly #prompts: PromptCalls;
  readonly #calls: ToolCalls;
  readonly #runners: CodeRunners;
  readonly #closing: AbortSignal;

  /** `closing` aborts when the session ends, with the error `SessionClosed`. */
  constructor(prompts: PromptCalls, calls: ToolCalls, runners: CodeRunners, closing: AbortSignal) {
    this.#prompts = prompts;
    this.#calls = calls;
    this.#runners = runners;
    this.#closing = closing;
  }

  /** How a URI is read; `undefined` for an unknown one. */
  find(state: SessionState, uri: string): ResourceRoute | undefined {
    return findRoute(uri, state, this.#calls.links.makerOf(uri));
  }

  /**
   * Reads a resource for the host. Rejects with a `TrailblazeError` `InvalidArguments`, `ResourceNotFound`, `ResourceFailed`,
   * `InputRequired` or `SessionClosed`, or with the signal's reason.
   */
  async read(state: SessionState, uri: unknown, options: ReadOptions): Promise<ResourceResult> {
    this.#closing.throwIfAborted();
    options.signal?.throwIfAborted();
    if (typeof uri !== "string" || uri === "") {
      const reason = `A URI must be a string that is not empty, not ${describeType(uri)}`;
      throw failure("InvalidArguments", { reason });
    }
    const route = this.find(state, uri);
    if (route === undefined) {
      const excluded = state.resourceServers.flatMap((one) => one.findHidden(uri)?.problem ?? [])[0];
      if (excluded !== undefined) throw new TrailblazeError(excluded);
      throw notFound(state, uri);
    }
    const { own } = this.#calls;
    const closing = this.#closing;
    const signal = AbortSignal.any([closing, options.signal ?? closing]);
    const run = (round?: InputRound) => this.ask(state, route, uri, options, own, round);
    const server = route.by === "server" ? route.from.server : undefined;
    const answer = await keepRunning(server, () => answerWithHost<ReadAnswer>(uri, run, own.ask, signal));
    const { isStatic: _, ...result } = answer;
    return result;
  }

  /** The same for a scope and one round; resolves with what the resource asks. */
  async ask(
    state: SessionState,
    route: ResourceRoute,
    uri: string,
    { signal, timeoutMs, progress = () => {} }: ReadOptions & { progress?: HandlerContext["progress"] },
    scope: CallScope,
    round?: InputRound,
  ): Promise<ReadAnswer | { inputRequired: InputRequired }> {
    const answering =
      route.by === "code"
        ? { by: route.by, owner: route.resource.owner }
        : { by: route.by, server: route.from.server, plan: route.from.plan };
    return this.#prompts.limit(
      state,
      answering,
      { what: "resource", signal, timeoutMs, scope },
      (within, own) => this.#run(state, route, uri, { ...within, progress }, own, round),
    );
  }

  async #run(
    state: SessionState,
    route: ResourceRoute,
    uri: string,
    channel: Pick<HandlerContext, "signal" | "progress"> & { limit: TimeLimit },
    scope: CallScope,
    round: InputRound | undefined,
  ): Promise<ReadAnswer | { inputRequired: InputRequired }> {
    if (route.by === "code") {
      const { owner, match, read } = route.resource;
      const context = { ...this.#prompts.createContext(state, owner, uri, scope, channel), ...round };
      const leaveOut = this.#calls.noteLeftOut("resources/read", { uri }, owner);
      return read(uri, match(uri) ?? {}, { runner: () => this.#runners.get(owner), context, leaveOut });
    }
    const { signal, limit } = channel;
    const request = { ...route.from, kind: "resource", name: uri, signal, limits: [limit] } as const;
    const options = {
      signal,
      limit,
      round,
      ask: askInScope(uri, scope, { isWaiting: true }),
      user: scope.sessionId,
    };
    const { inputRequired, ...result } = await sendRequest(request, (connected) =>
      connected.readResource(uri, options),
    ).catch((error) => {
      const { cause } = error instanceof ServerCallError ? error : {};
      throw cause instanceof AnswerError && saysUnknownResource(cause) ? notFound(state, uri) : error;
    });
    if (inputRequired !== undefined) return { inputRequired };
    return { ...(result as unknown as ResourceResult), isStatic: false };
  }
}

/** What a session answers besides calls of tools. `closing` aborts when it ends, with the error `SessionClosed`. */
export function createRequests(calls: ToolCalls, runners: CodeRunners, closing: AbortSignal) {
  const prompts = new PromptCalls(calls, runners, closing);
  return { prompts, reads: new ResourceCalls(prompts, calls, runners, closing) };
}
