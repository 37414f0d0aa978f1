import { randomUUID } from "node:crypto";
import type { CallbackCall, CallbackOutcome } from "../callback/answers.ts";
import type { CallbackEndpoint } from "../callback/callback-endpoint.ts";
import { carryIntegers, findRounded, parseExactly } from "../data/exact-integers.ts";
import { writePointer } from "../extension-schema/pointer.ts";
import type { SchemaValidator } from "../json-schema/schema-validator.ts";
import { createPackNotes } from "../mcp/client/call-result.ts";
import { copyArguments } from "../mcp/client/copy-arguments.ts";
import { createCallMeta, createLegacyContext } from "../mcp/envelope.ts";
import { createProblem, type Problem } from "../problems/index.ts";
import { abortable, CallStop, whenAborted } from "../runtime/abort-listeners.ts";
import type { RunnableTool } from "../runtime/bundle-tools.ts";
import type { CodeRunners } from "../runtime/code-runners.ts";
import { describeRefusal } from "../runtime/describe-refusal.ts";
import { legacyContextKey } from "../runtime/handler-context.ts";
import type { InputRequired, InputRound } from "../runtime/input-requests.ts";
import { listRequests } from "../runtime/input-rounds.ts";
import { type InnerResult, invokeTool } from "../runtime/invoke-tool.ts";
import { OpenEntries } from "../runtime/open-entries.ts";
import { ResourceLinks } from "../runtime/resource-links.ts";
import { TimeLimit } from "../runtime/time-limit.ts";
import type { CallToolResult } from "../runtime/tool-result.ts";
import { failedResult, readToolResult, type ToolResult } from "../runtime/tool-result.ts";
import { describeLate, readCallFailure, toErrorResult } from "./call-failure.ts";
import { CallListeners } from "./call-listeners.ts";
import { answerRounds, askInScope } from "./host-input.ts";
import type { CallScope, InnerCallOptions, Invocation, Nesting } from "./invocation.ts";
import { connect } from "./server-requests.ts";
import { CallMemory, visibleMemory } from "./session-memory.ts";
import type { LinkMaker } from "./session-reads.ts";
import { describeServerExit } from "./session-servers.ts";
import type { SessionState } from "./session-state.ts";
import type { ToolCandidate, ToolRoute } from "./session-tool.ts";

/** What calls need from their session. */
export interface ToolCallsOptions {
  /** The scope of the host's own calls. */
  own: CallScope;
  runners: CodeRunners;
  /** `undefined` until a server starts, and without callbacks. */
  callback(): CallbackEndpoint | undefined;
  /** Reports problems of nested calls. */
  report(problem: Problem): void;
  validator: () => Promise<SchemaValidator>;
  /** Aborted when the session ends, with the error `SessionClosed`. */
  closing: AbortSignal;
}

/** How one run of a tool ends. */
type RunOutcome = ToolResult | { inputRequired: InputRequired };

/** The tools in code that were reported in this process because they got rounded numbers. */
const roundedTools = new Set<string>();

