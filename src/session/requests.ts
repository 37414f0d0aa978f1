import { describeType, isRecord } from "../data/parse-json.ts";
import { AnswerError, saysUnknownResource } from "../mcp/client/answer-error.ts";
import { ServerCallError } from "../mcp/client/connected-server.ts";
import type { PromptAnswer, PromptMessage } from "../mcp/served-server.ts";
import { failure, quote, TrailblazeError } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/index.ts";
import { abortable, toSignal } from "../runtime/abort-listeners.ts";
import type { CodeRunners } from "../runtime/code-runners.ts";
import type { HandlerContext, InputRound } from "../runtime/handler-context.ts";
import { listRequests } from "../runtime/input-rounds.ts";
import type { ReadAnswer, ResourceContents } from "../runtime/pack-resource.ts";
import type { CodeOwner } from "../runtime/tool-code.ts";
import { failedResult } from "../runtime/tool-result.ts";
import {
  type Answering,
  CallFailure,
  type CallScope,
  type OpenCall,
  type OpenCalls,
  type Requested,
  type Round,
  reachForCall,
} from "./call.ts";
import { findMissingArguments } from "./pack-prompt.ts";
import type { PromptCandidate } from "./session-prompts.ts";
import { findRoute, type ResourceRoute } from "./session-reads.ts";
import type { SessionState } from "./session-state.ts";
import type { ToolCalls } from "./tool-calls.ts";

export type { PromptMessage } from "../mcp/served-server.ts";

/** Limits of getting a prompt or reading a resource. */
export interface RequestOptions {
  /** Cancels the request, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds. Default: the config's `timeouts.callMs`. */
  timeoutMs?: number | undefined;
}

/** The messages of a prompt. Strings are the author's and not trusted. */
export interface PromptResult {
  description?: string | undefined;
  messages: PromptMessage[];
}

/** What a resource contains. Strings are the author's and not trusted. */
export interface ResourceResult {
  contents: readonly ResourceContents[];
  /** What its server adds. */
  _meta?: Readonly<Record<string, unknown>>;
}

type Progress = HandlerContext["progress"];

/** A request of a client: its own scope, and its answers to what the request asked before. */
export interface ClientRequest extends RequestOptions {
  scope: CallScope;
  progress: Progress;
  round: InputRound | undefined;
}

/** The arguments as strings. Throws `InvalidArguments`. */
function readArguments({ prompt }: PromptCandidate, given: unknown): Record<string, string> {
  const invalid = (reason: string) =>
    failure("InvalidArguments", { reason: `Prompt ${quote(prompt.name)} ${reason}` });
  if (!isRecord(given)) throw invalid(`takes an object of arguments, not ${describeType(given)}`);
  const args: [string, string][] = Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (typeof value !== "string")
      throw invalid(`takes strings as arguments, but ${quote(name)} is ${describeType(value)}`);
    return [[name, value]];
  });
  const read = Object.fromEntries(args);
  const missing = findMissingArguments(prompt.arguments, read).map((name) => quote(name));
  if (missing.length === 0) return read;
  throw invalid(`requires the ${missing.length === 1 ? "argument" : "arguments"} ${missing.join(", ")}`);
}

/** The error for a URI that neither the session nor its server knows. */
function notFound({ resources }: SessionState, uri: string): TrailblazeError {
  const known = resources.flatMap(({ resource }) => resource.uri ?? resource.uriTemplate ?? []);
  const nearest = findNearestNames(uri, known).filter((one) => one !== uri);
  return failure("ResourceNotFound", { name: uri, otherKind: undefined, nearest });
}

/** The answer to the host. Throws `InputRequired` for what asks in a session without a user. */
function requireAnswer<Answer extends object>(name: string, answer: Round<Answer>): Answer {
  if (!("inputRequired" in answer)) return answer;
  throw failure("InputRequired", { name, asked: listRequests(answer.inputRequired.requests) });
}

/** Gets prompts and reads resources of packs and servers, for the host and for clients that the session is served to. */
export class Requests {
  readonly #calls: ToolCalls;
  readonly #open: OpenCalls;
  readonly #runners: CodeRunners;

  constructor(calls: ToolCalls, open: OpenCalls, runners: CodeRunners) {
    this.#calls = calls;
    this.#open = open;
    this.#runners = runners;
  }

  #ofHost(options: RequestOptions): ClientRequest {
    return { ...options, scope: this.#calls.own, progress: () => {}, round: undefined };
  }

