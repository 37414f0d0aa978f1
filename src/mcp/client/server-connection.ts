import { isRecord } from "../../data/parse-json.ts";
import { timerMs, whenAborted } from "../../runtime/abort-listeners.ts";
import { notifyHost } from "../../runtime/late-reports.ts";
import type {
  AdvertisedTool,
  ConnectedServer,
  ServerCallError,
  ServerEvents,
  ServerLaunch,
} from "./connected-server.ts";
import { type Incoming, type JsonObject, own } from "./incoming-message.ts";
import { type ListLimits, listTools } from "./list-tools.ts";
import { McpClient, type MessageTransport } from "./mcp-client.ts";
import type { Redactor } from "./redact.ts";
import { createServerCalls, type ServerCalls } from "./server-calls.ts";

export interface ConnectionOptions extends Pick<ServerLaunch, "label" | "timeouts" | "protocol"> {
  events: Omit<ServerEvents, "onStdoutNoise">;
  redactor: Redactor;
  limits: ListLimits;
  /** How many bytes were read in total. */
  bytesRead(): number;
  /** The error of calls after the server has ended. */
  findEnd(): ServerCallError | undefined;
}

/** What is known of a server after its handshake, and how to call its tools. */
export type OpenConnection = Pick<
  ConnectedServer,
  "era" | "protocolVersion" | "serverInfo" | "tools" | "callTool"
>;

/** How often a list is fetched if it changes meanwhile. */
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

/** The conversation with a server, whatever carries it: the handshake, the list of its tools, calls and notifications. */
export class ServerConnection {
  readonly #client: McpClient;
  readonly #options: ConnectionOptions;
  #calls: ServerCalls | undefined;
  #hasChanged = false;

  constructor(transport: MessageTransport, options: ConnectionOptions) {
    this.#options = options;
    this.#client = new McpClient(transport, (notification) => this.#onNotification(notification));
  }

  /** The handshake and the listing. Rejects as the client does, or with a reason that continues the server's name. */
  async open(): Promise<OpenConnection> {
    const { label, protocol, timeouts, redactor, events, findEnd } = this.#options;
    const { era, protocolVersion, serverInfo, capabilities } = await limitStep(
      () => (this.#client.era === "modern" ? "server/discover" : "initialize"),
      timeouts.handshakeMs,
      (signal) => this.#client.connect(protocol, signal),
    );
    if (era === "modern") this.#followTools(capabilities);
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
    return { era, protocolVersion, serverInfo, tools, callTool: this.#calls.call };
  }

  /** Rejects all open requests. */
  close(): void {
    this.#client.close();
  }

  /**
   * Asks a modern server to tell when its list changes, before it is listed, so that no change is missed. Such a request is
   * answered when the server ends; one that the server refuses or drops is not repeated.
   */
  #followTools(capabilities: JsonObject): void {
    const tools = own(capabilities, "tools");
    if (!isRecord(tools) || own(tools, "listChanged") !== true) return;
    const { answer } = this.#client.request("subscriptions/listen", {
      notifications: { toolsListChanged: true },
    });
    answer.catch(() => {});
  }

  async #listTools(signal: AbortSignal): Promise<readonly AdvertisedTool[]> {
    const { limits, bytesRead, events } = this.#options;
    for (let listing = 1; ; listing++) {
      this.#hasChanged = false;
      const invalid: [string, string][] = [];
      const request = (params: Record<string, unknown>) => {
        const sent = this.#client.request("tools/list", params);
        const unlisten = whenAborted(signal, () => sent.cancel("no answer in time"));
        return sent.answer.finally(unlisten);
      };
      const onInvalidTool = (name: string, reason: string) => invalid.push([name, reason]);
      const tools = await listTools(request, { bytesRead, onInvalidTool, limits });
      if (this.#hasChanged && listing < mostListings) continue;
      for (const [name, reason] of invalid) notifyHost(() => events.onInvalidTool(name, reason));
      return tools;
    }
  }

  #onNotification({ method, params }: Extract<Incoming, { kind: "notification" }>): void {
    const { events, redactor } = this.#options;
    switch (method) {
      case "notifications/progress":
        notifyHost(() => this.#calls?.onProgress(params));
        break;
      case "notifications/tools/list_changed":
        if (this.#calls !== undefined && !this.#hasChanged) notifyHost(() => events.onToolListChanged());
        this.#hasChanged = true;
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
