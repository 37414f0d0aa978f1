import type { Tool } from "@modelcontextprotocol/server";
import { describeType, isRecord } from "../../data/parse-json.ts";
import { attempt } from "../../files/file-errors.ts";
import {
  describeExit,
  failure,
  printable,
  TrailblazeError,
  type UnexpectedExit,
} from "../../problems/index.ts";
import { abortable, CallStop, timerMs, whenAborted } from "../../runtime/abort-listeners.ts";
import { type InputRequest, mostRounds } from "../../runtime/handler-context.ts";
import { findInputFault, InputNeeded } from "../../runtime/input-rounds.ts";
import type { ResultMethod } from "../../runtime/mcp-shapes.ts";
import type { Redactor } from "../../runtime/redact.ts";
import { clock } from "../../runtime/time-limit.ts";
import { capabilitiesKey, legacyRevisions, modernRevision, RpcError, rpcCode } from "../client-message.ts";
import {
  clientInfo,
  type Era,
  handshakeOf,
  type JsonObject,
  readAnswer,
  readHandshake,
  refusesInitialize,
  type ServerFacts,
} from "./json-rpc.ts";
import {
  noteLeftOut,
  type Results,
  readInputRequired,
  readResult,
  ServerCallError,
  type ServerCallOptions,
  type ServerCompletion,
  type ServerEvents,
  type ServerLaunch,
  type Suggestions,
  toInputRequest,
} from "./server-calls.ts";
import {
  fetchList,
  findOfferedLists,
  type ListCapability,
  type ListedEntry,
  type ListFault,
  type ListKey,
  type ListLimits,
  listRules,
} from "./server-lists.ts";

/** What a server is reached through: a process or HTTP. It carries its messages, and ends it. */
export interface Carrier {
  /**
   * Rejects if the message is not sent, or a request is not answered; of one that was answered, that means nothing.
   * Aborting `requestSignal` closes the response stream of a request.
   */
  send(message: JsonObject, requestSignal?: AbortSignal): Promise<void>;
  /** Set by the server. Returns whether the value is a message of MCP. `requestId`: the request whose stream carries it. */
  onmessage?(message: unknown, requestId?: unknown): unknown;
  /** Set by the server. The process has exited, or there is no connection any more. */
  onlost?(exit: UnexpectedExit): void;
  readonly hasPerRequestStream?: boolean;
  /** Set after the handshake with a legacy server. */
  protocolVersion?: string | undefined;
  readonly redactor: Redactor;
  readonly limits: { list: ListLimits };
  readonly bytesRead: number;
  onReady?(tools: readonly Tool[]): void;
  /** What is known of a failed start, which has ended, besides its error. The reason continues the server's name. */
  explain(
    error: unknown,
    exit: UnexpectedExit | undefined,
  ): Partial<Record<"reason" | "hint" | "stderrTail" | "stdout", string>>;
  /** Ends the server, one that has failed without waiting for it. Idempotent. */
  end(hasFailed: boolean): Promise<void>;
}

type Facts = Pick<ServerLaunch, "label" | "timeouts" | "protocol" | "canAsk" | "apps">;
type Events = Omit<ServerEvents, "onStdoutNoise">;
/** What a server lists now, list by list, and what is left out of that. A list that could not be fetched is empty. */
interface Listing {
  entries: readonly ListedEntry[];
  leftOut: readonly ListFault[];
}

interface OpenCall extends Pick<ServerCallOptions, "ask" | "onProgress" | "onLog" | "apps"> {
  /** How often the server has asked, and whether it waits for an answer. */
  questions: number;
  isAsking: boolean;
  ended: CallStop;
}

interface SentRequest {
  resolve(result: JsonObject): void;
  reject(error: unknown): void;
  /** `undefined` for a request whose result cannot ask. */
  call: OpenCall | undefined;
}

export type Introduction = Omit<ServerFacts, "capabilities"> & Listing;

/** How often lists are fetched if one changes meanwhile. */
const mostListings = 3;
/** Before a lost subscription is opened again. Milliseconds. */
const relistenMs = 5000;
const messageCharacters = 1000;
/** A start that takes longer is told. Milliseconds. */
const slowMs = 4000;
/** The log messages of a call that a modern server sends: all. Without this key of `_meta`, it sends none. */
const allLogs = { "io.modelcontextprotocol/logLevel": "debug" };
/** How long a server is taken to work for a canceled request that it does not answer. Milliseconds. */
const canceledMs = 600_000;
/** What the server gets as the error of a question. */
const refuse = (message: string) => new RpcError(message, rpcCode.request);

