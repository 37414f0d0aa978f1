import { randomUUID } from "node:crypto";
import type { CallbackCall, CallbackOutcome } from "../callback/answers.ts";
import type { CallbackEndpoint } from "../callback/callback-endpoint.ts";
import type { SessionConfig } from "../config/session-config.ts";
import type { SchemaValidator } from "../json-schema/schema-validator.ts";
import { ServerCallError } from "../mcp/client/connected-server.ts";
import { copyArguments } from "../mcp/client/copy-arguments.ts";
import { createCallMeta, createLegacyContext } from "../mcp/envelope.ts";
import type { Problem } from "../problems/index.ts";
import { abortable, timerMs, whenAborted } from "../runtime/abort-listeners.ts";
import type { BundleOutcome } from "../runtime/bundle.ts";
import type { BundleRequest } from "../runtime/bundle-entry.ts";
import type { RunnableTool } from "../runtime/bundle-tools.ts";
import { CodeExitError } from "../runtime/code-exit-error.ts";
import { type CodeRunners, describeCodeExit } from "../runtime/code-runners.ts";
import { createErrorResult } from "../runtime/convert-result.ts";
import { describeRefusal } from "../runtime/describe-refusal.ts";
import { legacyContextKey } from "../runtime/handler-context.ts";
import { describeRequests } from "../runtime/input-rounds.ts";
import { type InnerResult, invokeTool } from "../runtime/invoke-tool.ts";
import { notifyHost } from "../runtime/late-reports.ts";
import type { CallToolResult } from "../runtime/tool-result.ts";
import { failedResult, readToolResult, type ToolResult } from "../runtime/tool-result.ts";
import { CallReach } from "./call-reach.ts";
import { CallMemory, type SessionMemory } from "./session-memory.ts";
import { describeServerExit } from "./session-servers.ts";
import type { SessionState } from "./session-state.ts";
import type { ToolCandidate, ToolRoute } from "./session-tool.ts";

/** A log message of a tool. */
export interface ToolLog {
  /** The advertised name, or the server's name if the message does not belong to a call. */
  tool: string;
  level: string;
  data: unknown;
}

/** A progress report of a tool; `progress` and `total` have the same unit. */
export interface ToolProgress {
  progress: number;
  total?: number;
  message?: string;
}

/** Limits of one call, and its progress reports. */
export interface CallOptions {
  /** Cancels the call, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds. Default: the config's `timeouts.callMs`. */
  timeoutMs?: number | undefined;
  /** Called for each progress report until the call ends. */
  onProgress?: ((progress: ToolProgress) => void) | undefined;
}

/** For whom a call is executed: the session itself, or one of the clients that it is served to. */
export interface CallScope {
  sessionId: string;
  memory: SessionMemory;
  /** What entries of bundles see of the client's request. */
  request?: Pick<BundleRequest, "meta" | "session">;
  record(name: string, args: Readonly<Record<string, unknown>>): void;
  log(entry: ToolLog): void;
}

/** What calls need from their session. */
export interface ToolCallsOptions {
  /** The scope of the host's own calls. */
  own: CallScope;
  runners: CodeRunners;
  callback: CallbackEndpoint | undefined;
  /** Reports problems of nested calls. */
  report(problem: Problem): void;
  validator: () => Promise<SchemaValidator>;
  /** Aborted when the session ends, with the error `SessionClosed`. */
  closing: AbortSignal;
}

/** One open call. */
interface Invocation {
  id: string;
  scope: CallScope;
  /** The state that the call uses until its end, also for nested calls. */
  state: SessionState;
  candidate: ToolCandidate;
  /** 0 for a call of the host, one more for each nested call. */
  depth: number;
  /** Whether to record the call if it succeeds. */
  recorded: boolean;
  args: Record<string, unknown>;
  signal: AbortSignal;
  limit: Limit;
  onProgress: CallOptions["onProgress"];
}

