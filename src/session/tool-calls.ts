import { randomUUID } from "node:crypto";
import type { CallbackCall, CallbackOutcome } from "../callback/answers.ts";
import type { CallbackEndpoint } from "../callback/callback-endpoint.ts";
import type { SessionConfig } from "../config/session-config.ts";
import type { SchemaValidator } from "../json-schema/schema-validator.ts";
import { ServerCallError } from "../mcp/client/connected-server.ts";
import { copyArguments } from "../mcp/client/copy-arguments.ts";
import { createCallMeta, createLegacyContext } from "../mcp/envelope.ts";
import { abortable, timerMs, whenAborted } from "../runtime/abort-listeners.ts";
import type { BundleOutcome } from "../runtime/bundle.ts";
import type { RunnableTool } from "../runtime/bundle-tools.ts";
import { CodeDiedError } from "../runtime/code-died-error.ts";
import { type CodeRunners, describeCodeDeath } from "../runtime/code-runners.ts";
import { createErrorResult } from "../runtime/convert-result.ts";
import { legacyContextKey } from "../runtime/handler-context.ts";
import { type InnerResult, invokeTool } from "../runtime/invoke-tool.ts";
import { notifyHost } from "../runtime/late-reports.ts";
import type { CallToolResult } from "../runtime/tool-result.ts";
import { failedResult, readToolResult, type ToolResult } from "../runtime/tool-result.ts";
import { CallMemory, type SessionMemory } from "./session-memory.ts";
import { describeServerExit } from "./session-servers.ts";
import type { ToolCandidate, ToolRoute } from "./session-tool.ts";

/** A message of a tool while it runs. */
export interface ToolLog {
  /** Advertised name, or a server's name where it does not say which call it belongs to. */
  tool: string;
  level: string;
  data: unknown;
}

export interface ToolProgress {
  progress: number;
  total?: number;
  message?: string;
}

export interface CallOptions {
  /** Ends the call: it rejects with the signal's reason, after the server was told. */
  signal?: AbortSignal | undefined;
  /** Milliseconds; default: the config's `timeouts.callMs`. */
  timeoutMs?: number | undefined;
  onProgress?: ((progress: ToolProgress) => void) | undefined;
}

/** What calls take of their session. */
export interface ToolCallsOptions {
  sessionId: string;
  config: SessionConfig;
  memory: SessionMemory;
  runners: CodeRunners;
  callback: CallbackEndpoint | undefined;
  validator: () => Promise<SchemaValidator>;
  /** Aborted, with the error of a closed session, when the session ends. */
  closing: AbortSignal;
  /** The tool that a name means to its caller. Throws `TrailblazeError` for an unknown one. */
  resolve(name: string, caller: ToolCandidate | undefined): ToolCandidate;
  record(name: string, args: Readonly<Record<string, unknown>>): void;
  log(entry: ToolLog): void;
}

/** One call under way. */
interface Invocation {
  id: string;
  candidate: ToolCandidate;
  /** 0 for a call of the host, one more for each call inside another. */
  depth: number;
  /** Whether the call, if it succeeds, belongs into the recording. */
  recorded: boolean;
  args: Record<string, unknown>;
  signal: AbortSignal;
  limit: Limit;
  onProgress: CallOptions["onProgress"];
}