/** Whether a server does not offer what it was asked for. */
const isRefusal = (error: unknown) =>
  error instanceof RpcError && (error.code === rpcCode.method || error.code === rpcCode.params);

const describeLate = (method: string, limitMs: number) =>
  `it did not answer \`${method}\` within ${limitMs} ms`;

/**
 * One MCP server, whatever carries its messages: its start, its lists, its calls and notifications, and its end. It starts at once.
 * Calls reject with `ServerCallError`, or with the reason of their `signal`.
 */
export class Server {
  readonly label: string;
  /**
   * Resolves with what it says, when it can be called. Rejects after its processes have ended, with `ServerStartFailed`; of a
   * remote server also with `AuthorizationRequired` and `RemoteRedirect`.
   */
  readonly ready: Promise<Introduction>;
  readonly #facts: Facts;
  readonly #events: Events;
  readonly #carrier: Carrier;
  readonly #sent = new Map<number, SentRequest>();
  /** The canceled calls that the server may still work for, and until when. */
  readonly #canceled = new Map<number, number>();
  /** The requests of the server that are not answered yet. */
  readonly #asked = new Map<unknown, AbortController>();
  #lastId = 0;
  /** `legacy` before the handshake. */
  #era: Era = "legacy";
  readonly #closing = new AbortController();
  /** Aborted when it ends, or has ended by itself. The reason is why calls fail, a `ServerCallError`. */
  readonly closing: AbortSignal = this.#closing.signal;
  /** Resolves when it is lost: its process exits unexpectedly, or it is unreachable. Never rejects. */
  readonly exit = new Promise<UnexpectedExit>((resolve) => {
    whenAborted(this.closing, () => {
      const { exit } = this.closing.reason as ServerCallError;
      if (exit !== undefined) resolve(exit);
    });
  });
  #isReady = false;
  #capabilities: JsonObject = {};
  #changes = 0;
  /** The users of the calls that the server has worked for since it was last idle. */
  readonly #users = new Set<unknown>();
  readonly #watches = new Set<{ uri: string; changed(): void }>();

  constructor(facts: Facts, events: Events, carrier: Carrier) {
    this.label = facts.label;
    this.#facts = facts;
    this.#events = events;
    this.#carrier = carrier;
    carrier.onmessage = (message, requestId) => this.#receive(message, requestId);
    carrier.onlost = (exit) =>
      this.#stop(new ServerCallError(`Server "${this.label}" ${describeExit(exit)}.`, { exit }));
    this.ready = this.#start().catch((error) => this.#fail(error));
    // A caller that starts several servers stops at the first failure and never handles the others.
    this.ready.catch(() => {});
  }

