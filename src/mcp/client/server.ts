import type { Tool } from "@modelcontextprotocol/server";
import { carryIntegers } from "../../data/exact-integers.ts";
import { describeType, isRecord } from "../../data/parse-json.ts";
import {
  describeExit,
  failure,
  printable,
  TrailblazeError,
  type UnexpectedExit,
} from "../../problems/index.ts";
import { CallStop, timerMs, whenAborted } from "../../runtime/abort-listeners.ts";
import type { AppsDeclaration } from "../../runtime/apps.ts";
import {
  type InputAnswer,
  type InputRequest,
  type InputRequests,
  type InputRequired,
  type InputRound,
  mostRounds,
} from "../../runtime/handler-context.ts";
import { findInputFault } from "../../runtime/input-rounds.ts";
import type { ResultMethod } from "../../runtime/mcp-shapes.ts";
import { notifyHost } from "../../runtime/notify-host.ts";
import { type Clock, systemClock } from "../../runtime/time-limit.ts";
import type { CallToolResult } from "../../runtime/tool-result.ts";
import { capabilitiesKey, rpcCode } from "../client-message.ts";
import { AnswerError, type JsonObject, own } from "./json-rpc.ts";
import {
  type CallEars,
  type Era,
  handshakeOf,
  McpClient,
  type MessageTransport,
  type ServerFacts,
  type ServerRequest,
} from "./mcp-client.ts";
import type { Redactor } from "./redact.ts";
import {
  noteLeftOut,
  type Results,
  readResult,
  type ServerAnswer,
  type ServerCall,
  ServerCallError,
  type ServerCallOptions,
  type ServerCompletion,
  type ServerEvents,
  type ServerLaunch,
  type Suggestions,
} from "./server-calls.ts";
import {
  fetchList,
  findOfferedLists,
  type ListCapability,
  type ListFault,
  type ListKey,
  type ListLimits,
  listRules,
  type ServerLists,
} from "./server-lists.ts";

interface FailedStart {
  reason?: string | undefined;
  hint: string | undefined;
  /** What it has written. */
  stderrTail?: string | undefined;
  stdout?: string | undefined;
}

/** What a server is reached through: a process or HTTP. It carries its messages, and ends it. */
export interface Carrier extends MessageTransport {
  readonly redactor: Redactor;
  readonly limits: ListLimits;
  /** Settles when the server can be spoken to. */
  readonly started?: Promise<void>;
  /** How many bytes were read in total. */
  bytesRead(): number;
  /** Called when the tools are known. */
  onReady?(tools: readonly Tool[]): void;
  /** What is known of a failed start, which has ended, besides its error. The reason continues the server's name. */
  explain(error: unknown, exit: UnexpectedExit | undefined): FailedStart;
  /** Ends the server, one that has failed without waiting for it. Idempotent. */
  end(hasFailed: boolean): Promise<void>;
}

type Facts = Pick<ServerLaunch, "label" | "timeouts" | "protocol" | "canAsk" | "apps">;
type Events = Omit<ServerEvents, "onStdoutNoise">;
/** What a server lists now, and what is left out of that. A list that could not be fetched is empty. */
interface Listing extends ServerLists {
  leftOut: readonly ListFault[];
}

/** What a server says of itself, and what it lists. */
export type Introduction = Omit<ServerFacts, "capabilities"> & Listing;

const noLists: ServerLists = { tools: [], prompts: [], resources: [], resourceTemplates: [], skills: [] };
/** How often lists are fetched if one changes meanwhile. */
const mostListings = 3;
/** Before a lost subscription is opened again. Milliseconds. */
const relistenMs = 5000;
const messageCharacters = 1000;
/** A start that takes longer is told. Milliseconds. */
const slowMs = 4000;
/** The log messages of a call that a modern server sends: all. Without this key of `_meta`, it sends none. */
const allLogs = { "io.modelcontextprotocol/logLevel": "debug" };
/** The result of a call that asks. */
const emptyResult = () => ({ content: [], messages: [], contents: [], completion: { values: [] } });
/** What the server gets as the error of a question. */
const refuse = (message: string) => new AnswerError(message, rpcCode.request);

/** Whether a server does not offer what it was asked for. */
const isRefusal = (error: unknown) =>
  error instanceof AnswerError && (error.code === rpcCode.method || error.code === rpcCode.params);

const describeLate = (method: string, limitMs: number) =>
  `it did not answer \`${method}\` within ${limitMs} ms`;

