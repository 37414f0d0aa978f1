// The one path of every call of a tool, a prompt, a resource or a skill, by hosts, clients, tools and servers. Only a search of
// tools is answered before it.
import { randomUUID } from "node:crypto";
import type { Invocation } from "../callback/callback-endpoint.ts";
import { matchesAny } from "../config/packs-policy.ts";
import type { Device } from "../config/session-config.ts";
import { carryIntegers, parseExactly, stringifyExactly } from "../data/exact-integers.ts";
import { describeType, isRecord } from "../data/parse-json.ts";
import type { SchemaValidator } from "../json-schema/schema-validator.ts";
import { ownEntry } from "../lock/json.ts";
import { saysUnknownResource } from "../mcp/client/json-rpc.ts";
import type { Server } from "../mcp/client/server.ts";
import {
  noteLeftOut,
  ServerCallError,
  type ServerCallOptions,
  type ServerCompletion,
  type Suggestions,
} from "../mcp/client/server-calls.ts";
import { RpcError } from "../mcp/client-message.ts";
import {
  createProblem,
  describeExit,
  failure,
  printable,
  quote,
  shorten,
  TrailblazeError,
} from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { abortable, CallStop, type Cancellation, whenAborted } from "../runtime/abort-listeners.ts";
import { declaredApps, toOwn } from "../runtime/apps.ts";
import { type BundleRequest, EntryError, invokeTool, type RunnableTool } from "../runtime/bundle.ts";
import { type CodeUse, convertReturned, describeRefusal } from "../runtime/convert-result.ts";
import { describeReturned } from "../runtime/handler-code.mjs";
import { type InputRound, legacyContextKey, type RunContext } from "../runtime/handler-context.ts";
import {
  type AskedRound,
  type AskInput,
  answerRounds,
  InvalidQuestionError,
  listRequests,
} from "../runtime/input-rounds.ts";
import { TimeLimit } from "../runtime/time-limit.ts";
import { CodeExitError, type CodeOwner, processOfCode } from "../runtime/tool-code.ts";
import {
  type CallToolResult,
  type ContentBlock,
  failedResult,
  type PromptResult,
  type ReadAnswer,
  readToolResult,
  type ToolResult,
} from "../runtime/tool-result.ts";
import { rootOf } from "../skills/skill-entry.ts";
import { type PackPrompt, type PackResource, suggestValues } from "./collect-items.ts";
import { askHost, createHostInput, type Listeners, listen, type ToolLog } from "./host-functions.ts";
import {
  type ItemOf,
  labelOf,
  makerOf,
  type ResourceRoute,
  type Route,
  type SessionItem,
  type SessionPrompt,
  type SkillItem,
  type ToolItem,
} from "./items.ts";
import { LargeResults } from "./large-results.ts";
import { patternNames } from "./names.ts";
import type { SessionFrame } from "./session-frame.ts";
import { createCallMemory, type SessionMemory } from "./session-memory.ts";
import { findSkillFile, readSkill } from "./session-skills.ts";
import type { SessionState } from "./session-state.ts";

/** `arguments._trailblazeContext`: only memory and device, the platform in upper case. */
export const createLegacyContext = (memory: Record<string, string>, device: Device | undefined) => ({
  memory,
  device: device === undefined ? null : { ...device },
});

/** `_meta.trailblaze` of a `tools/call`, the platform in lower case. `baseUrl`: `undefined` if callbacks are disabled. */
export function createCallMeta(
  call: { sessionId: string; invocationId: string },
  baseUrl: string | undefined,
  memory: Record<string, string>,
  device: Device | undefined,
) {
  const lower = device ? { ...device, platform: device.platform?.toLowerCase() ?? null } : null;
  return { ...(baseUrl !== undefined && { baseUrl }), ...call, device: lower, memory };
}

/** A call's arguments as JSON, of which every tool gets the same values wherever it runs. Throws `CallFailure`. */
function writeArguments(given: unknown = {}): string {
  if (!isRecord(given)) throw refuse(`The arguments must be an object, but they are ${describeType(given)}.`);
  let json: string | undefined;
  try {
    const { [legacyContextKey]: _, ...others } = given;
    const isOwn = Object.hasOwn(given, legacyContextKey);
    json = stringifyExactly(isOwn ? carryIntegers(given, others) : given);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw refuse(`The arguments cannot be written as JSON: ${reason}`);
  }
  // `toJSON` can return something else than an object.
  if (json?.startsWith("{")) return json;
  throw refuse("The arguments must be an object, also as JSON.");
}

