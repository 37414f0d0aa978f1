import { randomUUID } from "node:crypto";
import type { CallbackCall, CallbackOutcome } from "../callback/answers.ts";
import type { CallbackEndpoint } from "../callback/callback-endpoint.ts";
import type { SessionConfig } from "../config/session-config.ts";
import { describeStop } from "../json-schema/check-budget.ts";
import type { SchemaCheck, SchemaValidator } from "../json-schema/schema-validator.ts";
import { ServerCallError } from "../mcp/client/connected-server.ts";
import { copyArguments } from "../mcp/client/copy-arguments.ts";
import { createCallMeta, createLegacyContext, legacyContextKey } from "../mcp/envelope.ts";
import { abortable, timerMs, whenAborted } from "../runtime/abort-listeners.ts";
import { type BundleTool, runEntry } from "../runtime/bundle-tools.ts";
import { CodeDiedError } from "../runtime/code-died-error.ts";
import { type CodeRunners, describeCodeDeath } from "../runtime/code-runners.ts";
import { checkStructuredContent, createErrorResult } from "../runtime/convert-result.ts";
import type { HandlerContext } from "../runtime/handler-context.ts";
import { notifyHost } from "../runtime/late-reports.ts";
import type { Outcome } from "../runtime/tool-code.ts";
import type { CallToolResult } from "../runtime/tool-result.ts";
import { failedResult, readToolResult, type ToolResult } from "../runtime/tool-result.ts";
import { CallMemory, type SessionMemory } from "./session-memory.ts";
import { describeExit } from "./session-servers.ts";
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

/** Everything that calls need of their session. */
export interface CallMeans {
  sessionId: string;
  config: SessionConfig;
  memory: SessionMemory;
  runners: CodeRunners;
  callback: CallbackEndpoint | undefined;
  validator: () => Promise<SchemaValidator>;
  /** Aborted, with the error of a closed session, when the session ends. */
  closing: AbortSignal;
  /** The tool that a name means for whoever calls. Throws `TrailblazeError` for an unknown one. */
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
  signal: AbortSignal;
}

type Given = CallOptions & { depth: number; recorded: boolean };

/** Carries out calls: of the host, of tools in this process, and of servers through the callback. */
export class ToolCalls {
  readonly #means: CallMeans;
  readonly #running = new Map<string, Invocation>();