/** Executes calls of the host, of tools in this process, and of servers through the callback. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  /** The scope of the host's own calls. */
  readonly own: CallScope;
  readonly #running = new Map<string, Invocation>();
  /** What the code of packs may call. */
  readonly reach: CallReach;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
    this.own = options.own;
    this.reach = new CallReach(options.report);
  }

  /** Executes a call of the host, or of a client that the session is served to, with a tool of a state. */
  async callFromHost(
    state: SessionState,
    candidate: ToolCandidate,
    args: unknown,
    options: CallOptions,
    scope = this.own,
  ): Promise<ToolResult> {
    return this.#call(candidate, args, { ...options, scope, state, depth: 0, recorded: true });
  }

  /** Executes a call that a server makes during one of its own calls. */
  async callFromServer({ invocationId, depth, toolName, ...call }: CallbackCall): Promise<CallbackOutcome> {
    const outer = this.#running.get(invocationId);
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
    const { signal } = call;
    const { timeoutMs } = outer.state.config.callback;
    const result = await this.#callInside(candidate, call.arguments, outer, { signal, timeoutMs, depth });
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
      const called = await state.resolveStarting(name, candidate);
      const fault = await this.reach.explainRefusal(state, candidate, called);
      return fault === undefined ? called : { fault };
    } catch (error) {
      return { fault: (error as Error).message };
    }
  }

  /** Executes a nested call. Of nested calls, only the outermost recordable one is recorded. */
  #callInside(
    candidate: ToolCandidate,
    args: unknown,
    outer: Invocation,
    options: CallOptions & { depth: number },
  ): Promise<ToolResult> {
    const recorded = outer.recorded && !outer.candidate.meta.isRecordable;
    const { scope, state } = outer;
    return this.#call(candidate, args, { ...options, scope, state, recorded });
  }

  async #call(
    candidate: ToolCandidate,
    args: unknown,
    {
      scope,
      state,
      depth,
      recorded,
      signal,
      ...options
    }: CallOptions & Pick<Invocation, "scope" | "state" | "depth" | "recorded">,
  ): Promise<ToolResult> {
    const { closing } = this.#options;
    const { memory } = scope;
    closing.throwIfAborted();
    signal?.throwIfAborted();
    const copied = copyArguments(args);
    if ("fault" in copied) return failedResult(copied.fault);

    const stop = new AbortController();
    const release = [closing, ...(signal === undefined ? [] : [signal])].map((one) =>
      whenAborted(one, () => stop.abort(one.reason)),
    );
    const limit = createLimit(stop, Math.max(1, timerMs(options.timeoutMs ?? state.config.timeouts.callMs)));
    // Progress messages may contain sensitive values, like any other string.
    const onProgress: CallOptions["onProgress"] = ({ message, ...step }) => {
      const clean = message === undefined ? step : { ...step, message: memory.redact(message) };
      notifyHost(() => options.onProgress?.(clean));
    };
    const invocation: Invocation = {
      ...{ id: randomUUID(), scope, state, candidate, depth, recorded, limit },
      ...{ args: copied.args, signal: stop.signal },
      onProgress: options.onProgress && onProgress,
    };
    const { id } = invocation;
    const { route, tool, meta } = candidate;
    this.#running.set(id, invocation);
    const endCall = state.beginCall();
    try {
      const result =
        route.by === "server"
          ? await this.#callServer(invocation, route)
          : await this.#callCode(invocation, route);
      if (result.variant === "Success" && recorded && meta.isRecordable) {
        // Recorded without the schema's defaults, which the replay adds again.
        scope.record(tool.name, route.by === "server" ? copied.args : JSON.parse(copied.json));
      }
      return result;
    } catch (error) {
      return this.#failedCall(error, invocation);
    } finally {
      limit.end();
      this.#running.delete(id);
      endCall();
      for (const end of release) end();
    }
  }

  /**
   * The result of a call that failed with an error: an exit of its process, a timeout, or the error itself. Throws the
   * signal's reason if the caller canceled the call.
   */
  #failedCall(error: unknown, { scope, candidate: { route }, signal, limit }: Invocation): ToolResult {
    const { closing, runners } = this.#options;
    const { memory } = scope;
    // An exit may end the session; its own calls must report the exit and not the closed session.
    const isByCaller = signal.aborted && !closing.aborted;
    if (route.by === "server") {
      const { server, plan } = route;
      const known = isByCaller ? undefined : server.exit;
      const exit = error instanceof ServerCallError ? error.exit : known;
      if (exit !== undefined) {
        const { exitCode, signal: by, reason, stderrTail } = exit;
        const details = { exitCode, signal: by, ...(reason && { reason }), stderr: stderrTail };
        return failedResult(describeServerExit(plan.label, exit), "FatalError", details);
      }
    } else {
      const known = isByCaller ? undefined : runners.exitOf(route.code.owner);
      const exit = error instanceof CodeExitError ? error : known;
      if (exit !== undefined) {
        const { exitCode, signal: by } = exit;
        const { message, stderr } = describeCodeExit(exit, (text) => memory.redact(text));
        return failedResult(message, "FatalError", { exitCode, signal: by, stderr });
      }
    }
    if (limit.isOver) return failedResult(limit.message);
    if (signal.aborted) throw signal.reason;
    const isLate = error instanceof ServerCallError && error.reason === "timeout";
    return failedResult(isLate ? limit.message : error instanceof Error ? error.message : String(error));
  }

  /** The keys of the memory that a tool's pack may see; `undefined` for all. */
  #visibleMemory({ packs }: SessionConfig, pack: string | undefined): readonly string[] | undefined {
    const policy = packs.memory;
    if (pack === undefined || policy === "all") return undefined;
    if (policy === "none") return [];
    return Object.hasOwn(policy, pack) ? policy[pack] : [];
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
    { id, scope, state, depth, signal, limit, args, onProgress }: Invocation,
    { server, plan, advertisedName, legacyContext }: Extract<ToolRoute, { by: "server" }>,
  ): Promise<ToolResult> {
    // A remote server gets no address that it could call back.
    const callback = "url" in plan ? undefined : this.#options.callback;
    const { config } = state;
    const { sessionId, memory } = scope;
    const { label, key, pack } = plan;
    if (server.exit !== undefined) return failedResult(describeServerExit(label, server.exit), "FatalError");
    const facts = {
      sessionId,
      invocationId: id,
      baseUrl: callback?.baseUrl,
      device: config.device,
      memory: memory.snapshot(this.#visibleMemory(config, pack)),
    };
    const sent = legacyContext ? { ...args, [legacyContextKey]: createLegacyContext(facts) } : args;
    callback?.beginInvocation(id, key, depth, signal, sessionId);
    try {
      // During a restart, the call waits for the server within its own timeout.
      const connected = server.current ?? (await abortable(signal, () => server.ready));
      limit.end();
      const answer = await connected.callTool(
        { name: advertisedName, arguments: sent, _meta: { trailblaze: createCallMeta(facts) } },
        { signal, timeoutMs: limit.restMs(), onProgress },
      );
      return this.#readAnswer(answer, scope);
    } finally {
      callback?.endInvocation(id);
    }
  }

  async #callCode(invocation: Invocation, tool: RunnableTool): Promise<ToolResult> {
    const { id, scope, state, candidate, args, depth, signal, limit, onProgress } = invocation;
    const { runners } = this.#options;
    const { config } = state;
    const { sessionId, memory } = scope;
    const { owner, initialize, options } = tool.code;
    const { name } = candidate.tool;
    const visible = this.#visibleMemory(config, owner.pack?.qualifiedName);
    const callMemory = new CallMemory(memory, visible);
    const legacyContext = createLegacyContext({ memory: memory.snapshot(visible), device: config.device });
    const outcome = await invokeTool(tool, {
      ...{ args, depth, legacyContext, maxDepth: config.callback.maxDepth, isOverdue: limit.isOverdue },
      validator: await this.#options.validator(),
      request: {
        name: tool.entry?.name ?? name,
        ...(scope.request ?? { meta: {}, session: { id: sessionId, clientInfo: {}, capabilities: {} } }),
      },
      context: {
        ...{ signal, sessionId, invocationId: id, device: legacyContext.device, memory: callMemory },
        log: (level, data) => scope.log({ tool: name, level, data }),
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
        const result = await this.#callInside(called, values, invocation, { signal, depth: innerDepth });
        return { ...result, isError: result.variant !== "Success" };
      },
    });
    if ("result" in outcome) {
      if (outcome.fault !== undefined) scope.log({ tool: name, level: "error", data: outcome.fault });
      return this.#readAnswer(outcome.result, scope, callMemory);
    }
    if ("inputRequired" in outcome) {
      const { requests: inputRequests, ...state } = outcome.inputRequired;
      return failedResult(describeRequests(inputRequests), "InputRequired", { inputRequests, ...state });
    }
    return this.#readAnswer(toErrorResult(outcome), scope);
  }
}

/** Converts a JSON-RPC error of a bundle's entry to a failed result, with code and data as details. */
function toErrorResult({ error, uncaught }: Extract<BundleOutcome, { error: unknown }>): CallToolResult {
  const { code, data } = error;
  return {
    ...createErrorResult(uncaught?.message ?? error.message),
    _meta: { trailblaze: { code, ...(data === undefined ? {} : { data }) } },
  };
}

type Limit = ReturnType<typeof createLimit>;

/** Aborts `stop` after a timeout; `isOver` then is true. */
function createLimit(stop: AbortController, milliseconds: number) {
  const begun = performance.now();
  const elapsed = () => performance.now() - begun;
  const message = `The tool did not answer within ${milliseconds} ms.`;
  const limit = {
    message,
    isOver: false,
    restMs: () => Math.max(1, milliseconds - elapsed()),
    /** For synchronous code, during which no timer fires. */
    isOverdue: () => elapsed() > milliseconds,
    end: () => clearTimeout(timer),
  };
  const timer = setTimeout(() => {
    limit.isOver = true;
    stop.abort(new DOMException(message, "TimeoutError"));
  }, milliseconds);
  return limit;
}
