import { isDeepStrictEqual } from "node:util";
import type { CallbackEndpoint } from "../callback/callback-endpoint.ts";
import type { ConnectedServer } from "../mcp/client/connected-server.ts";
import type { StartingServer } from "../mcp/client/start-server.ts";
import { createProblem, describeExit, type Problem, type ProcessDeath } from "../problems/index.ts";
import type { ServerPlan } from "../runtime/server-launches.ts";

/** What a server needs from its session. */
export interface SessionServerOptions {
  callback: CallbackEndpoint | undefined;
  /** Spawns the process immediately. */
  start(token: string | undefined, events: ServerReports): StartingServer;
  report(problem: Problem): void;
  /** Called when the server exits and is not restarted. */
  onExit(exit: ProcessDeath): void;
  /** How often the server is restarted after an exit. */
  relaunches: number;
}

export interface ServerReports {
  onStdoutNoise(line: string): void;
  onToolListChanged(): void;
  onInvalidTool(name: string, reason: string): void;
}

/** The error of calls after a server has exited, with the end of its stderr. */
export function describeServerExit(label: string, exit: ProcessDeath): string {
  const tail = exit.stderrTail.trim();
  return `Server "${label}" ${describeExit(exit)}.${tail === "" ? "" : `\n${tail}`}`;
}

/** A server of a session; it is restarted after an exit if the config says so. */
export class SessionServer {
  readonly plan: ServerPlan;
  readonly #options: SessionServerOptions;
  #starting: StartingServer;
  #connected: Promise<ConnectedServer>;
  #token: string | undefined;
  #current: ConnectedServer | undefined;
  #relaunchesLeft: number;
  #closing = false;
  /** How it exited, if it is not restarted. */
  exit: ProcessDeath | undefined;
  /** Tools in its `tools/list` that are invalid. */
  readonly invalidTools: { name: string; reason: string }[] = [];

  /** Starts the process. */
  constructor(plan: ServerPlan, options: SessionServerOptions) {
    this.plan = plan;
    this.#options = options;
    this.#relaunchesLeft = options.relaunches;
    [this.#starting, this.#connected] = this.#start();
  }

  #start(): [StartingServer, Promise<ConnectedServer>] {
    const { label, key } = this.plan;
    this.#token = this.#options.callback?.issueToken(key);
    let isNoisy = false;
    const starting = this.#options.start(this.#token, {
      onStdoutNoise: (line) => {
        if (!isNoisy) this.#options.report(createProblem("StdoutNoise", { label, line }, this.#place()));
        isNoisy = true;
      },
      onToolListChanged: () =>
        this.#options.report(createProblem("ToolListChanged", { label }, this.#place())),
      onInvalidTool: (name, reason) => this.invalidTools.push({ name, reason }),
    });
    const connected = starting.ready.then((server) => {
      this.#current = server;
      void server.exit.then((exit) => this.#onExit(exit));
      return server;
    });
    // Callers of `ready` see the failure; without any, it must not count as unhandled.
    connected.catch(() => {});
    return [starting, connected];
  }

  #place() {
    const { pack, item } = this.plan.source;
    return pack === undefined || item === undefined ? {} : { pack, kind: "server" as const, item };
  }

  #onExit(exit: ProcessDeath): void {
    this.#current = undefined;
    if (this.#closing) return;
    if (this.#token !== undefined) this.#options.callback?.revokeToken(this.#token);
    if (this.#relaunchesLeft === 0) {
      this.#lose(exit);
      return;
    }
    this.#relaunchesLeft -= 1;
    this.#reportExit(exit, { isRelaunched: true });
    const before = this.#connected;
    [this.#starting, this.#connected] = this.#start();
    this.#connected.then(
      async ({ tools }) => {
        if (isDeepStrictEqual((await before).tools, tools)) return;
        const { label } = this.plan;
        this.#options.report(createProblem("ToolListChanged", { label }, this.#place()));
      },
      ({ cause, message }: Error) => this.#lose(exit, cause instanceof Error ? cause.message : message),
    );
  }

  #reportExit(exit: ProcessDeath, restart: { isRelaunched?: boolean; restartFault?: string } = {}): void {
    const { label } = this.plan;
    this.#options.report(createProblem("ServerDied", { label, exit, ...restart }, this.#place()));
  }

  #lose(exit: ProcessDeath, restartFault?: string): void {
    if (this.#closing) return;
    this.exit = exit;
    this.#reportExit(exit, restartFault === undefined ? {} : { restartFault });
    this.#options.onExit(exit);
  }

  /** The running server; `undefined` while it starts. */
  get current(): ConnectedServer | undefined {
    return this.#current;
  }

  /** The server once it is ready. Rejects with `TrailblazeError` `ServerStartFailed`. */
  get ready(): Promise<ConnectedServer> {
    return this.#connected;
  }

  /** Ends it. Idempotent; never rejects. */
  async close(): Promise<void> {
    this.#closing = true;
    if (this.#token !== undefined) this.#options.callback?.revokeToken(this.#token);
    await this.#starting.close().catch(() => {});
  }
}
