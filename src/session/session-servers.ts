import { isDeepStrictEqual } from "node:util";
import type { CallbackEndpoint } from "../callback/callback-endpoint.ts";
import type { ConnectedServer, ServerDeath } from "../mcp/client/connected-server.ts";
import type { StartingServer } from "../mcp/client/start-server.ts";
import { createProblem, type Problem } from "../problems/index.ts";
import type { ServerPlan } from "../runtime/server-launches.ts";

/** What starting servers needs of the session. */
export interface ServerMeans {
  callback: CallbackEndpoint | undefined;
  /** Spawns the process at once. */
  start(plan: ServerPlan, token: string | undefined, events: ServerReports): StartingServer;
  report(problem: Problem): void;
  /** What happens to the session when a server dies that is not started again. */
  onDeath(server: SessionServer, why: string): void;
  /** How often a server that dies is started again. */
  relaunches: number;
}

export interface ServerReports {
  onStdoutNoise(line: string): void;
  onToolListChanged(): void;
  onInvalidTool(name: string, reason: string): void;
}

/** What a death means in words, with the end of what the server wrote to stderr. */
export function describeExit(label: string, { exitCode, signal, reason, stderrTail }: ServerDeath): string {
  const bySignal = signal === null ? `ended with exit code ${exitCode}` : `ended by ${signal}`;
  const how = reason === undefined ? bySignal : `was ended because ${reason}`;
  const tail = stderrTail.trim();
  return `The server "${label}" ${how}.${tail === "" ? "" : `\n${tail}`}`;
}

/** A server of a session, from its start to its end; started again after a death where that is wanted. */
export class SessionServer {
  readonly plan: ServerPlan;
  readonly #means: ServerMeans;
  #starting: StartingServer;
  #connected: Promise<ConnectedServer>;
  #token: string | undefined;
  #current: ConnectedServer | undefined;
  #relaunchesLeft: number;
  #closing = false;
  /** How it ended for good, where it did. */
  death: ServerDeath | undefined;
  /** Tools that its `tools/list` gave and that are none. */
  readonly invalidTools: { name: string; reason: string }[] = [];

  /** Starts the process. */
  constructor(plan: ServerPlan, means: ServerMeans) {
    this.plan = plan;
    this.#means = means;
    this.#relaunchesLeft = means.relaunches;
    [this.#starting, this.#connected] = this.#start();
  }

  #start(): [StartingServer, Promise<ConnectedServer>] {
    const { label, key } = this.plan;
    this.#token = this.#means.callback?.issueToken(key);
    let isNoisy = false;
    const starting = this.#means.start(this.plan, this.#token, {
      onStdoutNoise: (line) => {
        if (!isNoisy) this.#means.report(createProblem("StdoutNoise", { label, line }, this.#place()));
        isNoisy = true;
      },
      onToolListChanged: () => this.#means.report(createProblem("ToolListChanged", { label }, this.#place())),
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

  #onDeath(death: ServerDeath): void {
    this.#current = undefined;
    if (this.#closing) return;
    if (this.#token !== undefined) this.#means.callback?.revokeToken(this.#token);
    const why = describeExit(this.plan.label, death);
    if (this.#relaunchesLeft === 0) {
      this.#lose(death, why);
      return;
    }
    this.#relaunchesLeft -= 1;
    const { label } = this.plan;
    this.#means.report(createProblem("ServerDied", { label, why, isRelaunched: true }, this.#place()));
    const before = this.#connected;
    [this.#starting, this.#connected] = this.#start();
    this.#connected.then(
      async ({ tools }) => {
        if (!isDeepStrictEqual((await before).tools, tools))
          this.#means.report(createProblem("ToolListChanged", { label }, this.#place()));
      },
      (error: Error) => this.#lose(death, error.message),
    );
  }

  #lose(death: ServerDeath, why: string): void {
    if (this.#closing) return;
    this.death = death;
    this.#means.report(createProblem("ServerDied", { label: this.plan.label, why }, this.#place()));
    this.#means.onDeath(this, why);
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
    if (this.#token !== undefined) this.#means.callback?.revokeToken(this.#token);
    await this.#starting.close().catch(() => {});
  }
}