/** For whom a call is executed: the session itself, or one of the clients that it is served to. */
export interface CallScope {
  sessionId: string;
  memory: SessionMemory;
  /** Who may read the whole of its large results. */
  reader: string;
  /** What entries of bundles see of the client's request. */
  request: Pick<BundleRequest, "meta" | "session">;
  log(entry: ToolLog): void;
  /** Reports to the operator what a pack's author has to fix; `log` goes to a client. */
  reportFault?(message: string): void;
  /** Gets the JSON-RPC error of a bundle's entry, of which the result has the code and the data as details. */
  onError?(error: EntryError): void;
  /**
   * Asks for input; `undefined` if the session has no user. For a modern client it cancels the call: the client repeats it with the
   * answers as `round`.
   */
  ask: AskInput | undefined;
}

export interface CallRequest extends Listeners {
  scope: CallScope;
  /** The state that the call uses until its end, also for nested calls. */
  state: SessionState;
  signal?: Cancellation | undefined;
  timeoutMs?: number | undefined;
  /** What a client answers that the call asked in an earlier request. */
  round?: InputRound | undefined;
  parent?: Call;
}

/** Characters of the question whether a call may run, with the note that some are left out. */
const longestQuestion = 1960;

/** How many links are remembered, of those that results had last. */
const mostLinks = 10_000;
const longestLink = 8192;

interface Target<Code = unknown> {
  kind: SessionItem["kind"];
  /** The advertised name, or the URI. */
  name: string;
  route: Route<Code>;
  tool?: ToolItem;
}

/** An open call, or the watch of a resource. */
interface Call {
  target: Target;
  id: string;
  request: CallRequest;
  /** 0 for a call of the host or of a client, one more for each nested call. */
  depth: number;
  /** The times of the call and of those around it, which stand still while the user is asked. */
  limits: readonly TimeLimit[];
  heard: Listeners;
  stop: CallStop;
  /** The answers to what it asked before. */
  round?: InputRound | undefined;
  /** Ends the callbacks of its server. Made by the first one: most calls have none. */
  ended?: AbortController;
}

const methods: Partial<Record<SessionItem["kind"], string>> = { tool: "tools/call", prompt: "prompts/get" };

/** The pack whose code or server answers; `undefined` for the host's own code, and servers of the config. */
const packOf = ({ route }: Target): string | undefined =>
  route.by === "code" ? route.owner.pack?.qualifiedName : route.from.plan.pack;

const describeLate = ({ kind }: Target, { ms }: TimeLimit) => `The ${kind} did not answer within ${ms} ms.`;

/**
 * What a call results in that was not canceled and that no tool has answered, as the result of a tool. `cause`: the error, if it is
 * not an exit or the end of its time.
 */
class CallFailure extends Error {
  readonly result: ToolResult;

  constructor(result: ToolResult, cause?: unknown) {
    super(result.message, { cause });
    this.result = result;
  }
}

const refuse = (message: string, details?: Record<string, unknown>, cause?: unknown) =>
  new CallFailure(failedResult(message, "ExceptionThrown", details), cause);

/** The open calls of a session, from the copy of their arguments to the record of their success. */
export class Calls {
  readonly #frame: SessionFrame;
  readonly #closing: AbortSignal;
  readonly #open = new Map<string, Call>();
  readonly own: CallScope;
  #validator: SchemaValidator | undefined;
  readonly large: LargeResults;
  /** The makers of the links that results had, by URI: a link need not be listed. */
  readonly #links = new Map<string, string | undefined>();

  constructor(frame: SessionFrame) {
    const { id, memory, log, options } = frame;
    const capabilities = options.extensions === undefined ? {} : { extensions: options.extensions };
    const request = { meta: {}, session: { id, clientInfo: {}, capabilities } };
    this.own = { sessionId: id, reader: id, memory, request, log, ask: createHostInput(frame) };
    this.#frame = frame;
    this.#closing = frame.resources.closing;
    this.large = new LargeResults(frame.logDir);
    whenAborted(this.#closing, () => {
      for (const { stop } of this.#open.values()) stop.abort(this.#closing.reason);
    });
  }