  /** What this client can do. `apps`: what a request, or the start, says of apps. */
  #declare({ apps }: Pick<Facts, "apps">): JsonObject {
    const { canAsk } = this.#facts;
    return { ...(canAsk && { elicitation: { form: {}, url: {} } }), ...(apps && { extensions: apps }) };
  }

  async #start(): Promise<Introduction> {
    const { timeouts } = this.#facts;
    let limitMs = timeouts.handshakeMs;
    const forget = clock.after(slowMs, () => attempt(() => this.#events.onSlow?.(limitMs)));
    whenAborted(this.closing, forget);
    const deadline = AbortSignal.timeout(timerMs(limitMs));
    const { capabilities, ...facts } = await this.#shakeHands(deadline).catch((error) => {
      throw deadline.aborted ? new Error(describeLate(handshakeOf[this.#era], limitMs)) : error;
    });
    this.#capabilities = capabilities;
    const all = ["tools", "prompts", "resources"] as const;
    const followed = all.filter((name) => this.#offers(name, "listChanged"));
    // Before the lists are fetched, so that no change is missed.
    if (this.#era === "modern" && followed.length > 0)
      void this.#listen(Object.fromEntries(followed.map((name) => [`${name}ListChanged`, true])));
    limitMs = timeouts.listMs;
    const lists = await this.list();
    forget();
    this.#isReady = true;
    return { ...facts, ...lists };
  }

  /** The handshake, which decides the era: `initialize` and `notifications/initialized`, or `server/discover`. */
  async #shakeHands(signal: AbortSignal): Promise<ServerFacts> {
    const { protocol } = this.#facts;
    // A client must not cancel `initialize`.
    const ask = (params: JsonObject) =>
      abortable(signal, () => this.#request(handshakeOf[this.#era], params).answer);
    if (protocol !== "modern")
      try {
        const capabilities = this.#declare(this.#facts);
        const result = await ask({ protocolVersion: legacyRevisions[0], capabilities, clientInfo });
        const facts = readHandshake("legacy", result);
        this.#carrier.protocolVersion = facts.protocolVersion;
        // Some servers refuse requests until they have it.
        const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
        await abortable(signal, () => this.#carrier.send(initialized).catch(() => {}));
        return facts;
      } catch (error) {
        if (protocol === "legacy" || !refusesInitialize(error)) throw error;
      }
    this.#era = "modern";
    return readHandshake("modern", await ask({}));
  }

  /** The suggestions for an argument; none of a server that makes none. */
  async complete(request: ServerCompletion, options: ServerCallOptions): Promise<Suggestions> {
    if (!Object.hasOwn(this.#capabilities, "completions")) return { values: [] };
    return (await this.call("completion/complete", { ...request }, options)).completion;
  }

  #offers(capability: ListCapability, feature: string): boolean {
    const offer = this.#capabilities[capability];
    return isRecord(offer) && offer[feature] === true;
  }

  async #fail(error: unknown): Promise<never> {
    const { label } = this;
    const end: ServerCallError | undefined = this.closing.reason;
    this.#stop(new ServerCallError(`Server "${label}" is closed.`));
    await this.#carrier.end(true);
    if (error instanceof TrailblazeError) throw error;
    const { exit } = end ?? {};
    const facts = this.#carrier.explain(error, exit);
    const closed = end && "it was closed before it was ready";
    const reason = exit ? `it ${describeExit(exit)}` : (closed ?? facts.reason ?? this.#explain(error));
    const args = { label, ...facts, ...(exit === undefined ? { reason } : { exit }) };
    throw failure("ServerStartFailed", args, {}, { cause: new Error(reason) });
  }

  /**
   * Ends the server, also while it starts: closes its stdin, sends SIGTERM after 5 s and SIGKILL after 2 s more to its process group.
   * Ends the session of a remote server, within 1 s. Idempotent.
   */
  close(): Promise<void> {
    this.#stop(new ServerCallError(`Server "${this.label}" is closed.`));
    return this.#carrier.end(false);
  }

  /** Only the first reason counts. */
  #stop(why: ServerCallError): void {
    this.#watches.clear();
    const sent = [...this.#sent.values()];
    this.#sent.clear();
    this.#closing.abort(why);
    for (const { reject } of sent) reject(this.closing.reason);
    for (const cancel of this.#asked.values()) cancel.abort();
  }

  /** The open calls, the oldest first. */
  #calls(): OpenCall[] {
    return [...this.#sent.values()].flatMap(({ call }) => call ?? []);
  }

  /**
   * Sends a request. Its `answer` resolves with the result as the server sent it. It rejects with `RpcError` for an error answer,
   * for an invalid one and after `cancel`; with the carrier's error if the request is not sent; with another error at the end,
   * after which it is thrown.
   */
  #request(method: string, params: JsonObject, call?: OpenCall) {
    this.closing.throwIfAborted();
    const id = ++this.#lastId;
    const isModern = this.#era === "modern";
    const answer = new Promise<JsonObject>((resolve, reject) => {
      this.#sent.set(id, { resolve, reject, call });
    });
    const stream = isModern && this.#carrier.hasPerRequestStream ? new AbortController() : undefined;
    const meta = {
      ...(isModern && {
        "io.modelcontextprotocol/protocolVersion": modernRevision,
        "io.modelcontextprotocol/clientInfo": clientInfo,
        [capabilitiesKey]: this.#declare(call ?? this.#facts),
      }),
      ...(params._meta as JsonObject | undefined),
      ...(call?.onProgress && { progressToken: id }),
    };
    const sent = Object.keys(meta).length === 0 ? params : { ...params, _meta: meta };
    const fail = (error: unknown) => {
      this.#sent.get(id)?.reject(error);
      this.#sent.delete(id);
    };
    this.#send({ id, method, params: sent }, fail, stream?.signal);
    /** Cancels the request once, unless it is already answered. */
    const cancel = (reason: string) => {
      if (!this.#sent.has(id)) return;
      if (call !== undefined) this.#canceled.set(id, clock.now() + canceledMs);
      fail(new RpcError(reason));
      if (stream === undefined)
        this.#send({ method: "notifications/cancelled", params: { requestId: id, reason } });
      else stream.abort();
    };
    return { answer, cancel };
  }

  /** Sends a message. If one without an answer is lost, so is the next request, which then fails. */
  #send(message: JsonObject, onFailure = (_error: unknown) => {}, requestSignal?: AbortSignal): void {
    this.#carrier.send({ jsonrpc: "2.0", ...message }, requestSignal).catch(onFailure);
  }

  /** Returns whether the value is a message of MCP. */
  #receive(message: unknown, requestId: unknown): boolean {
    if (!isRecord(message)) return false;
    const { id, method, params: written } = message;
    const isProtocol = message.jsonrpc === "2.0";
    if (typeof method === "string" && isProtocol) {
      const params = isRecord(written) ? written : {};
      if (id === undefined) this.#onNotification(method, params, requestId);
      else if (typeof id === "string" || Number.isSafeInteger(id))
        void this.#answer(id, method, params, requestId);
      return true;
    }
    const isAnswer = isProtocol || Object.hasOwn(message, "result") || Object.hasOwn(message, "error");
    // Ours are numbers; some servers return them as strings.
    const answered = typeof id === "object" ? Number.NaN : Number(id);
    if (method !== undefined || !isAnswer) return isProtocol;
    if (this.#canceled.delete(answered)) return true;
    const request = this.#sent.get(answered);
    if (request === undefined) return isProtocol;
    this.#sent.delete(answered);
    try {
      request.resolve(this.#checkType(readAnswer(message), request));
    } catch (error) {
      request.reject(error);
    }
    return true;
  }

  /** Throws `RpcError` for a `resultType` that a modern server must not send; legacy servers have none. */
  #checkType(result: JsonObject, { call }: SentRequest): JsonObject {
    const { resultType: type } = result;
    const isKnown = type === undefined || type === "complete" || (type === "input_required" && call);
    if (isKnown || this.#era === "legacy") return result;
    const shown = typeof type === "string" ? JSON.stringify(type) : describeType(type);
    throw new RpcError(`its answer has the unsupported \`resultType\` ${shown}`);
  }

  async #answer(id: unknown, method: string, params: JsonObject, requestId: unknown): Promise<void> {
    if (method === "ping") return this.#send({ id, result: {} });
    const cancel = new AbortController();
    const { signal } = cancel;
    this.#asked.set(id, cancel);
    const answer = await this.#elicit(method, params, requestId, signal).then(
      (result) => ({ result }),
      (error) => ({
        error: {
          code: (error instanceof RpcError ? error.code : undefined) ?? rpcCode.internal,
          message: error instanceof Error ? error.message : String(error),
        },
      }),
    );
    if (this.#asked.get(id) === cancel) this.#asked.delete(id);
    // The server does not expect an answer to what it has canceled.
    if (!signal.aborted) this.#send({ id, ...answer });
  }

  /** What it does not offer, or what could not be fetched, is empty; without its tools, it rejects. */
  async list(): Promise<Listing> {
    const signal = AbortSignal.timeout(timerMs(this.#facts.timeouts.listMs));
    for (let listing = 1; ; listing++) {
      const before = this.#changes;
      const leftOut: ListFault[] = [];
      const onLeftOut = (fault: ListFault) => void leftOut.push(fault);
      const offered = findOfferedLists(this.#capabilities);
      const lists = await Promise.all(offered.map((key) => this.#fetchList(key, signal, onLeftOut)));
      this.closing.throwIfAborted();
      if (this.#changes !== before && listing < mostListings && !signal.aborted) continue;
      const entries = lists.flat();
      this.#carrier.onReady?.(entries.flatMap((one) => (one.kind === "tool" ? [one.entry] : [])));
      return { entries, leftOut };
    }
  }

  async #fetchList(key: ListKey, signal: AbortSignal, onLeftOut: (fault: ListFault) => void) {
    const { method } = listRules[key];
    const explain = (error: unknown) => this.#explain(error, method).replace(/\.$/, "");
    const request = (params: JsonObject) => {
      const sent = this.#request(method, params);
      const late = describeLate(method, this.#facts.timeouts.listMs);
      return sent.answer.finally(whenAborted(signal, () => sent.cancel(late)));
    };
    try {
      return await fetchList(key, request, this.#carrier, onLeftOut, explain);
    } catch (error) {
      const isMissing = error instanceof RpcError && error.code === rpcCode.method;
      if (key === "tools" && !isMissing) throw error;
      // Many servers have the capability for one of its lists only.
      if (key === "tools" || !isMissing) onLeftOut({ list: key, reason: explain(error) });
      return [];
    }
  }

  /** An error as a reason: shortened, redacted, and on one line if it is the server's. */
  #explain(error: unknown, method?: string): string {
    const text = this.#carrier.redactor.redact(error instanceof Error ? error.message : String(error));
    const message = [...text].slice(0, messageCharacters).join("");
    if (!(error instanceof RpcError) || error.code === undefined) return message;
    const request = method === undefined ? "" : ` \`${method}\``;
    return `it answered${request} with the error ${error.code}: ${printable(message)}`;
  }

  /** A resource need not be listed. Rejects with `ServerCallError`, or with the reason of its `signal`. */
  async call<Method extends ResultMethod>(
    method: Method,
    params: Readonly<JsonObject>,
    { signal, onProgress, onLog, ask, user, apps, round }: ServerCallOptions = {},
  ): Promise<Results[Method]> {
    const isModern = this.#era === "modern";
    const leaveOut = noteLeftOut(method, params, (fault) => attempt(() => this.#events.onLeftOut(fault)));
    signal?.throwIfAborted();
    const hasLogs = this.#events.onLog !== undefined && Object.hasOwn(this.#capabilities, "logging");
    const logs = isModern && (hasLogs || onLog) ? allLogs : {};
    const _meta = { ...logs, ...(params._meta as JsonObject | undefined) };
    const answers = round && { inputResponses: round.input, requestState: round.state };
    // A canceled call counts until it is answered, at most ten minutes.
    for (const [id, until] of this.#canceled) if (clock.now() >= until) this.#canceled.delete(id);
    if (this.#calls().length + this.#canceled.size === 0) this.#users.clear();
    if (user !== undefined) this.#users.add(user);
    const ended = new CallStop();
    const call = { ask, onProgress, onLog, apps, questions: 0, isAsking: false, ended };
    const request = this.#request(method, { ...params, ...answers, _meta }, call);
    const cancel = () =>
      request.cancel(signal?.reason?.name === "TimeoutError" ? "no answer in time" : "aborted");
    const unlisten = signal && whenAborted(signal, cancel);
    try {
      const answer = await request.answer;
      if (!isModern || answer.resultType !== "input_required") return readResult(method, answer, leaveOut);
      throw await readInputRequired(method, answer);
    } catch (error) {
      if (error instanceof ServerCallError || error instanceof InputNeeded) throw error;
      signal?.throwIfAborted();
      // Its message names the server, its hint what to do.
      if (error instanceof TrailblazeError)
        throw new ServerCallError(`${error.message} ${error.problem.hint ?? ""}`.trim());
      throw new ServerCallError(`Server "${this.label}" failed: ${this.#explain(error)}`, { cause: error });
    } finally {
      unlisten?.();
      ended.abort(undefined);
    }
  }

  /**
   * Answers a question with what the user of its call says. On stdio it names none: it belongs to the oldest call that asks
   * nothing yet, if the server has worked for one user alone since it was last idle.
   */
  async #elicit(method: string, params: JsonObject, requestId: unknown, signal: AbortSignal) {
    if (method !== "elicitation/create" || !this.#isReady || !this.#facts.canAsk)
      throw new RpcError("Method not found", rpcCode.method);
    const named = this.#sent.get(requestId as number)?.call;
    if (named === undefined && this.#users.size > 1)
      throw refuse("The server works for several users, and the request does not say which it belongs to.");
    const call = named ?? this.#calls().find(({ isAsking }) => !isAsking);
    if (call?.ask === undefined) throw refuse("Only a call that is open can ask the user.");
    if (call.questions === mostRounds) throw refuse(`A call can ask at most ${mostRounds} times.`);
    call.questions += 1;
    call.isAsking = true;
    try {
      // Nothing of it is trusted.
      const input = toInputRequest(method, params) as InputRequest;
      const fault = await findInputFault({ input });
      if (fault !== undefined)
        throw new RpcError(`Invalid request: ${fault.replace(/^of "input", /, "")}`, rpcCode.params);
      const stop = AbortSignal.any([signal, call.ended.signal]);
      const answers = await call.ask({ input }, stop);
      return { ...(answers.input ?? { action: "cancel" }) };
    } finally {
      call.isAsking = false;
    }
  }

  #onNotification(method: string, params: JsonObject, requestId: unknown): void {
    switch (method) {
      case "notifications/cancelled":
        this.#asked.get(params.requestId)?.abort();
        break;
      case "notifications/progress":
        this.#onProgress(params);
        break;
      case "notifications/tools/list_changed":
      case "notifications/prompts/list_changed":
      case "notifications/resources/list_changed": {
        const capability = method.split("/")[1] as ListCapability;
        this.#changes += 1;
        if (this.#isReady && !this.closing.aborted) attempt(() => this.#events.onListChanged(capability));
        break;
      }
      case "notifications/resources/updated": {
        const { uri } = params;
        // It may be of a part of what was subscribed to.
        for (const watch of [...this.#watches])
          if (uri === watch.uri || String(uri).startsWith(`${watch.uri.replace(/\/$/, "")}/`))
            attempt(watch.changed);
        break;
      }
      case "notifications/message":
        this.#onLog(params, requestId);
    }
  }

  #onProgress(params: JsonObject): void {
    const { progressToken, progress, total, message } = params;
    const { onProgress } = this.#sent.get(progressToken as number)?.call ?? {};
    if (onProgress === undefined || typeof progress !== "number") return;
    attempt(() =>
      onProgress({
        progress,
        total: typeof total === "number" ? total : undefined,
        message: typeof message === "string" ? message : undefined,
      }),
    );
  }

  /** Passes a log message to the host, and to the call of a modern request, or to all calls if it names none. */
  #onLog(params: JsonObject, requestId: unknown): void {
    const { redactor } = this.#carrier;
    const { level, logger, data = null } = params;
    const entry = {
      level: typeof level === "string" ? redactor.redact(level) : "info",
      ...(typeof logger === "string" ? { logger: redactor.redact(logger) } : {}),
      data: redactor.redactValue(data),
    };
    attempt(() => this.#events.onLog?.(entry));
    const isNamed = this.#era === "modern" && requestId !== undefined;
    // What names no call may belong to the call of any user.
    if (!isNamed && this.#users.size > 1) return;
    for (const call of isNamed ? [this.#sent.get(requestId as number)?.call] : this.#calls())
      attempt(() => call?.onLog?.(entry));
  }

  /**
   * Asks a modern server for notifications until `ended` aborts. Such a request is answered when the server ends. Over HTTP it
   * may end at any time, and is then repeated unless the server refuses it; `onRepeated` is called each time.
   */
  async #listen(notifications: JsonObject, ended?: AbortSignal, onRepeated = () => {}): Promise<void> {
    const signal = ended === undefined ? this.closing : AbortSignal.any([ended, this.closing]);
    while (!signal.aborted) {
      const { answer, cancel } = this.#request("subscriptions/listen", { notifications });
      const unlisten = whenAborted(signal, () => cancel("No one listens any more."));
      const isRefused = await answer.then(() => false, isRefusal);
      unlisten();
      if (isRefused || signal.aborted || this.#carrier.hasPerRequestStream !== true) return;
      await new Promise<void>((resolve) => {
        clock.after(relistenMs, resolve);
        whenAborted(signal, resolve);
      });
      // It may have missed a change.
      if (!signal.aborted) onRepeated();
    }
  }

  /** Calls `changed` until the returned function is called; never for a server without subscriptions. */
  watchResource(uri: string, changed: () => void): () => void {
    if (!this.#offers("resources", "subscribe") || this.closing.aborted) return () => {};
    const watch = { uri, changed };
    this.#watches.add(watch);
    const ended = new AbortController();
    const isModern = this.#era === "modern";
    // A refusal changes nothing: the server will not tell of changes.
    const send = (method: string) => void this.#request(method, { uri }).answer.catch(() => {});
    if (isModern) void this.#listen({ resourceSubscriptions: [uri] }, ended.signal, () => attempt(changed));
    else send("resources/subscribe");
    return () => {
      if (!this.#watches.delete(watch)) return;
      ended.abort();
      if (!isModern) send("resources/unsubscribe");
    };
  }
}