/** The request in a message of MCP; `undefined` for a method that is unknown. Its values are not checked. */
function toInputRequest(method: unknown, params: JsonObject): unknown {
  if (method === "sampling/createMessage" || method === "roots/list") return { method, params };
  if (method !== "elicitation/create") return undefined;
  const message = own(params, "message");
  if (own(params, "mode") === "url") return { message, url: own(params, "url") };
  return { message, schema: own(params, "requestedSchema") };
}

/** Reads the result of a modern server that asks. Nothing of it is trusted. */
async function readInputRequired(
  result: JsonObject,
): Promise<{ inputRequired: InputRequired } | { fault: string }> {
  const given = own(result, "inputRequests") ?? {};
  const state = own(result, "requestState");
  if (!isRecord(given))
    return { fault: `\`inputRequests\` must be an object, but is ${describeType(given)}` };
  if (state !== undefined && typeof state !== "string") return { fault: "`requestState` must be a string" };
  const requests: Record<string, unknown> = Object.create(null);
  for (const [key, entry] of Object.entries(given)) {
    const { method, params = {} } = isRecord(entry) ? entry : ({} as JsonObject);
    requests[key] = toInputRequest(method, isRecord(params) ? params : {});
  }
  // A state without requests asks only to be called again.
  const isEmpty = Object.keys(requests).length === 0 && state !== undefined;
  const fault = isEmpty ? undefined : await findInputFault({ requests, state });
  if (fault !== undefined) return { fault: `\`inputRequests\` is invalid: ${fault}` };
  return {
    inputRequired: { requests: requests as InputRequests, ...(state !== undefined && { state }) },
  };
}

/** The result of an `elicitation/create`. */
const toElicitResult = ({ action, content }: InputAnswer): JsonObject => ({ action, content });