  /**
   * Executes a call: its code or its server answers within its limits, or asks and is called again with the answers. Rejects with
   * `CallFailure`, or with the reason of what cancels it.
   */
  async #execute<Answer extends object>(
    target: Target,
    request: CallRequest,
    run: (call: Call) => Promise<Answer>,
  ): Promise<Answer> {
    const { signal, timeoutMs, state, scope, parent } = request;
    const { name, route } = target;
    this.#closing.throwIfAborted();
    signal?.throwIfAborted();
    const stop = new CallStop();
    const release = signal && whenAborted(signal, () => stop.abort(signal.reason));
    const { plan, server } = route.by === "server" ? route.from : {};
    const ms = timeoutMs ?? plan?.entry.timeouts?.callMs ?? state.config.timeouts.callMs;
    const onLate = () => stop.abort(new DOMException(describeLate(target, limit), "TimeoutError"));
    const limit = new TimeLimit(ms, onLate);
    const id = randomUUID();
    const heard = listen(request, name, scope.memory, this.#frame.reportOnce, () => this.#open.has(id));
    const depth = parent === undefined ? 0 : parent.depth + 1;
    const limits = [limit, ...(parent?.limits ?? [])];
    // Without a spread, which would take as long as the rest of a call.
    const call: Call = { target, id, request, depth, limits, heard, stop };
    this.#open.set(id, call);
    // Until its last round, in which it may ask the user.
    server?.beginRequest();
    const endCall = state.parts.reading.holds.use();
    try {
      return await answerRounds(
        (round) => {
          call.round = round;
          return run(call);
        },
        ({ requests: inputRequests, ...rest }) => {
          const ask = askFor(call, { ...rest, isOutermost: parent === undefined });
          if (ask !== undefined) return ask(inputRequests, stop.signal);
          const asked = listRequests(inputRequests);
          const details = { inputRequests, ...rest };
          const result = failedResult(`The tool needs input. ${asked}`, "InputRequired", details);
          throw new CallFailure(result, failure("InputRequired", { name, asked }));
        },
        request.round,
      );
    } catch (error) {
      throw this.#explain(error, call, limit);
    } finally {
      limit.end();
      this.#open.delete(id);
      call.ended?.abort(
        new DOMException("The tool was canceled because the invocation ended.", "AbortError"),
      );
      server?.endRequest();
      endCall();
      release?.();
    }
  }

  #explain(error: unknown, call: Call, limit: TimeLimit): unknown {
    const { target, stop, depth, request } = call;
    const { name, route } = target;
    const { scope } = request;
    if (error instanceof CallFailure) return error;
    // An exit may end the session; its own calls must report the exit and not the closed session.
    const { aborted: isClosing } = this.#closing;
    const ofCode = isClosing && route.by === "code" ? this.#frame.processes.exitOf(route.owner) : undefined;
    const last = route.by === "server" ? route.from.server.exit : ofCode;
    const ofCall =
      error instanceof ServerCallError || error instanceof CodeExitError ? error.exit : undefined;
    const exit = ofCall ?? (stop.aborted && !isClosing ? undefined : last);
    if (exit !== undefined) {
      const { exitCode, signal, reason, stderrTail: stderr } = exit;
      const what = route.by === "server" ? `Server "${route.from.plan.label}"` : processOfCode;
      const details = { exitCode, signal, ...(reason && { reason }), stderr };
      // Without its output, which is not for clients and models.
      return new CallFailure(failedResult(`${what} ${describeExit(exit)}.`, "FatalError", details));
    }
    if (limit.isOver) return refuse(describeLate(target, limit));
    if (stop.aborted) return stop.reason;
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof InvalidQuestionError) {
      scope.log({ tool: name, level: "error", data: message });
      scope.reportFault?.(`${name}: ${scope.memory.redact(message)}`);
    }
    if (error instanceof EntryError) {
      if (depth === 0) scope.onError?.(error);
      const { code, data } = error.answer;
      return refuse(message, { code, data }, error);
    }
    if (!(error instanceof TrailblazeError) || route.by === "code") return refuse(message, undefined, error);
    const isRefused = error.code === "NotApproved" || error.code === "LockOutdated";
    return refuse(message, { code: isRefused ? error.code : "ServerStartFailed" }, error);
  }

  /**
   * The server of a call, which starts if it does not run, and how to request it. The limits of the call stand still meanwhile,
   * because the start has its own. Rejects with `TrailblazeError` `ServerStartFailed`, or with `NotApproved`, `LockOutdated` or
   * `LockMismatch` if the lock does not approve what the server now lists by this name.
   */
  async #reach(call: Call, { from, id }: ServerRoute): Promise<[Server, ServerCallOptions]> {
    const { target, stop: signal, round, limits, heard, request } = call;
    const { server: sessionServer } = from;
    let server = sessionServer.current;
    if (server === undefined) {
      signal.throwIfAborted();
      const ready = sessionServer.start();
      const { life } = sessionServer;
      // During a restart after an exit, a request waits within its own time.
      const paused = life.is === "starting" && life.cause === "request" ? limits : [];
      server = await whilePaused(paused, () => abortable(signal, () => ready));
    }
    from.refuse(target.kind, id);
    const { sessionId: user, request: ofClient } = request.scope;
    const apps = declaredApps(ofClient.session.capabilities);
    const ask = askFor(call, { isWaiting: true });
    const { onProgress, onLog } = heard;
    return [server, { signal, round, ask, user, apps, onProgress, onLog }];
  }

  /** Calls a tool. Rejects only with the reason of what cancels the call. */
  async callTool(tool: ToolItem, args: unknown, request: CallRequest): Promise<ToolResult> {
    const { shown, listing, route, meta } = tool;
    const { name } = shown;
    const { state, scope, parent } = request;
    const ofServer = route.by === "server" ? route.from.plan : undefined;
    let answer: ToolResult;
    try {
      const json = writeArguments(args);
      const parse = () => parseExactly(json) as Record<string, unknown>;
      const fixed = ownEntry(ofServer?.entry.choices?.override, route.id)?.arguments;
      const given = fixed && Object.keys(parse()).find((key) => Object.hasOwn(fixed, key));
      if (given !== undefined)
        throw refuse(`The argument ${quote(given)} is fixed by the config: call the tool without it.`);
      // The server validates the arguments, too, but a call that makes this one relies on the advertised schema.
      if (ofServer !== undefined && parent !== undefined) {
        this.#validator ??= await import("../json-schema/schema-validator.ts");
        const rejection = this.#validator.check(shown.inputSchema, parse(), "url" in ofServer);
        // An invalid schema is the server author's error, and the server still validates.
        if (rejection?.isOfSchema === false) throw refuse(describeRefusal(name, rejection));
      }
      const target: Target = { kind: "tool", name, route, tool };
      const answered = await this.#execute<ToolResult>(target, request, async (call) => {
        // A copy for each run, which may change it.
        const fresh = parse();
        if (fixed !== undefined) Object.assign(fresh, structuredClone(fixed));
        await this.#decide(tool, call, fresh);
        return route.by === "server"
          ? this.#callServer(call, route, fresh)
          : this.#callCode(call, route.code, fresh);
      });
      answer = state.outside(answered, route);
      const isRecorded = scope === this.own && meta.isRecordable && isNoted(request);
      // Without the schema's defaults, which the replay adds again.
      if (isRecorded && answer.variant === "Success") this.#frame.recorded.push({ name, json });
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error;
      answer = error.result;
    }
    this.#noteLinks(answer.content, makerOf(route));
    const { results } = state.config;
    const { defaultMaxChars = -1 } = this.#frame.options;
    const maxChars = ofServer?.entry.results?.maxChars ?? results?.maxChars ?? defaultMaxChars;
    // Calls of code and of servers get all of it.
    if (maxChars === -1 || parent !== undefined) return answer;
    const { _meta } = listing as { _meta?: unknown };
    const keepsStructured = isRecord(_meta) && _meta.ui !== undefined;
    return this.large.cut(answer, scope, { maxChars, keepsStructured });
  }

  /**
   * Rejects with `CallFailure` for what answers a call before anything is run or started for it. The config's `calls.deny` comes
   * first, then the host, then `calls.ask`. The time of the call stands still meanwhile.
   */
  async #decide(tool: ToolItem, call: Call, args: Record<string, unknown>): Promise<void> {
    const { round, limits, request, stop } = call;
    const { onCall } = this.#frame.options;
    const { calls } = request.state.config;
    const names = calls === undefined ? [] : patternNames(tool);
    const { name, annotations, source } = tool.shown;
    const denied = (reason: string) => refuse(`The call was denied: ${reason}`, { code: "CallDenied" });
    if (matchesAny(calls?.deny ?? [], names)) throw denied("`calls.deny` of the config has the tool.");
    // A call that goes on with answers has been approved, perhaps where nothing denied it.
    const isAsked = matchesAny(calls?.ask ?? [], names);
    if (round !== undefined || (!isAsked && onCall === undefined)) return;
    await whilePaused(limits, async () => {
      const pending = structuredClone({ tool: name, arguments: args, annotations, source });
      const decision = await askHost(this.#frame, { ...pending, signal: stop.signal });
      if (decision === "deny") throw denied("the host does not allow it.");
      if (isRecord(decision) && "deny" in decision) throw denied(decision.deny);
      if (isRecord(decision)) {
        const answer = convertReturned(describeReturned(decision.result));
        throw new CallFailure(this.#readAnswer(answer, request.scope));
      }
      if (decision === "allow" || !isAsked) return;
      const objection = await findObjection(call, args);
      if (objection !== undefined) throw denied(objection);
    });
  }

  /** A running call of a tool of a server, which may call back. */
  findInvocation(id: string): Invocation | undefined {
    const call = this.#open.get(id);
    if (call === undefined) return undefined;
    const { kind, route } = call.target;
    if (kind !== "tool" || route.by !== "server") return undefined;
    call.ended ??= new AbortController();
    return {
      server: route.from.plan.key,
      sessionId: call.request.scope.sessionId,
      ended: call.ended.signal,
      callTool: ({ toolName, arguments: args, signal, limit }) => {
        const parent = { ...call, limits: [limit, ...call.limits] };
        return this.#callInner(parent, toolName, args, { signal, timeoutMs: limit.ms });
      },
    };
  }

  /** Executes a call that another makes. Code may use the short names of its pack. */
  async #callInner(
    parent: Call,
    name: string,
    args: unknown,
    how: Pick<CallRequest, "signal" | "timeoutMs">,
  ): Promise<ToolResult> {
    const { scope, state } = parent.request;
    const { maxDepth } = state.config.callback;
    if (parent.depth >= maxDepth)
      return failedResult(`Tool calls are nested more than ${maxDepth} levels deep.`);
    let tool: ToolItem;
    try {
      // Entries of bundles are not bound to the names of their pack.
      const { target } = parent;
      const pack = target.tool?.bundle === undefined ? packOf(target) : undefined;
      tool = await this.#frame.states.resolve(state, name, { pack });
    } catch (error) {
      return failedResult((error as Error).message);
    }
    return this.callTool(tool, args, { scope, state, onLog: parent.heard.onLog, parent, ...how });
  }

  /** Converts an answer. If it is a success, writes to the memory what its handler has `written`, and then its own. */
  #readAnswer(
    answer: CallToolResult,
    { memory }: CallScope,
    written: Iterable<readonly [string, string | undefined]> = [],
  ): ToolResult {
    const { result, writes } = readToolResult(answer);
    if (result.variant === "Success") for (const write of [...written, ...writes]) memory.write(...write);
    return result;
  }

  async #callServer(call: Call, route: ServerRoute, args: Record<string, unknown>): Promise<ToolResult> {
    const { scope, state } = call.request;
    const { sessionId, memory } = scope;
    const { device } = state.config;
    const { plan } = route.from;
    const [server, how] = await this.#reach(call, route);
    // A remote server gets no address that it could call back.
    const baseUrl = plan.context && !("url" in plan) ? this.#frame.processes.callback?.baseUrl : undefined;
    const seen = createCallMemory(memory, state.config, plan.pack).snapshot();
    const sent = call.target.tool?.legacyContext
      ? carryIntegers(args, { ...args, [legacyContextKey]: createLegacyContext(seen, device) })
      : args;
    const ids = { sessionId, invocationId: call.id };
    const _meta = plan.context ? { trailblaze: createCallMeta(ids, baseUrl, seen, device) } : undefined;
    const params = { name: route.id, arguments: sent, _meta };
    return this.#readAnswer(await server.call("tools/call", params, how), scope);
  }

  async #callCode(call: Call, tool: RunnableTool, args: Record<string, unknown>): Promise<ToolResult> {
    const { scope, state } = call.request;
    const { sessionId, memory } = scope;
    const { owner, options } = tool;
    const callMemory = createCallMemory(memory, state.config, owner.pack?.qualifiedName);
    const legacyContext = createLegacyContext(callMemory.snapshot(), state.config.device);
    // Members of a composed server get nothing of a session: no id, device or memory.
    const isWithoutSession = this.#frame.rules.selection !== undefined;
    const ofSession = { sessionId, invocationId: call.id, device: legacyContext.device, memory: callMemory };
    const use = this.#useCode(call, owner, { ...(isWithoutSession ? {} : ofSession), options });
    this.#validator ??= await import("../json-schema/schema-validator.ts");
    const answer = await invokeTool(tool, use, {
      args,
      legacyContext: isWithoutSession ? undefined : legacyContext,
      validator: this.#validator,
      request: { name: tool.entry?.name ?? call.target.name, ...scope.request },
    });
    return this.#readAnswer(answer, scope, callMemory.written);
  }

  /**
   * Gets a prompt. Rejects with a `TrailblazeError` `InvalidArguments`, `PromptFailed`, `InputRequired` or `SessionClosed`, or with
   * the signal's reason.
   */
  async getPrompt(
    { kind, shown, route }: ItemOf<"prompt">,
    values: unknown,
    request: CallRequest,
  ): Promise<PromptResult> {
    const args = readArguments(shown, values);
    return this.#answer<PromptResult, PackPrompt>(
      { kind, name: shown.name, route },
      request,
      (server, id, how) => server.call("prompts/get", { name: id, arguments: args }, how),
      (code, use) => code.get(args, use),
    );
  }

  #noteLinks(content: readonly ContentBlock[], maker: string | undefined): void {
    for (const block of content) {
      if (block.type !== "resource_link" || block.uri.length > longestLink) continue;
      this.#links.delete(block.uri);
      this.#links.set(block.uri, maker);
      const [oldest] = this.#links.keys();
      if (oldest !== undefined && this.#links.size > mostLinks) this.#links.delete(oldest);
    }
  }

  findResource(state: SessionState, uri: string): ResourceRoute | undefined {
    return state.findResource(uri, this.#links.get(uri));
  }

  /**
   * Reads a resource, or a large result of the reader. Rejects with a `TrailblazeError` `ResourceNotFound`, `ResourceFailed`,
   * `InputRequired` or `SessionClosed`, or with the signal's reason.
   */
  async readResource(uri: string, request: CallRequest): Promise<ReadAnswer> {
    const { state } = request;
    const kept = this.large.find(uri, request.scope.reader);
    if (kept !== undefined) return kept();
    const route = this.findResource(state, uri);
    if (route === undefined) throw explainUnread(state, uri);
    return this.#answer<ReadAnswer, PackResource>(
      { kind: "resource", name: uri, route },
      request,
      (server, id, how) => server.call("resources/read", { uri: id }, how),
      (code, use) => code.read(route.id, use),
    );
  }

  /** The suggestions for an argument of a prompt or a resource. Rejects as these do. */
  suggest(
    { kind, route }: ItemOf<"prompt" | "resource">,
    asked: ServerCompletion,
    request: CallRequest,
  ): Promise<Suggestions> {
    const { ref } = asked;
    return this.#answer<Suggestions, PackPrompt | PackResource>(
      { kind, name: ref.type === "ref/prompt" ? ref.name : ref.uri, route },
      request,
      (server, id, how) => {
        const own = ref.type === "ref/prompt" ? { ...ref, name: id } : { ...ref, uri: id };
        return server.complete({ ...asked, ref: own }, how);
      },
      ({ item }, use) => suggestValues(item, asked, use),
    );
  }

  /** Reads a file of a skill by its URI. Rejects as `readResource`, or with `NotApproved` if it is not as its entry says. */
  readSkill(skill: SkillItem, uri: string, request: CallRequest): Promise<ReadAnswer> {
    const { shown, listing, route } = skill;
    return this.#answer<ReadAnswer, unknown>(
      { kind: "skill", name: shown.name, route },
      request,
      async (server, id, how) => {
        const own = rootOf({ uri: id }) + uri.slice(rootOf(listing).length);
        return readSkill(skill, uri, await server.call("resources/read", { uri: own }, how));
      },
      async () => readSkill(skill, uri),
    );
  }

  /** The same by its path: a string, or bytes that are not UTF-8. */
  async readSkillFile(skill: SkillItem, path: string, request: CallRequest): Promise<string | Uint8Array> {
    const { contents } = await this.readSkill(skill, findSkillFile(skill, path), request);
    const [{ text, blob = "" } = {}] = contents;
    return text ?? new Uint8Array(Buffer.from(blob, "base64"));
  }

  /**
   * Gets what is no result of a tool from its server, which knows it by `id`, or from code. Rejects with `PromptFailed` or
   * `ResourceFailed`, its own error, or what cancels it.
   */
  async #answer<Answer extends object, Code>(
    target: Target<Code>,
    request: CallRequest,
    ofServer: (server: Server, id: string, how: ServerCallOptions) => Promise<Answer>,
    ofCode: (code: Code, use: CodeUse) => Promise<Answer>,
  ): Promise<Answer> {
    const { kind, name, route } = target;
    try {
      const answer = await this.#execute<Answer>(target, request, (call) =>
        abortable(call.stop, async () => {
          if (route.by === "code") return ofCode(route.code, this.#useCode(call, route.owner));
          const [server, how] = await this.#reach(call, route);
          return ofServer(server, route.id, how);
        }),
      );
      return request.state.outside(answer, route);
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error;
      const { cause = error, message: reason } = error;
      if (cause instanceof TrailblazeError) throw cause;
      if (kind === "prompt") throw failure("PromptFailed", { reason }, {}, { cause });
      const answered = cause instanceof ServerCallError ? cause.cause : undefined;
      if (answered instanceof RpcError && saysUnknownResource(answered))
        throw explainUnread(request.state, name);
      throw failure("ResourceFailed", { reason }, {}, { cause });
    }
  }

  #useCode(call: Call, owner: CodeOwner, more?: Partial<RunContext>): CodeUse {
    const { target, heard, request, stop, round } = call;
    const { kind, name } = target;
    const place = { pack: owner.pack?.name };
    return {
      runner: () => this.#frame.processes.runnerOf(owner),
      context: {
        signal: stop,
        options: {},
        log: (level, data) => {
          request.scope.log({ tool: name, level, data });
          heard.onLog?.({ level, data });
        },
        progress: (progress, total, message) => heard.onProgress?.({ progress, total, message }),
        callTool: async (inner, json) => {
          const result = await this.#callInner(call, inner, JSON.parse(json), { signal: stop });
          return { ...result, isError: result.variant !== "Success" };
        },
        ...round,
        ...more,
      },
      leaveOut: noteLeftOut(methods[kind] ?? "resources/read", { name }, (fault) =>
        this.#frame.reportOnce(createProblem("ServerResultIncomplete", { ...place, ...fault }, place)),
      ),
    };
  }

  /** Runs what tells of the changes of a resource, until the signal aborts. */
  async watch(
    route: Extract<ResourceRoute, { by: "code" }>,
    request: CallRequest,
    signal: AbortSignal,
    changed: () => void,
  ): Promise<void> {
    const { code, owner, id } = route;
    if (code.watch === undefined) return;
    const stop = new CallStop();
    whenAborted(signal, () => stop.abort(signal.reason));
    const target: Target = { kind: "resource", name: id, route };
    const call: Call = { target, id, request, depth: 0, limits: [], heard: {}, stop };
    const { runner, context } = this.#useCode(call, owner, { changed });
    await (await runner()).invoke(code.watch, { ...code.match(id), uri: id }, context);
  }
}