  /**
   * Gets a prompt for the host. Rejects with a `TrailblazeError` `InvalidArguments`, `PromptFailed`, `InputRequired` or `SessionClosed`, or
   * with the signal's reason.
   */
  async getPrompt(
    state: SessionState,
    candidate: PromptCandidate,
    given: unknown,
    options: RequestOptions,
  ): Promise<PromptResult> {
    this.#open.throwIfClosed(options.signal);
    const args = readArguments(candidate, given);
    const answer = await this.askPrompt(state, candidate, args, this.#ofHost(options));
    return requireAnswer(candidate.prompt.name, answer);
  }

  /** The same with valid arguments, for a client; resolves with what the prompt asks. */
  askPrompt(
    state: SessionState,
    { prompt: { name }, route }: PromptCandidate,
    args: Readonly<Record<string, string>>,
    request: ClientRequest,
  ): Promise<PromptAnswer> {
    const run = async (call: OpenCall, round: InputRound | undefined): Promise<PromptAnswer> => {
      if (route.by === "code") {
        const { owner } = route;
        const context = this.#contextOf(call, owner, name, request.progress);
        const leaveOut = this.#calls.noteLeftOut("prompts/get", { name }, owner);
        return route.prompt.get(args, { runner: () => this.#runners.get(owner), context, leaveOut }, round);
      }
      const { advertisedName } = route;
      const { connected, how } = await reachForCall(route, call, advertisedName, round);
      const { inputRequired, ...result } = await connected.getPrompt(advertisedName, args, how);
      return inputRequired === undefined ? result : { inputRequired };
    };
    return this.#execute<PromptResult>({ kind: "prompt", name, answering: route }, state, request, run);
  }

  /** How a URI is read; `undefined` for an unknown one. */
  findResource(state: SessionState, uri: string): ResourceRoute | undefined {
    return findRoute(uri, state, this.#calls.links.makerOf(uri));
  }

  /**
   * Reads a resource for the host. Rejects with a `TrailblazeError` `InvalidArguments`, `ResourceNotFound`, `ResourceFailed`,
   * `InputRequired` or `SessionClosed`, or with the signal's reason.
   */
  async readResource(state: SessionState, uri: unknown, options: RequestOptions): Promise<ResourceResult> {
    this.#open.throwIfClosed(options.signal);
    if (typeof uri !== "string" || uri === "") {
      const reason = `A URI must be a string that is not empty, not ${describeType(uri)}`;
      throw failure("InvalidArguments", { reason });
    }
    const route = this.findResource(state, uri);
    if (route === undefined) {
      const excluded = state.resourceServers.flatMap((one) => one.findHidden(uri)?.problem ?? [])[0];
      if (excluded !== undefined) throw new TrailblazeError(excluded);
      throw notFound(state, uri);
    }
    const answer = await this.askResource(state, route, uri, this.#ofHost(options));
    const { isStatic: _, ...result } = requireAnswer(uri, answer);
    return result;
  }

  /** The same for a client; resolves with what the resource asks. */
  askResource(
    state: SessionState,
    route: ResourceRoute,
    uri: string,
    request: ClientRequest,
  ): Promise<Round<ReadAnswer>> {
    const answering: Answering =
      route.by === "code" ? { by: "code", owner: route.resource.owner } : { by: "server", ...route.from };
    const run = async (call: OpenCall, round: InputRound | undefined): Promise<Round<ReadAnswer>> => {
      if (route.by === "code") {
        const { owner, match, read } = route.resource;
        const context = { ...this.#contextOf(call, owner, uri, request.progress), ...round };
        const leaveOut = this.#calls.noteLeftOut("resources/read", { uri }, owner);
        return read(uri, match(uri) ?? {}, { runner: () => this.#runners.get(owner), context, leaveOut });
      }
      const { connected, how } = await reachForCall(route.from, call, uri, round);
      try {
        const { inputRequired, ...result } = await connected.readResource(uri, how);
        if (inputRequired !== undefined) return { inputRequired };
        return { ...(result as unknown as ResourceResult), isStatic: false };
      } catch (error) {
        const { cause } = error instanceof ServerCallError ? error : {};
        throw cause instanceof AnswerError && saysUnknownResource(cause) ? notFound(state, uri) : error;
      }
    };
    return this.#execute<ReadAnswer>({ kind: "resource", name: uri, answering }, state, request, run);
  }

  /** Executes a request. Rejects with `PromptFailed` or `ResourceFailed`, with its own error, or with the reason of what cancels it. */
  async #execute<Answer extends object>(
    requested: Requested,
    state: SessionState,
    { scope, round, signal, timeoutMs }: ClientRequest,
    run: (call: OpenCall, round: InputRound | undefined) => Promise<Round<Answer>>,
  ): Promise<Round<Answer>> {
    const caller = { scope, state, depth: 0, recorded: false };
    try {
      return await this.#open.execute(requested, caller, { signal, timeoutMs, round }, (call, next) =>
        abortable(call.stop, () => run(call, next)),
      );
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error;
      const { cause = error, message: reason } = error;
      if (cause instanceof TrailblazeError) throw cause;
      const code = requested.kind === "prompt" ? "PromptFailed" : "ResourceFailed";
      throw failure(code, { reason }, {}, { cause });
    }
  }

  #contextOf({ state, scope, stop }: OpenCall, owner: CodeOwner, name: string, progress: Progress) {
    return this.createContext(state, owner, name, scope, { signal: toSignal(stop), progress });
  }

  /** The context of code of a prompt or a resource. It calls tools of the state, those of its own pack first. */
  createContext(
    state: SessionState,
    { pack }: CodeOwner,
    name: string,
    scope: CallScope,
    { signal, progress }: Pick<HandlerContext, "signal" | "progress">,
  ): HandlerContext {
    const calls = this.#calls;
    const nested: CallScope = { ...scope, record: () => {}, passesRounds: false };
    return {
      signal,
      progress,
      options: {},
      log: (level, data) => scope.log({ tool: name, level, data }),
      callTool: async (wanted, args = {}) => {
        try {
          const own = `${pack?.qualifiedName}/${wanted}`;
          const isOwn = state.tools.some(({ qualifiedName }) => qualifiedName === own);
          const called = state.resolve(isOwn ? own : wanted, undefined);
          const result = await calls.callFromHost(state, called, args, { signal }, nested);
          return { ...result, isError: result.variant !== "Success" };
        } catch (error) {
          if (!(error instanceof TrailblazeError)) throw error;
          return { ...failedResult(error.message), isError: true };
        }
      },
    };
  }
}
