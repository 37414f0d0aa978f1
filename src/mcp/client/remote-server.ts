import { describeExit, failure, TrailblazeError, type UnexpectedExit } from "../../problems/index.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { AnswerError } from "./answer-error.ts";
import {
  type ConnectedServer,
  ServerCallError,
  type ServerEvents,
  type ServerLaunch,
} from "./connected-server.ts";
import { createRedactor, type Redactor } from "./redact.ts";
import { ConnectionError, StatusError } from "./remote-fetch.ts";
import { RemoteTransport } from "./remote-transport.ts";
import { describeAnswer, describeMessage } from "./server-calls.ts";
import { ServerConnection } from "./server-connection.ts";
import { defaultLimits, type ServerLimits, type StartingServer } from "./start-server.ts";

/** How to reach a remote server. */
export interface RemoteLaunch
  extends Pick<ServerLaunch, "label" | "secrets" | "timeouts" | "protocol" | "canAsk"> {
  url: URL;
  /** The URL for people. */
  shown: string;
  headers: Readonly<Record<string, string>>;
}

export interface RemoteOptions {
  limits?: Partial<ServerLimits>;
  clock?: Clock;
}

/** How long the server may take to end its session. Milliseconds. */
const closeMs = 1000;

/** What must not be printed: headers, the credentials in them, and what is not shown of the URL. */
function findSecrets({ url, shown, headers }: RemoteLaunch): string[] {
  const values = Object.values(headers);
  const credentials = values.map((value) => value.replace(/^\S+\s+/, ""));
  const hidden = url.pathname.split("/").filter((segment) => !shown.includes(segment));
  return [...values, ...credentials, ...hidden, ...url.searchParams.values()];
}

class RemoteServer implements StartingServer {
  readonly label: string;
  readonly ready: Promise<ConnectedServer>;
  readonly #launch: RemoteLaunch;
  readonly #redactor: Redactor;
  readonly #transport: RemoteTransport;
  readonly #connection: ServerConnection;
  #end: ServerCallError | undefined;
  #resolveExit: (exit: UnexpectedExit) => void = () => {};
  readonly #exit = new Promise<UnexpectedExit>((resolve) => {
    this.#resolveExit = resolve;
  });

  constructor(
    launch: RemoteLaunch,
    events: Omit<ServerEvents, "onStdoutNoise">,
    { clock = systemClock, ...options }: RemoteOptions,
  ) {
    const { label, url, headers, timeouts, protocol, canAsk } = launch;
    this.label = label;
    this.#launch = launch;
    const limits = { ...defaultLimits, ...options.limits };
    const secrets = findSecrets(launch);
    this.#redactor = createRedactor(() => [...secrets, ...launch.secrets()]);
    this.#transport = new RemoteTransport({
      ...{ label, url, headers, limits, clock, redactor: this.#redactor },
      onLost: (reason) => this.#lose(reason),
    });
    this.#connection = new ServerConnection(this.#transport, {
      ...{ label, events, timeouts, protocol, canAsk, clock, redactor: this.#redactor, limits: limits.list },
      bytesRead: this.#transport.bytesRead,
      findEnd: () => this.#end,
    });
    this.ready = this.#connect().catch((error) => this.#fail(error));
    // A caller that starts several servers stops at the first failure and never handles the others.
    this.ready.catch(() => {});
  }

  async #connect(): Promise<ConnectedServer> {
    const open = await this.#connection.open();
    if (this.#end !== undefined) throw this.#end;
    this.#transport.useTools(open.tools);
    const { label, close } = this;
    return { label, ...open, exit: this.#exit, close };
  }

  async #fail(error: unknown): Promise<never> {
    const { label } = this;
    const wasClosed = this.#end !== undefined;
    const isOld = error instanceof StatusError && (await this.#isOld(error));
    await this.close();
    if (error instanceof TrailblazeError) throw error;
    const describe = () => {
      if (wasClosed) return "it was closed before it was ready";
      if (isOld)
        return "it speaks only HTTP+SSE, which streamable HTTP replaced in the revision 2025-03-26 of MCP";
      if (error instanceof AnswerError) return describeAnswer(error, this.#redactor);
      return describeMessage(error instanceof Error ? error.message : String(error), this.#redactor);
    };
    const reason = describe();
    const own = error instanceof ConnectionError ? error.hint : undefined;
    const hint = isOld
      ? `Use the server's URL for streamable HTTP, which often ends with /mcp, instead of ${this.#launch.shown}.`
      : (own ?? `Check that ${this.#launch.shown} is the URL of a streamable HTTP server.`);
    throw failure("ServerStartFailed", { label, reason, hint }, {}, { cause: new Error(reason) });
  }

  /** A server without streamable HTTP refuses the method, or does not find the path. */
  async #isOld({ status }: StatusError): Promise<boolean> {
    return [400, 404, 405].includes(status) && this.#transport.servesOldTransport();
  }

  #lose(reason: string): void {
    if (this.#end !== undefined) return;
    const described = this.#redactor.redact(reason);
    const exit = { exitCode: null, signal: null, reason: described, isLost: true, stderrTail: "" };
    this.#stop(new ServerCallError("exited", `Server "${this.label}" ${describeExit(exit)}.`, exit));
    void this.#transport.close(0);
    this.#resolveExit(exit);
  }

  #stop(why: ServerCallError): void {
    this.#end ??= why;
    this.#connection.close();
  }

  readonly close = (): Promise<void> => {
    this.#stop(new ServerCallError("closed", `Server "${this.label}" is closed.`));
    return this.#transport.close(closeMs);
  };
}

/** Connects to a server immediately; `ready` resolves when its tools are known. */
export function startRemoteServer(
  launch: RemoteLaunch,
  events: Omit<ServerEvents, "onStdoutNoise">,
  options: RemoteOptions = {},
): StartingServer {
  return new RemoteServer(launch, events, options);
}