/** The parameters that a modern server gets in the next round. */
const toRoundParams = ({ input, state }: InputRound): JsonObject => ({
  inputResponses: Object.fromEntries(
    Object.entries(input).map(([key, answer]) => [key, toElicitResult(answer)]),
  ),
  requestState: state,
});

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
  readonly #clock: Clock;
  readonly #client: McpClient;
  readonly #closing = new AbortController();
  #resolveExit: (exit: UnexpectedExit) => void = () => {};
  /** Resolves when it is lost: its process exits unexpectedly, or it is unreachable. Never rejects. */
  readonly exit = new Promise<UnexpectedExit>((resolve) => {
    this.#resolveExit = resolve;
  });
  /** Why calls fail; `undefined` until the server has ended. */
  #end: ServerCallError | undefined;
  #isReady = false;
  #capabilities: JsonObject = {};
  /** How often the server has told of changes. */
  #changes = 0;
  /** The users of the calls that the server has worked for since it was last idle. */
  readonly #users = new Set<unknown>();
  readonly #watches = new Set<{ uri: string; changed(): void }>();

  constructor(facts: Facts, events: Events, carrier: Carrier, clock: Clock = systemClock) {
    const { canAsk = false } = facts;
    this.label = facts.label;
    this.#facts = facts;
    this.#events = events;
    this.#carrier = carrier;
    this.#clock = clock;
    this.#client = new McpClient(carrier, {
      onNotification: (method, params, requestId) => this.#onNotification(method, params, requestId),
      capabilities: (era) => this.#declare(era, facts.apps),
      onRequest: (request) =>
        this.#isReady && canAsk === true && request.method === "elicitation/create"
          ? this.#elicit(request)
          : undefined,
    });
    this.ready = this.#connect().catch((error) => this.#fail(error));
    // A caller that starts several servers stops at the first failure and never handles the others.
    this.ready.catch(() => {});
  }

  #declare(era: Era, extensions: AppsDeclaration | undefined): JsonObject {
    const { canAsk } = this.#facts;
    return {
      ...((canAsk === true || canAsk === era) && { elicitation: { form: {}, url: {} } }),
      ...(extensions && { extensions }),
    };
  }

  async #connect(): Promise<Introduction> {
    const { protocol, timeouts } = this.#facts;
    let limitMs = timeouts.handshakeMs;
    const forget = this.#clock.after(slowMs, () => notifyHost(() => this.#events.onSlow?.(limitMs)));
    whenAborted(this.#closing.signal, forget);
    await this.#carrier.started;
    this.#throwIfEnded();
    const deadline = AbortSignal.timeout(timerMs(limitMs));
    const { capabilities, ...facts } = await this.#client.connect(protocol, deadline).catch((error) => {
      throw deadline.aborted ? new Error(describeLate(handshakeOf[this.#client.era], limitMs)) : error;
    });
    this.#capabilities = capabilities;
    const followed = new Set(
      findOfferedLists(capabilities)
        .map((key) => listRules[key].capability)
        .filter((name) => this.#offers(name, "listChanged")),
    );
    // Before the lists are fetched, so that no change is missed.
    if (this.#client.era === "modern" && followed.size > 0)
      void this.#listen(Object.fromEntries([...followed].map((name) => [`${name}ListChanged`, true])));
    limitMs = timeouts.listMs;
    const lists = await this.list();
    forget();
    this.#isReady = true;
    return { ...facts, ...lists };
  }

  callTool(call: ServerCall, options: ServerCallOptions): Promise<ServerAnswer<CallToolResult>> {
    return this.#call("tools/call", { ...call }, options);
  }

  /** A prompt's messages, by the server's own name. */
  getPrompt(name: string, args: Readonly<Record<string, string>>, options: ServerCallOptions) {
    return this.#call("prompts/get", { name, arguments: args }, options);
  }

  /** The contents of a resource, which need not be listed. */
  readResource(uri: string, options: ServerCallOptions) {
    return this.#call("resources/read", { uri }, options);
  }

  /** The suggestions for an argument; none of a server that makes none. */
  async complete(request: ServerCompletion, options: ServerCallOptions): Promise<Suggestions> {
    if (!Object.hasOwn(this.#capabilities, "completions")) return { values: [] };
    return (await this.#call("completion/complete", { ...request }, options)).completion;
  }

  /** Aborted when it ends, or has ended by itself. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  #offers(capability: ListCapability, feature: string): boolean {
    const offer = own(this.#capabilities, capability);
    return isRecord(offer) && own(offer, feature) === true;
  }

  async #fail(error: unknown): Promise<never> {
    const { label } = this;
    const end = this.#end;
    this.#stop(new ServerCallError("closed", `Server "${label}" is closed.`));
    await this.#carrier.end(true);
    if (error instanceof TrailblazeError) throw error;
    const { exit } = end ?? {};
    const facts = this.#carrier.explain(error, exit);
    const closed = end && "it was closed before it was ready";
    const reason = exit ? `it ${describeExit(exit)}` : (closed ?? facts.reason ?? this.#explain(error));
    const args = { label, ...facts, ...(exit === undefined ? { reason } : { exit }) };
    throw failure("ServerStartFailed", args, {}, { cause: new Error(reason) });
  }

  /** The server has ended by itself. */
  lose(exit: UnexpectedExit): void {
    if (this.#end !== undefined) return;
    this.#stop(new ServerCallError("exited", `Server "${this.label}" ${describeExit(exit)}.`, exit));
    this.#resolveExit(exit);
  }

  /**
   * Ends the server, also while it starts: closes its stdin, sends SIGTERM after 5 s and SIGKILL after 2 s more to its process group.
   * Ends the session of a remote server, within 1 s. Idempotent.
   */
  close(): Promise<void> {
    this.#stop(new ServerCallError("closed", `Server "${this.label}" is closed.`));
    return this.#carrier.end(false);
  }

  #stop(why: ServerCallError): void {
    this.#end ??= why;
    this.#watches.clear();
    this.#client.close();
    this.#closing.abort();
  }

  #throwIfEnded(): void {
    if (this.#end !== undefined) throw this.#end;
  }

  /**
   * What it lists now: every page of each list, in its order. A list that it does not offer, or that could not be fetched, is
   * empty; without its tools, it rejects.
   */
  async list(): Promise<Listing> {
    const signal = AbortSignal.timeout(timerMs(this.#facts.timeouts.listMs));
    for (let listing = 1; ; listing++) {
      const before = this.#changes;
      const leftOut: ListFault[] = [];
      const onLeftOut = (fault: ListFault) => void leftOut.push(fault);
      const offered = findOfferedLists(this.#capabilities);
      const lists = await Promise.all(
        offered.map(async (key) => [key, await this.#fetchList(key, signal, onLeftOut)]),
      );
      this.#throwIfEnded();
      if (this.#changes !== before && listing < mostListings && !signal.aborted) continue;
      const all: Listing = { ...noLists, ...Object.fromEntries(lists), leftOut };
      this.#carrier.onReady?.(all.tools);
      return all;
    }
  }

  async #fetchList(key: ListKey, signal: AbortSignal, onLeftOut: (fault: ListFault) => void) {
    const { method } = listRules[key];
    const explain = (error: unknown) => this.#explain(error, method).replace(/\.$/, "");
    const request = (params: JsonObject) => {
      const sent = this.#client.request(method, params);
      const late = describeLate(method, this.#facts.timeouts.listMs);
      return sent.answer.finally(whenAborted(signal, () => sent.cancel(late)));
    };
    try {
      return await fetchList(key, request, this.#carrier, onLeftOut, explain);
    } catch (error) {
      const isMissing = error instanceof AnswerError && error.code === rpcCode.method;
      if (key === "tools" && !isMissing) throw error;
      // Many servers have the capability for one of its lists only.
      if (key === "tools" || !isMissing) onLeftOut({ list: key, reason: explain(error) });
      return [];
    }
  }

  /** A message that may be the server's: shortened and redacted. */
  #clean(message: string): string {
    return [...this.#carrier.redactor.redact(message)].slice(0, messageCharacters).join("");
  }

  /** An error as a reason: shortened, redacted, and on one line if it is the server's. */
  #explain(error: unknown, method?: string): string {
    const message = this.#clean(error instanceof Error ? error.message : String(error));
    if (!(error instanceof AnswerError) || error.code === undefined) return message;
    const request = method === undefined ? "" : ` \`${method}\``;
    return `it answered${request} with the error ${error.code}: ${printable(message)}`;
  }

  async #call<Method extends ResultMethod>(
    method: Method,
    params: Readonly<JsonObject>,
    { signal, limit, onProgress, onLog, ask, user, apps, round }: ServerCallOptions,
  ): Promise<ServerAnswer<Results[Method]>> {
    const { label } = this;
    const isModern = this.#client.era === "modern";
    const leaveOut = noteLeftOut(method, params, (fault) => notifyHost(() => this.#events.onLeftOut(fault)));
    signal?.throwIfAborted();
    this.#throwIfEnded();
    const hasLogs = this.#events.onLog !== undefined && Object.hasOwn(this.#capabilities, "logging");
    const given = params._meta as JsonObject | undefined;
    const meta: JsonObject = isModern && (hasLogs || onLog) ? { ...allLogs, ...given } : { ...given };
    delete meta.progressToken;
    if (isModern) meta[capabilitiesKey] = this.#declare("modern", apps);
    const answers = round && toRoundParams(round);
    if (this.#client.isIdle) this.#users.clear();
    if (user !== undefined) this.#users.add(user);
    const ears: CallEars = { ask, onProgress, onLog, questions: 0, isAsking: false, ended: new CallStop() };
    const request = this.#client.request(method, { ...params, ...answers, _meta: meta }, ears);
    const { onOver } = limit;
    limit.onOver = () => request.cancel(`no answer within ${limit.ms} ms`);
    const unlisten = signal === undefined ? undefined : whenAborted(signal, () => request.cancel("aborted"));
    const fault = (reason: string, cause?: AnswerError) =>
      new ServerCallError("protocol", `Server "${label}" failed: ${reason}`, undefined, { cause });
    try {
      const answer = await request.answer;
      const asks = isModern && own(answer, "resultType") === "input_required";
      const asked = asks ? await readInputRequired(answer) : {};
      const result = readResult(method, asks ? emptyResult() : answer, leaveOut);
      const found = "fault" in asked ? asked : result;
      if ("fault" in found)
        throw fault(`it answered \`${method}\` with an invalid result: ${this.#clean(String(found.fault))}`);
      return carryIntegers(found, { ...found, ...asked });
    } catch (error) {
      if (error instanceof ServerCallError) throw error;
      if (limit.isOver)
        throw new ServerCallError("timeout", `Server "${label}" did not answer within ${limit.ms} ms.`);
      signal?.throwIfAborted();
      // Its message names the server, its hint what to do.
      if (error instanceof TrailblazeError)
        throw new ServerCallError("protocol", `${error.message} ${error.problem.hint ?? ""}`.trim());
      if (error instanceof AnswerError) throw fault(this.#explain(error), error);
      throw this.#end ?? fault(error instanceof Error ? error.message : String(error));
    } finally {
      limit.onOver = onOver;
      unlisten?.();
      ears.ended.abort(undefined);
    }
  }

  /**
   * Answers a question with what the user of its call says. On stdio it names none: it belongs to the oldest call that asks
   * nothing yet, if the server has worked for one user alone since it was last idle.
   */
  async #elicit({ params, requestId, signal }: ServerRequest): Promise<JsonObject> {
    const calls = this.#client.calls();
    const named = calls.find(({ id }) => id === requestId);
    if (named === undefined && this.#users.size > 1)
      throw refuse("The server works for several users, and the request does not say which it belongs to.");
    const { ears } = named ?? calls.find((call) => !call.ears.isAsking) ?? {};
    if (ears?.ask === undefined) throw refuse("Only a call that is open can ask the user.");
    if (ears.questions === mostRounds) throw refuse(`A call can ask at most ${mostRounds} times.`);
    ears.questions += 1;
    ears.isAsking = true;
    try {
      // Nothing of it is trusted.
      const input = toInputRequest("elicitation/create", params) as InputRequest;
      const fault = await findInputFault({ requests: { input } });
      if (fault !== undefined)
        throw new AnswerError(`Invalid request: ${fault.replace(/^\/input/, "")}`, rpcCode.params);
      const stop = AbortSignal.any([signal, ears.ended.signal]);
      const answers = await ears.ask({ input }, stop);
      return toElicitResult(answers.input ?? { action: "cancel" });
    } finally {
      ears.isAsking = false;
    }
  }

  #onNotification(method: string, params: JsonObject, requestId: unknown): void {
    switch (method) {
      case "notifications/progress":
        this.#onProgress(params);
        break;
      case "notifications/tools/list_changed":
      case "notifications/prompts/list_changed":
      case "notifications/resources/list_changed": {
        const capability = method.split("/")[1] as ListCapability;
        this.#changes += 1;
        if (this.#isReady && this.#end === undefined)
          notifyHost(() => this.#events.onListChanged(capability));
        break;
      }
      case "notifications/resources/updated": {
        const uri = own(params, "uri");
        // It may be of a part of what was subscribed to.
        for (const watch of [...this.#watches])
          if (uri === watch.uri || String(uri).startsWith(`${watch.uri.replace(/\/$/, "")}/`))
            notifyHost(watch.changed);
        break;
      }
      case "notifications/message":
        this.#onLog(params, requestId);
    }
  }

  #onProgress(params: JsonObject): void {
    const token = own(params, "progressToken");
    const progress = own(params, "progress");
    const { onProgress } = this.#client.calls().find(({ id }) => id === token)?.ears ?? {};
    if (onProgress === undefined || typeof progress !== "number") return;
    const { total, message } = params;
    notifyHost(() =>
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
    const level = own(params, "level");
    const logger = own(params, "logger");
    const entry = {
      level: typeof level === "string" ? redactor.redact(level) : "info",
      ...(typeof logger === "string" ? { logger: redactor.redact(logger) } : {}),
      data: redactor.redactValue(own(params, "data") ?? null),
    };
    notifyHost(() => this.#events.onLog?.(entry));
    const isNamed = this.#client.era === "modern" && requestId !== undefined;
    // What names no call may belong to the call of any user.
    if (!isNamed && this.#users.size > 1) return;
    for (const { id, ears } of this.#client.calls())
      if (!isNamed || id === requestId) notifyHost(() => ears.onLog?.(entry));
  }

  /**
   * Asks a modern server for notifications until `ended` aborts. Such a request is answered when the server ends. Over HTTP it
   * may end at any time, and is then repeated unless the server refuses it; `onRepeated` is called each time.
   */
  async #listen(notifications: JsonObject, ended?: AbortSignal, onRepeated = () => {}): Promise<void> {
    const { signal: closing } = this.#closing;
    const signal = ended === undefined ? closing : AbortSignal.any([ended, closing]);
    while (!signal.aborted) {
      const { answer, cancel } = this.#client.request("subscriptions/listen", { notifications });
      const unlisten = whenAborted(signal, () => cancel("No one listens any more."));
      const isRefused = await answer.then(() => false, isRefusal);
      unlisten();
      if (isRefused || signal.aborted || this.#carrier.hasPerRequestStream !== true) return;
      await new Promise<void>((resolve) => {
        const cancelDelay = this.#clock.after(relistenMs, resolve);
        whenAborted(signal, () => {
          cancelDelay();
          resolve();
        });
      });
      // It may have missed a change.
      if (!signal.aborted) onRepeated();
    }
  }

  /**
   * Calls `changed` after each change of a resource that the server tells of, until the returned function is called. Nothing is
   * called for a server without subscriptions.
   */
  watchResource(uri: string, changed: () => void): () => void {
    if (!this.#offers("resources", "subscribe") || this.#end !== undefined) return () => {};
    const watch = { uri, changed };
    this.#watches.add(watch);
    const ended = new AbortController();
    const isModern = this.#client.era === "modern";
    // A refusal changes nothing: the server will not tell of changes.
    const send = (method: string) => void this.#client.request(method, { uri }).answer.catch(() => {});
    if (isModern)
      void this.#listen({ resourceSubscriptions: [uri] }, ended.signal, () => notifyHost(changed));
    else send("resources/subscribe");
    return () => {
      if (!this.#watches.delete(watch)) return;
      ended.abort();
      if (!isModern) send("resources/unsubscribe");
    };
  }
}
