import type { CallbackCall, CallbackOutcome } from "../callback/answers.ts";
import { carryIntegers, findRounded, parseExactly } from "../data/exact-integers.ts";
import { writePointer } from "../extension-schema/pointer.ts";
import type { SchemaValidator } from "../json-schema/schema-validator.ts";
import { createPackNotes } from "../mcp/client/call-result.ts";
import { copyArguments } from "../mcp/client/copy-arguments.ts";
import { createCallMeta, createLegacyContext } from "../mcp/envelope.ts";
import { createProblem, TrailblazeError } from "../problems/index.ts";
import { abortable } from "../runtime/abort-listeners.ts";
import type { BundleOutcome, RunnableTool } from "../runtime/bundle.ts";
import { createErrorResult } from "../runtime/convert-result.ts";
import { type InputRound, legacyContextKey } from "../runtime/handler-context.ts";
import { listRequests } from "../runtime/input-rounds.ts";
import { describeRefusal, type InnerResult, invokeTool } from "../runtime/invoke-tool.ts";
import { ResourceLinks } from "../runtime/resource-links.ts";
import {
  type CallToolResult,
  failedResult,
  readToolResult,
  type ToolResult,
} from "../runtime/tool-result.ts";
import {
  type Answering,
  type Caller,
  CallFailure,
  type CallScope,
  type OpenCall,
  type OpenCallOptions,
  type OpenCalls,
  type Round,
  reachForCall,
} from "./call.ts";
import { CallListeners } from "./call-listeners.ts";
import { CallMemory, visibleMemory } from "./session-memory.ts";
import type { SessionFrame, SessionProcesses } from "./session-processes.ts";
import type { LinkMaker } from "./session-reads.ts";
import type { SessionState } from "./session-state.ts";
import type { ToolCandidate, ToolRoute } from "./session-tool.ts";

/** The tools in code that were reported in this process because they got rounded numbers. */
const roundedTools = new Set<string>();

/** Executes calls of the host, of tools in this process, and of servers through the callback. */
export class ToolCalls {
  readonly #frame: SessionFrame;
  readonly #processes: SessionProcesses;
  readonly #open: OpenCalls;
  /** The scope of the host's own calls. */
  readonly own: CallScope;
  readonly #listeners: CallListeners;
  #validator: SchemaValidator | undefined;
  /** The links in results. */
  readonly links = new ResourceLinks<LinkMaker>();
  /** What is left out of the answers of code. */
  readonly noteLeftOut: ReturnType<typeof createPackNotes>;

  constructor(frame: SessionFrame, processes: SessionProcesses, open: OpenCalls, own: CallScope) {
    this.#frame = frame;
    this.#processes = processes;
    this.#open = open;
    this.own = own;
    this.noteLeftOut = createPackNotes(frame.report);
    this.#listeners = new CallListeners(frame.report);
  }

  async #loadValidator(): Promise<SchemaValidator> {
    if (this.#validator !== undefined) return this.#validator;
    const { createSchemaValidator } = await import("../json-schema/schema-validator.ts");
    this.#validator ??= createSchemaValidator();
    return this.#validator;
  }

  /** Executes a call of the host, or of a client that the session is served to, with a tool of a state. */
  callFromHost(
    state: SessionState,
    candidate: ToolCandidate,
    args: unknown,
    options: OpenCallOptions,
    scope = this.own,
  ): Promise<ToolResult> {
    return this.#call(candidate, args, options, { scope, state, depth: 0, recorded: true });
  }

  /** Executes a call that a server makes during one of its own calls. */
  async callFromServer({
    invocationId,
    depth,
    toolName,
    limit,
    ...call
  }: CallbackCall): Promise<CallbackOutcome> {
    const outer = this.#open.find(invocationId);
    if (outer === undefined)
      return { success: false, errorMessage: "The calling tool's own call has ended." };
    const candidate = await this.#resolveInside(toolName, outer);
    if ("fault" in candidate) return { success: false, errorMessage: candidate.fault };
    // The server validates the arguments, too, but the caller relies on the advertised schema.
    if (candidate.route.by === "server") {
      const validator = await this.#loadValidator();
      const { name, inputSchema } = candidate.tool;
      const checked = validator.check(inputSchema, call.arguments, "url" in candidate.route.plan);
      // An invalid schema is the server author's error, and the server still validates.
      if (!checked.ok && checked.schemaFault === undefined)
        return {
          success: false,
          errorMessage: describeRefusal(name, inputSchema, Object.keys(call.arguments), checked),
        };
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
  async #resolveInside(name: string, { state, tool }: OpenCall): Promise<ToolCandidate | { fault: string }> {
    try {
      return await state.resolveStarting(name, tool);
    } catch (error) {
      return { fault: (error as Error).message };
    }
  }

  /** Executes a nested call, at the depth of `outer`. Of nested calls, only the outermost recordable one is recorded. */
  #callInside(
    candidate: ToolCandidate,
    args: unknown,
    { scope, state, depth, onLog, ...outer }: OpenCall,
    options: OpenCallOptions,
  ): Promise<ToolResult> {
    const recorded = outer.recorded && outer.tool?.meta.isRecordable !== true;
    return this.#call(candidate, args, { ...options, onLog }, { scope, state, depth, recorded });
  }