type ServerRoute = Extract<Route<unknown>, { by: "server" }>;

async function whilePaused<Value>(limits: readonly TimeLimit[], run: () => Promise<Value>): Promise<Value> {
  const ends = limits.map((limit) => limit.pause());
  try {
    return await run();
  } finally {
    for (const end of ends) end();
  }
}

/**
 * Asks for a call, whose time stands still meanwhile, with the author in front of each question, so that no server or pack can ask
 * in the name of another; `undefined` if the session has no user.
 */
function askFor(
  { target, limits, request: { scope } }: Call,
  how: Partial<AskedRound>,
): ServerCallOptions["ask"] {
  const { ask } = scope;
  const { name: tool, route } = target;
  if (ask === undefined) return undefined;
  const author = packOf(target) ?? labelOf(route);
  return async (requests, signal) => {
    const signed = Object.entries(requests).map(([key, request]) => {
      const isSigned = author !== undefined && !("method" in request);
      return [key, isSigned ? { ...request, message: `[${author}] ${request.message}` } : request];
    });
    return whilePaused(limits, () => ask({ ...how, tool, requests: Object.fromEntries(signed), signal }));
  };
}

/** Asks the user whether a call may run. Resolves with why it may not. Rejects only when the call ends. */
async function findObjection(
  { target: { name: tool, route }, depth, stop, request: { scope } }: Call,
  args: Record<string, unknown>,
): Promise<string | undefined> {
  const label = labelOf(route);
  const whose = label === undefined ? "" : ` of ${quote(label, 200)}`;
  const json = stringifyExactly(scope.memory.redact(args));
  const message = shorten(printable(`Call ${quote(tool)}${whose}? Arguments: ${json}`), longestQuestion);
  const requests = { call: { message, schema: { type: "object", properties: {} } } };
  const { signal } = stop;
  try {
    const answers = await scope.ask?.({ tool, requests, isWaiting: depth > 0, isApproval: true, signal });
    if (answers !== undefined)
      return answers.call?.action === "accept" ? undefined : "the user does not allow it.";
  } catch (error) {
    if (stop.aborted) throw error;
  }
  return "it needs the user's approval, and no user can be asked.";
}

