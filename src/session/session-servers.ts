import { isDeepStrictEqual } from "node:util";
import type { CallbackEndpoint } from "../callback/callback-endpoint.ts";
import type { ConnectedServer } from "../mcp/client/connected-server.ts";
import type { StartingServer } from "../mcp/client/start-server.ts";
import { createProblem, describeExit, type Problem, type ProcessDeath } from "../problems/index.ts";
import type { ServerPlan } from "../runtime/server-launches.ts";

/** What starting servers takes of the session. */
export interface SessionServerOptions {
  callback: CallbackEndpoint | undefined;
  /** Spawns the process at once. */
  start(token: string | undefined, events: ServerReports): StartingServer;
  report(problem: Problem): void;
  /** What happens to the session when the server dies and is not restarted. */
  onDeath(death: ProcessDeath): void;
  /** How often a server that dies is started again. */
  relaunches: number;
}

export interface ServerReports {
  onStdoutNoise(line: string): void;
  onToolListChanged(): void;
  onInvalidTool(name: string, reason: string): void;
}

/** How calls of a server that is gone fail, with the end of what it wrote to stderr. */
export function describeServerExit(label: string, death: ProcessDeath): string {
  const tail = death.stderrTail.trim();
  return `The server "${label}" ${describeExit(death)}.${tail === "" ? "" : `\n${tail}`}`;
}

/** A server of a session, from its start to its end; started again after a death where that is wanted. */
export class SessionServer {
  readonly plan: ServerPlan;
  readonly #options: SessionServerOptions;
  #starting: StartingServer;
  #connected: Promise<ConnectedServer>;
  #token: string | undefined;
  #current: ConnectedServer | undefined;
  #relaunchesLeft: number;
  #closing = false;
  /** How it ended for good, where it did. */
  death: ProcessDeath | undefined;
  /** Tools that its `tools/list` gave and that are none. */
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
      void server.death.then((death) => this.#onDeath(death));
      return server;
    });
    // Whoever needs it sees the failure; nobody may.
    connected.catch(() => {});
    return [starting, connected];
  }

  #place() {
    const { pack, item } = this.plan.source;
    return pack === undefined || item === undefined ? {} : { pack, kind: "server" as const, item };
  }

  #onDeath(death: ProcessDeath): void {
    this.#current = undefined;
    if (this.#closing) return;
    if (this.#token !== undefined) this.#options.callback?.revokeToken(this.#token);
    if (this.#relaunchesLeft === 0) {
      this.#lose(death);
      return;
    }
    this.#relaunchesLeft -= 1;
    this.#reportDeath(death, { isRelaunched: true });
    const before = this.#connected;
    [this.#starting, this.#connected] = this.#start();
    this.#connected.then(
      async ({ tools }) => {
        if (isDeepStrictEqual((await before).tools, tools)) return;
        const { label } = this.plan;
        this.#options.report(createProblem("ToolListChanged", { label }, this.#place()));
      },
      ({ cause, message }: Error) => this.#lose(death, cause instanceof Error ? cause.message : message),
    );
  }

  #reportDeath(exit: ProcessDeath, restart: { isRelaunched?: boolean; restartFault?: string } = {}): void {
    const { label } = this.plan;
    this.#options.report(createProblem("ServerDied", { label, exit, ...restart }, this.#place()));
  }

  #lose(death: ProcessDeath, restartFault?: string): void {
    if (this.#closing) return;
    this.death = death;
    this.#reportDeath(death, restartFault === undefined ? {} : { restartFault });
    this.#options.onDeath(death);
  }

  /** The server, where it need not be waited for. */
  get current(): ConnectedServer | undefined {
    return this.#current;
  }

  /** The server when it is ready to be called. Rejects with `TrailblazeError` `ServerStartFailed`. */
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
