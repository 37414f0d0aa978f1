import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../data/parse-json.ts";
import { timerMs, whenAborted } from "../../runtime/abort-listeners.ts";
import type { Clock } from "../../runtime/clock.ts";
import { notifyHost } from "../../runtime/late-reports.ts";
import { rpcCode } from "../client-message.ts";
import { AnswerError } from "./answer-error.ts";
import type {
  AdvertisedTool,
  ConnectedServer,
  ServerCallError,
  ServerEvents,
  ServerLaunch,
} from "./connected-server.ts";
import { type Incoming, own } from "./incoming-message.ts";
import { type ListLimits, listTools } from "./list-tools.ts";
import { McpClient, type MessageTransport } from "./mcp-client.ts";
import type { Redactor } from "./redact.ts";
import { createServerCalls, type ServerCalls } from "./server-calls.ts";

export interface ConnectionOptions extends Pick<ServerLaunch, "label" | "timeouts" | "protocol"> {
  events: Omit<ServerEvents, "onStdoutNoise">;
  redactor: Redactor;
  limits: ListLimits;
  clock: Clock;
  /** How many bytes were read in total. */
  bytesRead(): number;
  /** The error of calls after the server has ended. */
  findEnd(): ServerCallError | undefined;
}

/** What is known of a server after its handshake, and how to call its tools. */
export type OpenConnection = Pick<
  ConnectedServer,
  "era" | "protocolVersion" | "serverInfo" | "instructions" | "tools" | "callTool"
>;

/** How often a list is fetched if it changes meanwhile. */
const mostListings = 3;
/** Before a lost subscription is opened again; the time doubles while subscriptions are short. Milliseconds. */
const firstDelayMs = 1000;
const longestDelayMs = 30_000;

/** Whether a server does not offer what it was asked for. */
const isRefusal = (error: unknown) =>
  error instanceof AnswerError && (error.code === rpcCode.method || error.code === rpcCode.params);

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

/** The conversation with a server, whatever carries it: the handshake, the list of its tools, calls and notifications. */
export class ServerConnection {
  readonly #client: McpClient;
  readonly #transport: MessageTransport;
  readonly #options: ConnectionOptions;
  #calls: ServerCalls | undefined;
  #hasChanged = false;
  /** The list that is compared after a time without notifications, of a server that tells of changes. */
  #followed: readonly AdvertisedTool[] | undefined;
  #hasLostSubscription = false;
  #isClosed = false;
  #endPause = () => {};

  constructor(transport: MessageTransport, options: ConnectionOptions) {
    this.#options = options;
    this.#transport = transport;
    this.#client = new McpClient(transport, (notification) => this.#onNotification(notification));
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
    const offered = own(capabilities, "tools");
    const tellsChanges = isRecord(offered) && own(offered, "listChanged") === true;
    if (era === "modern" && tellsChanges) void this.#followTools();
    const tools = Object.hasOwn(capabilities, "tools")
      ? await limitStep(
          () => "tools/list",
          timeouts.listMs,
          (signal) => this.#listTools(signal),
        )
      : [];
    const wantsLogs = events.onLog !== undefined && Object.hasOwn(capabilities, "logging");
    this.#calls = createServerCalls(this.#client, { redactor, label, wantsLogs, findEnd });
    this.#hasChanged = false;
    if (tellsChanges) this.#followed = tools;
    return { era, protocolVersion, serverInfo, instructions, tools, callTool: this.#calls.call };
  }

  /** Rejects all open requests. */
  close(): void {
    this.#isClosed = true;
    this.#endPause();
    this.#client.close();
  }

  /**
   * Asks a modern server to tell when its list changes, before it is listed, so that no change is missed. Such a request is
   * answered when the server ends. Over HTTP it may end at any time, and is then repeated unless the server refuses it.
   */
  async #followTools(): Promise<void> {
    const { clock } = this.#options;
    let delayMs = firstDelayMs;
    for (;;) {
      const start = clock.now();
      const { answer } = this.#client.request("subscriptions/listen", {
        notifications: { toolsListChanged: true },
      });
      const isRefused = await answer.then(() => false, isRefusal);
      if (isRefused || this.#isClosed || this.#transport.hasPerRequestStream !== true) return;
      this.#hasLostSubscription = true;
      if (clock.now() - start > longestDelayMs) delayMs = firstDelayMs;
      await new Promise<void>((resolve) => {
        const cancel = clock.after(delayMs, resolve);
        this.#endPause = () => {
          cancel();
          resolve();
        };
      });
      if (this.#isClosed) return;
      delayMs = Math.min(2 * delayMs, longestDelayMs);
    }
  }

  /** Notices a change of the list that no notification told of. */
  async #catchUp(): Promise<void> {
    const { timeouts } = this.#options;
    if (this.#followed === undefined || this.#hasChanged) return;
    try {
      const tools = await limitStep(
        () => "tools/list",
        timeouts.listMs,
        (signal) => this.#fetchTools(signal, () => {}),
      );
      if (!isDeepStrictEqual(tools, this.#followed)) this.#onToolsChanged();
    } catch {
      // The connection was lost again, which is noticed there.
    }
  }

  #onToolsChanged(): void {
    const { events } = this.#options;
    if (this.#calls !== undefined && !this.#hasChanged) notifyHost(() => events.onToolListChanged());
    this.#hasChanged = true;
  }

  async #listTools(signal: AbortSignal): Promise<readonly AdvertisedTool[]> {
    const { events } = this.#options;
    for (let listing = 1; ; listing++) {
      this.#hasChanged = false;
      const invalid: [string, string][] = [];
      const tools = await this.#fetchTools(signal, (name, reason) => invalid.push([name, reason]));
      if (this.#hasChanged && listing < mostListings) continue;
      for (const [name, reason] of invalid) notifyHost(() => events.onInvalidTool(name, reason));
      return tools;
    }
  }

  #fetchTools(
    signal: AbortSignal,
    onInvalidTool: (name: string, reason: string) => void,
  ): Promise<AdvertisedTool[]> {
    const { limits, bytesRead } = this.#options;
    const request = (params: Record<string, unknown>) => {
      const sent = this.#client.request("tools/list", params);
      const unlisten = whenAborted(signal, () => sent.cancel("no answer in time"));
      return sent.answer.finally(unlisten);
    };
    return listTools(request, { bytesRead, onInvalidTool, limits });
  }

  #onNotification({ method, params }: Extract<Incoming, { kind: "notification" }>): void {
    const { events, redactor } = this.#options;
    switch (method) {
      case "notifications/progress":
        notifyHost(() => this.#calls?.onProgress(params));
        break;
      case "notifications/tools/list_changed":
        this.#onToolsChanged();
        break;
      case "notifications/subscriptions/acknowledged":
        if (this.#hasLostSubscription) void this.#catchUp();
        this.#hasLostSubscription = false;
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
      }
    }
  }
}
