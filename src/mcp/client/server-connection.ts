import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../data/parse-json.ts";
import { timerMs, whenAborted } from "../../runtime/abort-listeners.ts";
import { notifyHost } from "../../runtime/late-errors.ts";
import type { Clock } from "../../runtime/time-limit.ts";
import { rpcCode } from "../client-message.ts";
import { AnswerError } from "./answer-error.ts";
import type { ConnectedServer, ServerCallError, ServerEvents, ServerLaunch } from "./connected-server.ts";
import { type Incoming, type JsonObject, own } from "./incoming-message.ts";
import { Listening } from "./listening.ts";
import { McpClient, type MessageTransport } from "./mcp-client.ts";
import type { Redactor } from "./redact.ts";
import { createServerCalls, describeAnswer, describeMessage, type ServerCalls } from "./server-calls.ts";
import {
  fetchList,
  type ListCapability,
  type ListFault,
  type ListKey,
  type ListLimits,
  listKeys,
  listRules,
  type ServerLists,
} from "./server-lists.ts";

export interface ConnectionOptions extends Pick<ServerLaunch, "label" | "timeouts" | "protocol"> {
  canAsk: ServerLaunch["canAsk"];
  events: Omit<ServerEvents, "onStdoutNoise">;
  redactor: Redactor;
  limits: ListLimits;
  clock: Clock;
  /** How many bytes were read in total. */
  bytesRead(): number;
  /** The error of calls after the server has ended. */
  findEnd(): ServerCallError | undefined;
}

/** What is known of a server after its handshake, and how to use it. */
export type OpenConnection = Omit<ConnectedServer, "label" | "exit" | "close">;