  constructor(means: CallMeans) {
    this.#means = means;
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
      candidate = this.#means.resolve(toolName, outer.candidate);
    } catch (error) {
      return { success: false, errorMessage: (error as Error).message };
    }
    // The server of a tool checks what it is sent, but here the schema is the only thing the caller was promised.
    if (candidate.route.by === "server") {
      const validator = await this.#means.validator();
      const checked = validator.check(candidate.tool.inputSchema, call.arguments);
      // A schema that cannot be used is between the host and the server's author, who checks all the same.
      if (!checked.ok && checked.schemaFault === undefined) {
        return { success: false, errorMessage: `The arguments break the schema: ${checked.message}` };
      }
    }
    const recorded = outer.recorded && !outer.candidate.meta.isRecordable;
    const { signal } = call;
    const timeoutMs = this.#means.config.callback.timeoutMs;
    const result = await this.#call(candidate, call.arguments, { signal, timeoutMs, depth, recorded });
    if (result.variant !== "Success") return { success: false, errorMessage: result.message };
    const { structuredContent } = result;
    return { success: true, text: result.message, ...(structuredContent ? { structuredContent } : {}) };
  }

  async #call(candidate: ToolCandidate, args: unknown, given: Given): Promise<ToolResult> {
    const { closing, config } = this.#means;
    const { signal } = given;
    const timeoutMs = Math.max(1, timerMs(given.timeoutMs ?? config.timeouts.callMs));
    closing.throwIfAborted();
    signal?.throwIfAborted();
    const copied = copyArguments(args);
    if ("fault" in copied) return failedResult(copied.fault);
    const { json } = copied;

    const stop = new AbortController();
    const forget = [
      whenAborted(closing, () => stop.abort(closing.reason)),
      ...(signal === undefined ? [] : [whenAborted(signal, () => stop.abort(signal.reason))]),
    ];
    const invocation: Invocation = {
      id: randomUUID(),
      candidate,
      depth: given.depth,
      recorded: given.recorded,
      signal: stop.signal,
    };
    this.#running.set(invocation.id, invocation);
    try {
      const { route } = candidate;
      const onProgress = this.#cleanProgress(given.onProgress);
      const call = { args: copied.args, timeoutMs, onProgress, stop };
      const result =
        route.by === "server"
          ? await this.#callServer(invocation, route, call)
          : await this.#callCode(invocation, route, call);
      if (result.variant === "Success" && invocation.recorded && candidate.meta.isRecordable) {
        // As they were given: what the tool's schema fills in here, it will fill in again.
        this.#means.record(candidate.tool.name, route.by === "server" ? call.args : JSON.parse(json));
      }
      return result;
    } finally {
      this.#running.delete(invocation.id);
      for (const end of forget) end();
    }
  }

  /** What a tool says on the way is a text like any other: without what is sensitive. */
  #cleanProgress(onProgress: CallOptions["onProgress"]): CallOptions["onProgress"] {
    if (onProgress === undefined) return undefined;
    return ({ message, ...step }) => {
      const clean = message === undefined ? step : { ...step, message: this.#means.memory.redact(message) };
      notifyHost(() => onProgress(clean));
    };
  }

  /** The keys of the memory that a tool's pack may see; `undefined` for all. */
  #visibleMemory(pack: string | undefined): readonly string[] | undefined {
    const policy = this.#means.config.packs.memory;
    if (pack === undefined || policy === "all") return undefined;
    if (policy === "none") return [];
    return Object.hasOwn(policy, pack) ? policy[pack] : [];
  }

  async #callServer(
    { id, depth, signal }: Invocation,
    { server, advertisedName, legacyContext }: Extract<ToolRoute, { by: "server" }>,
    { args, timeoutMs, onProgress, stop }: RunningCall,
  ): Promise<ToolResult> {
    const { sessionId, callback, config, memory } = this.#means;
    const { label, key, pack } = server.plan;
    if (server.death !== undefined) return failedResult(describeExit(label, server.death), "FatalError");
    const facts = {
      sessionId,
      invocationId: id,
      baseUrl: callback?.baseUrl,
      device: config.device,
      memory: memory.snapshot(this.#visibleMemory(pack)),
    };
    const sent = legacyContext ? { ...args, [legacyContextKey]: createLegacyContext(facts) } : args;
    callback?.beginInvocation(id, key, depth, signal);
    const begun = performance.now();
    const { current } = server;
    // While it is started again, the call waits for it within its own limits.
    const limit = current === undefined ? createLimit(stop, timeoutMs) : undefined;
    try {
      const connected = current ?? (await abortable(signal, () => server.ready));
      limit?.end();
      const answer = await connected.callTool(
        { name: advertisedName, arguments: sent, _meta: { trailblaze: createCallMeta(facts) } },
        { signal, timeoutMs: Math.max(1, timeoutMs - (performance.now() - begun)), onProgress },
      );
      const { result, memory: changes } = readToolResult(answer);
      for (const key of changes?.deletions ?? []) memory.delete(key);
      for (const [key, value] of changes?.delta ?? []) memory.set(key, value);
      return result;
    } catch (error) {
      if (limit?.isOver) return failedResult(describeDelay(timeoutMs));
      // The end of a server may end the session, and the calls that it carried out are to learn which came first.
      const isByCaller = signal.aborted && !this.#means.closing.aborted;
      const death = error instanceof ServerCallError ? error.death : isByCaller ? undefined : server.death;
      if (death !== undefined) {
        const { exitCode, signal: by, reason, stderrTail } = death;
        const details = { exitCode, signal: by, ...(reason && { reason }), stderr: stderrTail };
        return failedResult(describeExit(label, death), "FatalError", details);
      }
      if (signal.aborted) throw signal.reason;
      return failedResult(
        error instanceof ServerCallError && error.reason === "timeout"
          ? describeDelay(timeoutMs)
          : messageOf(error),
      );
    } finally {
      limit?.end();
      callback?.endInvocation(id);
    }
  }

  async #callCode(
    invocation: Invocation,
    route: Extract<ToolRoute, { by: "code" | "bundle" }>,
    { args, timeoutMs, onProgress, stop }: RunningCall,
  ): Promise<ToolResult> {
    const { tool } = invocation.candidate;
    const { memory, config } = this.#means;
    const validator = await this.#means.validator();
    const begun = performance.now();
    // For what runs without a pause, so that no timer gets a turn.
    const isOverdue = () => performance.now() - begun > timeoutMs;
    // The arguments were copied before they came here.
    const checked = validator.checkOwned(tool.inputSchema, args, isOverdue);
    if (!checked.ok) return failedResult(describeRefusal(checked));

    const visible = this.#visibleMemory(route.owner.pack?.qualifiedName);
    const callMemory = new CallMemory(memory, visible);
    const { options, initialize } = route.by === "code" ? route : route.tool.code;
    const context = this.#createContext(invocation, options, callMemory, onProgress);
    const legacyContext = createLegacyContext({ memory: memory.snapshot(visible), device: config.device });
    const hide = (values: Record<string, unknown>) =>
      Object.defineProperty(values, legacyContextKey, { value: legacyContext, configurable: true });
    const limit = createLimit(stop, timeoutMs);
    try {
      const runner = await this.#means.runners.get(route.owner);
      if (initialize !== undefined) {
        // It may take for ever, and who called has a limit.
        await abortable(stop.signal, () => runner.initialize(initialize, { options }));
      }
      const answer =
        route.by === "code"
          ? await runner.call(route.handler, hide(checked.value), context)
          : await this.#callEntry(route.tool, checked.value, isOverdue, (inputs) =>
              runner.invoke(route.tool.code.handler, hide(inputs), context),
            );
      const { result, memory: changes } = readToolResult(
        await checkStructuredContent(answer, tool.outputSchema, validator, isOverdue),
      );
      if (result.variant === "Success") {
        callMemory.commit();
        for (const key of changes?.deletions ?? []) memory.delete(key);
        for (const [key, value] of changes?.delta ?? []) memory.set(key, value);
      }
      return result;
    } catch (error) {
      const isByCaller = stop.signal.aborted && !this.#means.closing.aborted;
      const death =
        error instanceof CodeDiedError
          ? error
          : isByCaller
            ? undefined
            : this.#means.runners.deathOf(route.owner);
      if (death !== undefined) {
        const { exitCode, signal: by } = death;
        const { message, stderr } = describeCodeDeath(death, (text) => memory.redact(text));
        return failedResult(message, "FatalError", { exitCode, signal: by, stderr });
      }
      if (limit.isOver) return failedResult(describeDelay(timeoutMs));
      if (stop.signal.aborted) throw stop.signal.reason;
      return failedResult(messageOf(error));
    } finally {
      limit.end();
    }
  }

  /** Calls an entry of a bundle; an error that it maps for clients is a failure here, with code and data as details. */
  async #callEntry(
    { entry, code }: BundleTool,
    args: Record<string, unknown>,
    isOverdue: () => boolean,
    invoke: (inputs: Record<string, unknown>) => Promise<Outcome>,
  ): Promise<CallToolResult> {
    const session = { id: this.#means.sessionId, clientInfo: {}, capabilities: {} };
    const request = { name: entry.name, arguments: args, meta: {}, session };
    const validator = await this.#means.validator();
    const outcome = await runEntry({ entry, code }, request, validator, invoke, isOverdue);
    if ("result" in outcome) return outcome.result;
    const { error, uncaught } = outcome;
    const { code: number, data } = error;
    return {
      ...createErrorResult(uncaught?.message ?? error.message),
      _meta: { trailblaze: { code: number, ...(data === undefined ? {} : { data }) } },
    };
  }

  #createContext(
    { id, candidate, depth, signal, recorded }: Invocation,
    options: Readonly<Record<string, unknown>>,
    memory: CallMemory,
    onProgress: CallOptions["onProgress"],
  ): HandlerContext {
    const { sessionId, config, log } = this.#means;
    const { device } = createLegacyContext({ memory: {}, device: config.device });
    return {
      signal,
      options,
      sessionId,
      invocationId: id,
      device,
      memory,
      log: (level, data) => log({ tool: candidate.tool.name, level, data }),
      progress: (progress, total, message) =>
        onProgress?.({
          progress,
          ...(total === undefined ? {} : { total }),
          ...(message === undefined ? {} : { message }),
        }),
      callTool: async (name, args) => {
        const result = await this.#callFromCode(name, args, { candidate, depth, signal, recorded });
        return { ...result, isError: result.variant !== "Success" };
      },
    };
  }

  async #callFromCode(
    name: string,
    args: unknown,
    outer: Pick<Invocation, "candidate" | "depth" | "signal" | "recorded">,
  ): Promise<ToolResult> {
    const depth = outer.depth + 1;
    const { maxDepth } = this.#means.config.callback;
    if (depth > maxDepth) return failedResult(`Calls are nested deeper than ${maxDepth}.`);
    const candidate = this.#means.resolve(name, outer.candidate);
    const recorded = outer.recorded && !outer.candidate.meta.isRecordable;
    return this.#call(candidate, args, { signal: outer.signal, depth, recorded });
  }
}

/** Aborts after a time, and tells whether that was why. */
function createLimit(stop: AbortController, milliseconds: number) {
  const limit = { isOver: false, end: () => clearTimeout(timer) };
  const timer = setTimeout(() => {
    limit.isOver = true;
    stop.abort(new DOMException(describeDelay(milliseconds), "TimeoutError"));
  }, milliseconds);
  return limit;
}

const describeDelay = (timeoutMs: number) => `It gave no answer within ${timeoutMs} ms.`;

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function describeRefusal({ message, schemaFault, stopped }: Extract<SchemaCheck, { ok: false }>): string {
  if (stopped !== undefined) return describeStop("the arguments", stopped);
  return schemaFault === undefined
    ? `The arguments break the schema: ${message}`
    : `The tool's inputSchema cannot be used: ${schemaFault}`;
}

interface RunningCall {
  args: Record<string, unknown>;
  timeoutMs: number;
  onProgress: CallOptions["onProgress"];
  stop: AbortController;
}