  async #call(
    candidate: ToolCandidate,
    args: unknown,
    options: OpenCallOptions,
    caller: Caller,
  ): Promise<ToolResult> {
    const { route, tool, meta } = candidate;
    const open = this.#open;
    const { memory, record } = caller.scope;
    open.throwIfClosed(options.signal);
    const copied = copyArguments(args);
    if ("fault" in copied) return failedResult(copied.fault);
    const { json } = copied;
    let values: Record<string, unknown> | undefined = copied.args;
    const listeners = this.#listeners.listen(options, tool.name, memory);
    const answering: Answering = route.by === "server" ? route : { by: "code", owner: route.code.owner };
    try {
      const answer = await open.execute<ToolResult>(
        { kind: "tool", name: tool.name, answering, tool: candidate },
        caller,
        { ...options, ...listeners },
        (call, round) => {
          // A tool may have changed the arguments of its run before.
          const own = values ?? (parseExactly(json) as Record<string, unknown>);
          values = undefined;
          return route.by === "server"
            ? this.#callServer(call, route, own, round)
            : this.#callCode(call, candidate, route, own, round);
        },
      );
      if ("inputRequired" in answer) {
        const { requests: inputRequests, ...state } = answer.inputRequired;
        const message = `The tool needs input. ${listRequests(inputRequests)}`;
        return failedResult(message, "InputRequired", { inputRequests, ...state });
      }
      // Recorded without the schema's defaults, which the replay adds again.
      if (answer.variant === "Success" && caller.recorded && meta.isRecordable) record(tool.name, json);
      return answer;
    } catch (error) {
      if (error instanceof CallFailure) return describeFailure(error, route);
      throw error;
    } finally {
      listeners.end();
    }
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
    call: OpenCall,
    route: Extract<ToolRoute, { by: "server" }>,
    args: Record<string, unknown>,
    round: InputRound | undefined,
  ): Promise<Round<ToolResult>> {
    const { id, scope, state, depth, stop, onProgress, onLog } = call;
    const { plan, advertisedName, legacyContext } = route;
    const { sessionId, memory } = scope;
    const { label, key, pack } = plan;
    const { connected, how } = await reachForCall(route, call, advertisedName, round);
    // A remote server gets no address that it could call back.
    const callback = plan.context && !("url" in plan) ? this.#processes.callback : undefined;
    try {
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
      callback?.beginInvocation(id, key, depth, stop, sessionId);
      const answer = await connected.callTool(
        {
          name: advertisedName,
          arguments: sent,
          _meta: plan.context ? { trailblaze: createCallMeta(facts) } : undefined,
        },
        { ...how, onProgress, onLog },
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
    this.#frame.report(createProblem("IntegerRounded", { tool, path: writePointer(keys), source }));
  }

  async #callCode(
    call: OpenCall,
    { tool: { name } }: ToolCandidate,
    tool: RunnableTool,
    args: Record<string, unknown>,
    round: InputRound | undefined,
  ): Promise<Round<ToolResult>> {
    const { id, scope, state, depth, stop: signal, onProgress, onLog } = call;
    const { runners } = this.#processes;
    // Members of a composed server get nothing of a session: no id, device or memory.
    const isWithoutSession = this.#frame.rules.selection !== undefined;
    const { config } = state;
    const { sessionId, memory } = scope;
    const { owner, initialize, options } = tool.code;
    const visible = visibleMemory(config, owner.pack?.qualifiedName);
    const callMemory = new CallMemory(memory, visible);
    const legacyContext = createLegacyContext({ memory: memory.snapshot(visible), device: config.device });
    this.#reportRounded(name, args);
    const validator = this.#validator ?? (await this.#loadValidator());
    const outcome = await invokeTool(tool, {
      args,
      depth,
      legacyContext: isWithoutSession ? undefined : legacyContext,
      maxDepth: config.callback.maxDepth,
      isForClient: scope.passesRounds && depth === 0,
      leaveOut: this.noteLeftOut("tools/call", { name }, owner),
      validator,
      request: {
        name: tool.entry?.name ?? name,
        ...(scope.request ?? { meta: {}, session: { id: sessionId, clientInfo: {}, capabilities: {} } }),
      },
      context: {
        signal,
        ...(isWithoutSession
          ? {}
          : { sessionId, invocationId: id, device: legacyContext.device, memory: callMemory }),
        ...round,
        log: (level, data) => {
          scope.log({ tool: name, level, data });
          onLog?.({ level, data });
        },
        progress: (progress, total, message) => onProgress?.({ progress, total, message }),
      },
      getRunner: () => {
        const runner = runners.get(owner);
        if (initialize === undefined) return runner;
        // `initialize` may never settle, so the call's timeout applies.
        return runner.then((one) =>
          abortable(signal, () => one.initialize(initialize, { options })).then(() => one),
        );
      },
      callTool: async (inner, values, innerDepth): Promise<InnerResult> => {
        const called = await this.#resolveInside(inner, call);
        if ("fault" in called) return { ...failedResult(called.fault), isError: true };
        const result = await this.#callInside(called, values, { ...call, depth: innerDepth }, { signal });
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
    if ("inputRequired" in outcome) return outcome;
    if (depth === 0) scope.onError?.(outcome);
    return this.#readAnswer(toErrorResult(outcome), scope);
  }
}

/** The result of a call that has failed. */
function describeFailure({ message, exit, cause }: CallFailure, route: ToolRoute): ToolResult {
  if (exit !== undefined)
    return failedResult(message, "FatalError", Object.keys(exit).length > 0 ? exit : undefined);
  if (!(cause instanceof TrailblazeError) || route.by === "code") return failedResult(message);
  const isRefused = cause.code === "NotApproved" || cause.code === "LockOutdated";
  return failedResult(message, "ExceptionThrown", { code: isRefused ? cause.code : "ServerStartFailed" });
}

/** Converts a JSON-RPC error of a bundle's entry to a failed result, with code and data as details. */
function toErrorResult({ error, uncaught }: Extract<BundleOutcome, { error: unknown }>): CallToolResult {
  const { code, data } = error;
  return {
    ...createErrorResult(uncaught?.message ?? error.message),
    _meta: { trailblaze: { code, data } },
  };
}