/** Carries out calls: of the host, of tools in this process, and of servers through the callback. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  readonly #running = new Map<string, Invocation>();

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  /** A call of the host. */
  async callFromHost(candidate: ToolCandidate, args: unknown, options: CallOptions): Promise<ToolResult> {
    return this.#call(candidate, args, { ...options, depth: 0, recorded: true });
  }

  /** A call of a server while it carries one out itself. */
  async callFromServer({ invocationId, depth, toolName, ...call }: CallbackCall): Promise<CallbackOutcome> {
    const outer = this.#running.get(invocationId);
    if (outer === undefined)
      return { success: false, errorMessage: "The call that this belongs to is over." };
    let candidate: ToolCandidate;
    try {
      candidate = this.#options.resolve(toolName, outer.candidate);
    } catch (error) {
      return { success: false, errorMessage: (error as Error).message };
    }
    // The server of a tool checks what it is sent, but here the schema is the only thing the caller was promised.
    if (candidate.route.by === "server") {
      const validator = await this.#options.validator();
      const checked = validator.check(candidate.tool.inputSchema, call.arguments);
      // A schema that cannot be used is between the host and the server's author, who checks all the same.
      if (!checked.ok && checked.schemaFault === undefined) {
        return { success: false, errorMessage: `The arguments break the schema: ${checked.message}` };
      }
    }
    const { signal } = call;
    const timeoutMs = this.#options.config.callback.timeoutMs;
    const result = await this.#callInside(candidate, call.arguments, outer, { signal, timeoutMs, depth });
    if (result.variant !== "Success") return { success: false, errorMessage: result.message };
    const { structuredContent } = result;
    return { success: true, text: result.message, ...(structuredContent ? { structuredContent } : {}) };
  }

  /** A call inside another: of what is recorded, only the outermost. */
  #callInside(
    candidate: ToolCandidate,
    args: unknown,
    outer: Invocation,
    options: CallOptions & { depth: number },
  ): Promise<ToolResult> {
    const recorded = outer.recorded && !outer.candidate.meta.isRecordable;
    return this.#call(candidate, args, { ...options, recorded });
  }

  async #call(
    candidate: ToolCandidate,
    args: unknown,
    { depth, recorded, signal, ...options }: CallOptions & Pick<Invocation, "depth" | "recorded">,
  ): Promise<ToolResult> {
    const { closing, config, memory } = this.#options;
    closing.throwIfAborted();
    signal?.throwIfAborted();
    const copied = copyArguments(args);
    if ("fault" in copied) return failedResult(copied.fault);

    const stop = new AbortController();
    const release = [closing, ...(signal === undefined ? [] : [signal])].map((one) =>
      whenAborted(one, () => stop.abort(one.reason)),
    );
    const limit = createLimit(stop, Math.max(1, timerMs(options.timeoutMs ?? config.timeouts.callMs)));
    // What a tool says on the way may hold what is sensitive, as any other string.
    const onProgress: CallOptions["onProgress"] = ({ message, ...step }) => {
      const clean = message === undefined ? step : { ...step, message: memory.redact(message) };
      notifyHost(() => options.onProgress?.(clean));
    };
    const invocation: Invocation = {
      ...{ id: randomUUID(), candidate, depth, recorded, limit, args: copied.args, signal: stop.signal },
      onProgress: options.onProgress && onProgress,
    };
    const { id } = invocation;
    const { route, tool, meta } = candidate;
    this.#running.set(id, invocation);
    try {
      const result =
        route.by === "server"
          ? await this.#callServer(invocation, route)
          : await this.#callCode(invocation, route);
      if (result.variant === "Success" && recorded && meta.isRecordable) {
        // As they were given: what the tool's schema fills in here, it will fill in again.
        this.#options.record(tool.name, route.by === "server" ? copied.args : JSON.parse(copied.json));
      }
      return result;
    } catch (error) {
      return this.#failedCall(error, invocation);
    } finally {
      limit.end();
      this.#running.delete(id);
      for (const end of release) end();
    }
  }

  /**
   * The result of a call that an error ended: the end of the process that carried it out, its time, or the error itself.
   * Throws the reason of the signal where that ended the call.
   */
  #failedCall(error: unknown, { candidate: { route }, signal, limit }: Invocation): ToolResult {
    const { closing, memory, runners } = this.#options;
    // The end of a process may end the session, and the calls that it carried out are to learn which came first.
    const isByCaller = signal.aborted && !closing.aborted;
    if (route.by === "server") {
      const { server } = route;
      const known = isByCaller ? undefined : server.death;
      const death = error instanceof ServerCallError ? error.death : known;
      if (death !== undefined) {
        const { exitCode, signal: by, reason, stderrTail } = death;
        const details = { exitCode, signal: by, ...(reason && { reason }), stderr: stderrTail };
        return failedResult(describeServerExit(server.plan.label, death), "FatalError", details);
      }
    } else {
      const known = isByCaller ? undefined : runners.deathOf(route.code.owner);
      const death = error instanceof CodeDiedError ? error : known;
      if (death !== undefined) {
        const { exitCode, signal: by } = death;
        const { message, stderr } = describeCodeDeath(death, (text) => memory.redact(text));
        return failedResult(message, "FatalError", { exitCode, signal: by, stderr });
      }
    }
    if (limit.isOver) return failedResult(limit.message);
    if (signal.aborted) throw signal.reason;
    const isLate = error instanceof ServerCallError && error.reason === "timeout";
    return failedResult(isLate ? limit.message : error instanceof Error ? error.message : String(error));
  }

  /** The keys of the memory that a tool's pack may see; `undefined` for all. */
  #visibleMemory(pack: string | undefined): readonly string[] | undefined {
    const policy = this.#options.config.packs.memory;
    if (pack === undefined || policy === "all") return undefined;
    if (policy === "none") return [];
    return Object.hasOwn(policy, pack) ? policy[pack] : [];
  }

  /** What an answer means, and its changes of the memory, after those of `callMemory`, where it is a success. */
  #readAnswer(answer: CallToolResult, callMemory?: CallMemory): ToolResult {
    const { memory } = this.#options;
    const { result, memory: changes } = readToolResult(answer);
    if (result.variant === "Success") callMemory?.commit();
    for (const key of changes?.deletions ?? []) memory.delete(key);
    for (const [key, value] of changes?.delta ?? []) memory.set(key, value);
    return result;
  }

  async #callServer(
    { id, depth, signal, limit, args, onProgress }: Invocation,
    { server, advertisedName, legacyContext }: Extract<ToolRoute, { by: "server" }>,
  ): Promise<ToolResult> {
    const { sessionId, callback, config, memory } = this.#options;
    const { label, key, pack } = server.plan;
    if (server.death !== undefined)
      return failedResult(describeServerExit(label, server.death), "FatalError");
    const facts = {
      sessionId,
      invocationId: id,
      baseUrl: callback?.baseUrl,
      device: config.device,
      memory: memory.snapshot(this.#visibleMemory(pack)),
    };
    const sent = legacyContext ? { ...args, [legacyContextKey]: createLegacyContext(facts) } : args;
    callback?.beginInvocation(id, key, depth, signal);
    try {
      // While it is started again, the call waits for it within its own limits.
      const connected = server.current ?? (await abortable(signal, () => server.ready));
      limit.end();
      const answer = await connected.callTool(
        { name: advertisedName, arguments: sent, _meta: { trailblaze: createCallMeta(facts) } },
        { signal, timeoutMs: limit.restMs(), onProgress },
      );
      return this.#readAnswer(answer);
    } finally {
      callback?.endInvocation(id);
    }
  }

  async #callCode(invocation: Invocation, tool: RunnableTool): Promise<ToolResult> {
    const { id, candidate, args, depth, signal, limit, onProgress } = invocation;
    const { sessionId, memory, config, runners, log } = this.#options;
    const { owner, initialize, options } = tool.code;
    const { name } = candidate.tool;
    const visible = this.#visibleMemory(owner.pack?.qualifiedName);
    const callMemory = new CallMemory(memory, visible);
    const legacyContext = createLegacyContext({ memory: memory.snapshot(visible), device: config.device });
    const outcome = await invokeTool(tool, {
      ...{ args, depth, legacyContext, maxDepth: config.callback.maxDepth, isOverdue: limit.isOverdue },
      validator: await this.#options.validator(),
      request: {
        name: tool.entry?.name ?? name,
        meta: {},
        session: { id: sessionId, clientInfo: {}, capabilities: {} },
      },
      context: {
        ...{ signal, sessionId, invocationId: id, device: legacyContext.device, memory: callMemory },
        log: (level, data) => log({ tool: name, level, data }),
        progress: (progress, total, message) =>
          onProgress?.({
            progress,
            ...(total === undefined ? {} : { total }),
            ...(message === undefined ? {} : { message }),
          }),
      },
      getRunner: async () => {
        const runner = await runners.get(owner);
        // It may never end, and the call has a limit.
        if (initialize) await abortable(signal, () => runner.initialize(initialize, { options }));
        return runner;
      },
      callTool: async (inner, values, innerDepth): Promise<InnerResult> => {
        const called = this.#options.resolve(inner, candidate);
        const result = await this.#callInside(called, values, invocation, { signal, depth: innerDepth });
        return { ...result, isError: result.variant !== "Success" };
      },
    });
    return this.#readAnswer("result" in outcome ? outcome.result : toErrorResult(outcome), callMemory);
  }
}

/** What an entry of a bundle answers clients with as an error is a failure here, with code and data as details. */
function toErrorResult({ error, uncaught }: Extract<BundleOutcome, { error: unknown }>): CallToolResult {
  const { code, data } = error;
  return {
    ...createErrorResult(uncaught?.message ?? error.message),
    _meta: { trailblaze: { code, ...(data === undefined ? {} : { data }) } },
  };
}

type Limit = ReturnType<typeof createLimit>;

/** Aborts after a time, and tells whether that was why. */
function createLimit(stop: AbortController, milliseconds: number) {
  const begun = performance.now();
  const elapsed = () => performance.now() - begun;
  const message = `It gave no answer within ${milliseconds} ms.`;
  const limit = {
    message,
    isOver: false,
    restMs: () => Math.max(1, milliseconds - elapsed()),
    /** For what runs without a pause, so that no timer gets a turn. */
    isOverdue: () => elapsed() > milliseconds,
    end: () => clearTimeout(timer),
  };
  const timer = setTimeout(() => {
    limit.isOver = true;
    stop.abort(new DOMException(message, "TimeoutError"));
  }, milliseconds);
  return limit;
}