/** Executes calls of the host, of tools in this process, and of servers through the callback. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  /** The scope of the host's own calls. */
  readonly own: CallScope;
  readonly #running = new OpenEntries<string, Invocation>();
  readonly #listeners: CallListeners;
  /** The links in results. */
  readonly links = new ResourceLinks<LinkMaker>();
  /** What is left out of the answers of code. */
  readonly noteLeftOut: ReturnType<typeof createPackNotes>;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
    this.own = options.own;
    this.noteLeftOut = createPackNotes(options.report);
    this.#listeners = new CallListeners(options.report);
    const { closing } = options;
    whenAborted(closing, () => {
      for (const { stop } of this.#running.all()) stop.abort(closing.reason);
    });
  }

  /** Executes a call of the host, or of a client that the session is served to, with a tool of a state. */
  callFromHost(
    state: SessionState,
    candidate: ToolCandidate,
    args: unknown,
    options: InnerCallOptions,
    scope = this.own,
  ): Promise<ToolResult> {
    const nesting: Nesting = { scope, state, depth: 0, recorded: true };
    return this.#call(candidate, args, options, nesting);
  }

  /** Executes a call that a server makes during one of its own calls. */
  async callFromServer({
    invocationId,
    depth,
    toolName,
    limit,
    ...call
  }: CallbackCall): Promise<CallbackOutcome> {
    const outer = this.#running.find(invocationId);
    if (outer === undefined)
      return { success: false, errorMessage: "The calling tool's own call has ended." };
    const candidate = await this.#resolveInside(toolName, outer);
    if ("fault" in candidate) return { success: false, errorMessage: candidate.fault };
    // The server validates the arguments, too, but the caller relies on the advertised schema.
    if (candidate.route.by === "server") {
      const validator = await this.#options.validator();
      const { name, inputSchema } = candidate.tool;
      const checked = validator.check(inputSchema, call.arguments);
      // An invalid schema is the server author's error, and the server still validates.
      if (!checked.ok && checked.schemaFault === undefined) {
        const errorMessage = describeRefusal(name, inputSchema, Object.keys(call.arguments), checked);
        return { success: false, errorMessage };
      }
    }
    const options = { signal: call.signal, timeoutMs: limit.ms };
    const scope = { ...outer.scope, limits: [...(outer.scope.limits ?? []), limit] };
    const result = await this.#callInside(candidate, call.arguments, { ...outer, scope, depth }, options);
    if (result.variant !== "Success") return { success: false, errorMessage: result.message };
    const { structuredContent } = result;
    return {
      success: true,
      text: result.message,
      ...(structuredContent === undefined ? {} : { structuredContent }),
    };
  }

  /** The tool of a nested call, or why it cannot be called. */
  async #resolveInside(
    name: string,
    { state, candidate }: Invocation,
  ): Promise<ToolCandidate | { fault: string }> {
    try {
      return await state.resolveStarting(name, candidate);
    } catch (error) {
      return { fault: (error as Error).message };
    }
  }

  /** Executes a nested call, at the depth of `outer`. Of nested calls, only the outermost recordable one is recorded. */
  #callInside(
    candidate: ToolCandidate,
    args: unknown,
    { scope, state, depth, ...caller }: Invocation,
    options: InnerCallOptions,
  ): Promise<ToolResult> {
    const recorded = caller.recorded && !caller.candidate.meta.isRecordable;
    const heard = { ...options, onLog: caller.onLog };
    return this.#call(candidate, args, heard, { scope, state, depth, recorded });
  }

  async #call(
    candidate: ToolCandidate,
    args: unknown,
    options: InnerCallOptions,
    { scope: given, state, depth, recorded }: Nesting,
  ): Promise<ToolResult> {
    const { closing } = this.#options;
    const { signal } = options;
    const { memory } = given;
    closing.throwIfAborted();
    signal?.throwIfAborted();
    const copied = copyArguments(args);
    if ("fault" in copied) return failedResult(copied.fault);

    const stop = new CallStop();
    const release = signal && whenAborted(signal, () => stop.abort(signal.reason));
    const limit = new TimeLimit(options.timeoutMs ?? state.config.timeouts.callMs, () =>
      stop.abort(new DOMException(describeLate(limit), "TimeoutError")),
    );
    const listeners = this.#listeners.listen(options, candidate.tool.name, memory);
    const scope: CallScope = {
      ...given,
      limits: given.limits === undefined ? [limit] : [...given.limits, limit],
    };
    const id = randomUUID();
    const { args: own } = copied;
    const { onProgress, onLog } = listeners;
    const invocation: Invocation = {
      id,
      scope,
      state,
      candidate,
      depth,
      recorded,
      args: own,
      stop,
      limit,
      onProgress,
      onLog,
    };
    const { route, tool, meta } = candidate;
    this.#running.add(invocation);
    const server = route.by === "server" ? route.server : undefined;
    // Until its last round, in which it may ask the user.
    server?.beginRequest();
    const endCall = state.beginCall();
    try {
      const outcome = await this.#run(invocation, options.round);
      const result =
        "inputRequired" in outcome ? await this.#runRounds(invocation, copied.json, outcome) : outcome;
      if (result.variant === "Success" && recorded && meta.isRecordable) {
        // Recorded without the schema's defaults, which the replay adds again.
        scope.record(tool.name, copied.json);
      }
      return result;
    } catch (error) {
      return readCallFailure(error, { route, memory, signal: stop, limit }, this.#options);
    } finally {
      listeners.end();
      limit.end();
      this.#running.remove(id);
      server?.endRequest();
      endCall();
      release?.();
    }
  }

  #run(invocation: Invocation, round: InputRound | undefined): Promise<RunOutcome> {
    const { route } = invocation.candidate;
    return route.by === "server"
      ? this.#callServer(invocation, route, round)
      : this.#callCode(invocation, route, round);
  }

  /** Runs a tool that has asked again until it has a result, or asks for input and cannot be answered here. */
  async #runRounds(
    invocation: Invocation,
    json: string,
    asked: { inputRequired: InputRequired },
  ): Promise<ToolResult> {
    const { candidate, scope, depth, stop } = invocation;
    // A tool may have changed the arguments of its first run.
    const run = (round: InputRound) =>
      this.#run({ ...invocation, args: parseExactly(json) as Record<string, unknown> }, round);
    const ask = scope.passesRounds && depth === 0 ? undefined : askInScope(candidate.tool.name, scope);
    const outcome = await answerRounds(asked, run, ask && ((requests) => ask(requests, stop.signal)));
    if (!("inputRequired" in outcome)) return outcome;
    const { requests: inputRequests, ...state } = outcome.inputRequired;
    const message = `The tool needs input. ${listRequests(inputRequests)}`;
    return failedResult(message, "InputRequired", { inputRequests, ...state });
  }

  /** Converts an answer. If it is a success, applies the changes of `callMemory` and then its own. */
  #readAnswer(answer: CallToolResult, { memory }: CallScope, callMemory?: CallMemory): ToolResult {
    const { result, memory: changes } = readToolResult(answer);
    if (result.variant === "Success") callMemory?.commit();
    for (const key of changes?.deletions ?? []) memory.delete(key);
    for (const [key, value] of changes?.delta ?? []) memory.set(key, value);
    return result;
  }

  async #callServer(
    invocation: Invocation,
    { server, plan, approval, advertisedName, legacyContext }: Extract<ToolRoute, { by: "server" }>,
    round: InputRound | undefined,
  ): Promise<RunOutcome> {
    const { id, scope, state, depth, stop: signal, limit, args, onProgress } = invocation;
    const { sessionId, memory } = scope;
    const { label, key, pack } = plan;
    if (server.exit !== undefined) return failedResult(describeServerExit(label, server.exit), "FatalError");
    let callback: CallbackEndpoint | undefined;
    try {
      const connected = server.current ?? (await connect(server, { signal, limits: scope.limits }));
      approval?.refuse("tool", advertisedName);
      // A remote server gets no address that it could call back.
      if (plan.context && !("url" in plan)) callback = this.#options.callback();
      const facts = {
        sessionId,
        invocationId: id,
        baseUrl: callback?.baseUrl,
        device: state.config.device,
        memory: memory.snapshot(visibleMemory(state.config, pack)),
      };
      const sent = legacyContext
        ? carryIntegers(args, { ...args, [legacyContextKey]: createLegacyContext(facts) })
        : args;
      callback?.beginInvocation(id, key, depth, signal, sessionId);
      const answer = await connected.callTool(
        {
          name: advertisedName,
          arguments: sent,
          ...(plan.context ? { _meta: { trailblaze: createCallMeta(facts) } } : {}),
        },
        {
          signal,
          limit,
          onProgress,
          onLog: invocation.onLog,
          ask: askInScope(invocation.candidate.tool.name, scope, { isWaiting: true }),
          user: sessionId,
          round,
        },
      );
      this.links.note(answer.content, { server: label });
      const { inputRequired } = answer;
      return inputRequired === undefined ? this.#readAnswer(answer, scope) : { inputRequired };
    } finally {
      callback?.endInvocation(id);
    }
  }

  /** Code gets numbers, which cannot hold every integer. `source`: the tool whose result it is, if it is not the arguments. */
  #reportRounded(tool: string, value: unknown, source?: string): void {
    const keys = roundedTools.has(tool) ? undefined : findRounded(value);
    if (keys === undefined) return;
    roundedTools.add(tool);
    this.#options.report(createProblem("IntegerRounded", { tool, path: writePointer(keys), source }));
  }

  async #callCode(
    invocation: Invocation,
    tool: RunnableTool,
    round: InputRound | undefined,
  ): Promise<RunOutcome> {
    const { id, scope, state, candidate, args, depth, stop: signal, limit, onProgress } = invocation;
    const { runners } = this.#options;
    const { config } = state;
    const { sessionId, memory } = scope;
    const { owner, initialize, options } = tool.code;
    const { name } = candidate.tool;
    const visible = visibleMemory(config, owner.pack?.qualifiedName);
    const callMemory = new CallMemory(memory, visible);
    const legacyContext = createLegacyContext({ memory: memory.snapshot(visible), device: config.device });
    this.#reportRounded(name, args);
    const outcome = await invokeTool(tool, {
      args,
      depth,
      legacyContext,
      maxDepth: config.callback.maxDepth,
      isOverdue: limit.isOverdue,
      isForClient: scope.passesRounds && depth === 0,
      leaveOut: this.noteLeftOut("tools/call", { name }, owner),
      validator: await this.#options.validator(),
      request: {
        name: tool.entry?.name ?? name,
        ...(scope.request ?? { meta: {}, session: { id: sessionId, clientInfo: {}, capabilities: {} } }),
      },
      context: {
        signal,
        sessionId,
        invocationId: id,
        device: legacyContext.device,
        memory: callMemory,
        ...round,
        log: (level, data) => {
          scope.log({ tool: name, level, data });
          invocation.onLog?.({ level, data });
        },
        progress: (progress, total, message) =>
          onProgress?.({
            progress,
            ...(total === undefined ? {} : { total }),
            ...(message === undefined ? {} : { message }),
          }),
      },
      getRunner: async () => {
        const runner = await runners.get(owner);
        // `initialize` may never settle, so the call's timeout applies.
        if (initialize) await abortable(signal, () => runner.initialize(initialize, { options }));
        return runner;
      },
      callTool: async (inner, values, innerDepth): Promise<InnerResult> => {
        const called = await this.#resolveInside(inner, invocation);
        if ("fault" in called) return { ...failedResult(called.fault), isError: true };
        const result = await this.#callInside(
          called,
          values,
          { ...invocation, depth: innerDepth },
          { signal },
        );
        this.#reportRounded(name, result, called.tool.name);
        return { ...result, isError: result.variant !== "Success" };
      },
    });
    if ("result" in outcome) {
      const { fault } = outcome;
      if (fault !== undefined) scope.log({ tool: name, level: "error", data: fault });
      if (fault !== undefined) scope.reportFault?.(`${name}: ${memory.redact(fault)}`);
      this.links.note(outcome.result.content, { pack: owner.pack?.name });
      return this.#readAnswer(outcome.result, scope, callMemory);
    }
    return "inputRequired" in outcome ? outcome : this.#readAnswer(toErrorResult(outcome), scope);
  }
}