/** Whether a call is recorded if it succeeds: of nested calls, only the outermost recordable one is. */
const isNoted = ({ parent }: CallRequest): boolean =>
  parent === undefined || (parent.target.tool?.meta.isRecordable === false && isNoted(parent.request));

/** The arguments of a prompt as strings. Throws `InvalidArguments`. */
function readArguments(prompt: SessionPrompt, values: unknown): Record<string, string> {
  const invalid = (reason: string) =>
    failure("InvalidArguments", { reason: `Prompt ${quote(prompt.name)} ${reason}` });
  if (!isRecord(values)) throw invalid(`takes an object of arguments, not ${describeType(values)}`);
  const args = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  const [other] = Object.entries(args).filter(([, value]) => typeof value !== "string");
  if (other !== undefined)
    throw invalid(`takes strings as arguments, but ${quote(other[0])} is ${describeType(other[1])}`);
  const missing = prompt.arguments.filter(({ name, required }) => required && !Object.hasOwn(args, name));
  if (missing.length === 0) return args as Record<string, string>;
  const names = missing.map(({ name }) => quote(name)).join(", ");
  throw invalid(`requires the ${missing.length === 1 ? "argument" : "arguments"} ${names}`);
}

/** Why a URI cannot be read that the session or its server does not know. */
function explainUnread(state: SessionState, uri: string): TrailblazeError {
  const [left] = state.resourceServers.flatMap(
    (server) => server.findLeft("resource", toOwn(server.plan.label, uri))?.problem ?? [],
  );
  if (left !== undefined) return new TrailblazeError(left);
  const known = state.of("resource").flatMap(({ shown }) => shown.uri ?? shown.uriTemplate ?? []);
  const nearest = findNearestNames(uri, known).filter((one) => one !== uri);
  return failure("ResourceNotFound", { name: uri, nearest });
}
