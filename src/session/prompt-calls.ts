import { describeType, isRecord } from "../data/parse-json.ts";
import { ServerCallError } from "../mcp/client/connected-server.ts";

export type { PromptMessage } from "../mcp/served-server.ts";

import type { PromptAnswer, PromptMessage } from "../mcp/served-server.ts";
import { failure, quote, TrailblazeError } from "../problems/index.ts";
import { abortable, whenAborted } from "../runtime/abort-listeners.ts";
import { CodeExitError } from "../runtime/code-exit-error.ts";
import { type CodeRunners, describeCodeExit } from "../runtime/code-runners.ts";
import type { HandlerContext } from "../runtime/handler-context.ts";
import type { InputRound } from "../runtime/input-requests.ts";
import { TimeLimit } from "../runtime/time-limit.ts";
import { failedResult } from "../runtime/tool-result.ts";
import type { CodeOwner } from "../runtime/tool-source.ts";
import { answerWithHost, askInScope } from "./host-input.ts";
import type { CallScope } from "./invocation.ts";
import { findMissingArguments } from "./pack-prompt.ts";
import { keepRunning, sendRequest } from "./server-requests.ts";
import type { PromptCandidate } from "./session-prompts.ts";
import { describeServerExit, type PlannedServer } from "./session-servers.ts";
import type { SessionState } from "./session-state.ts";
import type { ToolCalls } from "./tool-calls.ts";

/** Limits of getting a prompt. */
export interface PromptOptions {
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

type Progress = HandlerContext["progress"];

/** What answers a request: the code of a pack, or a server. */
type Answering = { by: "code"; owner: CodeOwner } | ({ by: "server" } & PlannedServer);

interface Limits extends PromptOptions {
  what: "prompt" | "resource";
  scope: CallScope;
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

/** Gets prompts of packs and servers, for the host and for clients that the session is served to. */
export class PromptCalls {
  readonly #calls: ToolCalls;
  readonly #runners: CodeRunners;
  readonly #closing: AbortSignal;

  /** `closing` aborts when the session ends, with the error `SessionClosed`. */
  constructor(calls: ToolCalls, runners: CodeRunners, closing: AbortSignal) {
    this.#calls = calls;
    this.#runners = runners;
    this.#closing = closing;
  }

  /**
   * Gets a prompt for the host. Rejects with a `TrailblazeError` `InvalidArguments`, `PromptFailed`, `InputRequired` or `SessionClosed`, or
   * with the signal's reason.
   */
  async get(
    state: SessionState,
    candidate: PromptCandidate,
    given: unknown,
    options: PromptOptions,
  ): Promise<PromptResult> {
    this.#closing.throwIfAborted();
    options.signal?.throwIfAborted();
    const args = readArguments(candidate, given);
    const scope = this.#calls.own;
    const { signal = this.#closing } = options;
    const { name } = candidate.prompt;
    const run = (round?: InputRound) => this.ask(state, candidate, args, options, scope, round);
    const either = AbortSignal.any([this.#closing, signal]);
    const { route } = candidate;
    const server = route.by === "server" ? route.server : undefined;
    return keepRunning(server, () => answerWithHost<PromptResult>(name, run, scope.ask, either));
  }

  /** The same with valid arguments, for a scope and one round; resolves with what the prompt asks. */
  async ask(
    state: SessionState,
    candidate: PromptCandidate,
    args: Readonly<Record<string, string>>,
    { signal, timeoutMs, progress = () => {} }: PromptOptions & { progress?: Progress },
    scope: CallScope,
    round?: InputRound,
  ): Promise<PromptAnswer> {
    return this.limit(state, candidate.route, { what: "prompt", signal, timeoutMs, scope }, (within, own) =>
      this.#run(state, candidate, args, { ...within, progress }, own, round),
    );
  }

  /**
   * Runs a request for a prompt or a resource within its limits. Rejects with `PromptFailed` or `ResourceFailed`, or with the
   * reason of `signal` or of the session's end.
   */
  async limit<Answer>(
    state: SessionState,
    answering: Answering,
    { what, signal, timeoutMs = state.config.timeouts.callMs, scope }: Limits,
    run: (within: { signal: AbortSignal; limit: TimeLimit }, scope: CallScope) => Promise<Answer>,
  ): Promise<Answer> {
    const closing = this.#closing;
    const stop = new AbortController();
    const release = [closing, ...(signal === undefined ? [] : [signal])].map((one) =>
      whenAborted(one, () => stop.abort(one.reason)),
    );
    const limit = new TimeLimit(timeoutMs, () =>
      stop.abort(new Error(`The ${what} did not answer within ${limit.ms} ms.`)),
    );
    // Its handler may call tools of this state.
    const end = state.beginCall();
    try {
      return await abortable(stop.signal, () =>
        run({ signal: stop.signal, limit }, { ...scope, limits: [limit] }),
      );
    } catch (error) {
      if (signal?.aborted && !closing.aborted) throw signal.reason;
      // An exit may end the session; what it interrupted must report the exit.
      const exit = this.#explainExit(error, answering, scope);
      if (exit === undefined && error instanceof TrailblazeError) throw error;
      const reason = exit ?? (error instanceof Error ? error.message : String(error));
      throw failure(what === "prompt" ? "PromptFailed" : "ResourceFailed", { reason }, {}, { cause: error });
    } finally {
      end();
      limit.end();
      for (const one of release) one();
    }
  }

  /** How the process that was to answer has exited; `undefined` if it has not. */
  #explainExit(error: unknown, answering: Answering, { memory }: CallScope): string | undefined {
    if (answering.by === "server") {
      const exit = error instanceof ServerCallError ? error.exit : answering.server.exit;
      return exit && describeServerExit(answering.plan.label, exit);
    }
    const exit = error instanceof CodeExitError ? error : this.#runners.exitOf(answering.owner);
    return exit && describeCodeExit(exit, (text) => memory.redact(text)).message;
  }

  async #run(
    state: SessionState,
    { prompt, route }: PromptCandidate,
    args: Readonly<Record<string, string>>,
    channel: Pick<HandlerContext, "signal" | "progress"> & { limit: TimeLimit },
    scope: CallScope,
    round: InputRound | undefined,
  ): Promise<PromptAnswer> {
    if (route.by === "code") {
      const { owner } = route;
      const context = this.createContext(state, owner, prompt.name, scope, channel);
      const leaveOut = this.#calls.noteLeftOut("prompts/get", prompt, owner);
      return route.prompt.get(args, { runner: () => this.#runners.get(owner), context, leaveOut }, round);
    }
    const { advertisedName } = route;
    const { signal, limit } = channel;
    const request = { ...route, kind: "prompt", name: advertisedName, signal, limits: [limit] } as const;
    const { inputRequired, ...result } = await sendRequest(request, (connected) =>
      connected.getPrompt(advertisedName, args, {
        ...{ signal, limit, round },
        ask: askInScope(prompt.name, scope, { isWaiting: true }),
        user: scope.sessionId,
      }),
    );
    return inputRequired === undefined ? result : { inputRequired };
  }

  /** The context of code of a pack that is no tool. It calls tools of the state, those of its own pack first. */
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
      ...{ signal, progress, options: {} },
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