/** How often a list is fetched if it changes while the lists are fetched. */
const mostListings = 3;
/** Runs a step of the start with its own timeout. */
async function limitStep<T>(
  describeStep: () => string,
  limitMs: number,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), timerMs(limitMs));
  try {
    return await run(limit.signal);
  } catch (error) {
    if (limit.signal.aborted) throw new Error(`it did not answer \`${describeStep()}\` within ${limitMs} ms`);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** The conversation with a server, whatever carries it: the handshake, its lists, calls and notifications. */
export class ServerConnection {
  readonly #client: McpClient;
  readonly #options: ConnectionOptions;
  #calls: ServerCalls | undefined;
  /** How often the server has told of changes. */
  readonly #changes: Record<ListCapability, number> = { tools: 0, prompts: 0, resources: 0 };
  readonly #told = new Set<ListCapability>();
  /** The lists that are compared after a time without notifications, of a server that tells of changes. */
  #followed: Partial<ServerLists> = {};
  readonly #listening: Listening;

  constructor(transport: MessageTransport, options: ConnectionOptions) {
    this.#options = options;
    const { canAsk = false } = options;
    const onNotification: ConstructorParameters<typeof McpClient>[1] = (notification, requestId) =>
      this.#onNotification(notification, requestId);
    this.#client = new McpClient(transport, onNotification, {
      capabilities: (era) =>
        canAsk === true || canAsk === era ? { elicitation: { form: {}, url: {} } } : {},
      onRequest: (request) => (canAsk === true ? this.#calls?.answer(request) : undefined),
    });
    this.#listening = new Listening(this.#client, transport, options.clock);
    transport.onresume = () => void this.#catchUp();
  }

  /** The handshake and the listing. Rejects as the client does, or with a reason that continues the server's name. */
  async open(): Promise<OpenConnection> {
    const { label, protocol, timeouts, redactor, events, findEnd } = this.#options;
    const { era, protocolVersion, serverInfo, instructions, capabilities } = await limitStep(
      () => (this.#client.era === "modern" ? "server/discover" : "initialize"),
      timeouts.handshakeMs,
      (signal) => this.#client.connect(protocol, signal),
    );
    const offered = listKeys.filter((key) => Object.hasOwn(capabilities, listRules[key].capability));
    const followed = offered.filter((key) => {
      const offer = own(capabilities, listRules[key].capability);
      return isRecord(offer) && own(offer, "listChanged") === true;
    });
    if (era === "modern" && followed.length > 0) {
      // Before the lists are fetched, so that no change is missed.
      const wanted = new Set(followed.map((key) => listRules[key].capability));
      const notifications = Object.fromEntries([...wanted].map((one) => [`${one}ListChanged`, true]));
      void this.#listening.listen(notifications, () => void this.#catchUp());
    }
    const lists = await limitStep(
      () => "tools/list",
      timeouts.listMs,
      (signal) => this.#fetchLists(offered, signal),
    );
    const wantsLogs = events.onLog !== undefined && Object.hasOwn(capabilities, "logging");
    this.#calls = createServerCalls(this.#client, {
      redactor,
      label,
      wantsLogs,
      findEnd,
      onLeftOut: (fault) => events.onLeftOut(fault),
      suggests: Object.hasOwn(capabilities, "completions"),
    });
    this.#followed = Object.fromEntries(followed.map((key) => [key, lists[key]]));
    const { onProgress: _, onLog: __, ...calls } = this.#calls;
    const offer = own(capabilities, "resources");
    const tellsOfChanges = isRecord(offer) && own(offer, "subscribe") === true;
    return {
      era,
      protocolVersion,
      serverInfo,
      instructions,
      ...lists,
      ...calls,
      watchResource: (uri, changed) =>
        tellsOfChanges && findEnd() === undefined ? this.#listening.watch(uri, changed) : () => {},
    };
  }

  /** Rejects all open requests. */
  close(): void {
    this.#client.close();
    this.#listening.close();
  }

  /** Notices changes that no notification told of. */
  async #catchUp(): Promise<void> {
    const { timeouts } = this.#options;
    const compare = async (key: ListKey) => {
      const { method, capability } = listRules[key];
      if (this.#followed[key] === undefined || this.#told.has(capability)) return;
      const list = await limitStep(
        () => method,
        timeouts.listMs,
        (signal) => this.#fetchList(key, signal, () => {}),
      );
      if (!isDeepStrictEqual(list, this.#followed[key])) this.#onListChanged(capability);
    };
    // The connection may be lost again, which is noticed there.
    await Promise.allSettled(listKeys.map(compare));
  }

  #onListChanged(capability: ListCapability): void {
    const { events } = this.#options;
    this.#changes[capability] += 1;
    if (this.#calls === undefined || this.#told.has(capability)) return;
    this.#told.add(capability);
    notifyHost(() => events.onListChanged(capability));
  }

  /** All lists at once. Rejects if that of the tools fails; without another list, the rest can be used. */
  async #fetchLists(offered: readonly ListKey[], signal: AbortSignal): Promise<ServerLists> {
    const { events } = this.#options;
    const lists: { -readonly [Key in ListKey]: ServerLists[Key] } = {
      tools: [],
      prompts: [],
      resources: [],
      resourceTemplates: [],
    };
    const reports = new Map<ListKey, (() => void)[]>();
    const fetchOne = async <Key extends ListKey>(key: Key) => {
      const found: (() => void)[] = [];
      reports.set(key, found);
      const leaveOut = (fault: ListFault) => void found.push(() => events.onLeftOut(fault));
      lists[key] = await this.#fetchList(key, signal, leaveOut).catch((error) => {
        const isMissing = error instanceof AnswerError && error.code === rpcCode.method;
        if (key === "tools" && !isMissing) throw error;
        // Many servers have the capability for one of its lists only.
        if (key === "tools" || !isMissing)
          leaveOut({ list: key, reason: this.#explainFailure(key, error, signal) });
        return [] as unknown as ServerLists[Key];
      });
    };
    let stale = offered;
    for (let listing = 1; listing <= mostListings && stale.length > 0 && !signal.aborted; listing++) {
      const before = { ...this.#changes };
      await Promise.all(stale.map(fetchOne));
      stale = offered.filter((key) => {
        const { capability } = listRules[key];
        return this.#changes[capability] !== before[capability];
      });
    }
    for (const report of [...reports.values()].flat()) notifyHost(report);
    return lists;
  }

  /** Why a list could not be fetched. */
  #explainFailure(key: ListKey, error: unknown, signal: AbortSignal): string {
    const { redactor, timeouts } = this.#options;
    const { method } = listRules[key];
    if (signal.aborted) return `it did not answer \`${method}\` within ${timeouts.listMs} ms`;
    if (error instanceof AnswerError) return describeAnswer(error, redactor, method);
    const message = error instanceof Error ? error.message : String(error);
    return describeMessage(message.replace(/\.$/, ""), redactor);
  }

  #fetchList<Key extends ListKey>(
    key: Key,
    signal: AbortSignal,
    onLeftOut: (fault: ListFault) => void,
  ): Promise<ServerLists[Key]> {
    const { limits, bytesRead } = this.#options;
    const request = (params: JsonObject) => {
      const sent = this.#client.request(listRules[key].method, params);
      const unlisten = whenAborted(signal, () => sent.cancel("no answer in time"));
      return sent.answer.finally(unlisten);
    };
    const explain = (error: unknown) => this.#explainFailure(key, error, signal);
    return fetchList(key, request, { bytesRead, onLeftOut, limits, explain });
  }

  #onNotification({ method, params }: Extract<Incoming, { kind: "notification" }>, requestId: unknown): void {
    const { events, redactor } = this.#options;
    switch (method) {
      case "notifications/progress":
        notifyHost(() => this.#calls?.onProgress(params));
        break;
      case "notifications/tools/list_changed":
        this.#onListChanged("tools");
        break;
      case "notifications/prompts/list_changed":
        this.#onListChanged("prompts");
        break;
      case "notifications/resources/list_changed":
        this.#onListChanged("resources");
        break;
      case "notifications/subscriptions/acknowledged":
        this.#listening.onAcknowledged();
        break;
      case "notifications/resources/updated":
        this.#listening.onUpdated(own(params, "uri"));
        break;
      case "notifications/message": {
        const level = own(params, "level");
        const logger = own(params, "logger");
        const entry = {
          level: typeof level === "string" ? redactor.redact(level) : "info",
          ...(typeof logger === "string" ? { logger: redactor.redact(logger) } : {}),
          data: redactor.redactValue(own(params, "data") ?? null),
        };
        notifyHost(() => events.onLog?.(entry));
        notifyHost(() => this.#calls?.onLog(entry, requestId));
      }
    }
  }
}
