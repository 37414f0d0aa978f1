import { isDeepStrictEqual } from "node:util";
import type { CallbackEndpoint } from "../callback/callback-endpoint.ts";
import { describeLeftOut } from "../mcp/client/call-result.ts";
import type { ConnectedServer, ServerEvents } from "../mcp/client/connected-server.ts";
import { listKeys, listRules, type ServerLists, takeLists } from "../mcp/client/server-lists.ts";
import type { StartingServer } from "../mcp/client/start-server.ts";
import {
  createProblem,
  describeExit,
  failure,
  type Problem,
  TrailblazeError,
  type UnexpectedExit,
} from "../problems/index.ts";
import type { Clock } from "../runtime/clock.ts";
import { notifyHost } from "../runtime/late-reports.ts";
import type { ServerPlan } from "../runtime/server-launches.ts";
import type { ServerApproval } from "./server-approval.ts";

/** A resource whose changes somebody wants to hear of. */
export interface WantedWatch {
  uri: string;
  changed(): void;
  /** Whether the lock does not approve it, now that it is known what the server lists. */
  isRefused(): boolean;
}

interface Watch extends WantedWatch {
  end(): void;
}

const begin = (server: ConnectedServer, { uri, changed, isRefused }: WantedWatch): (() => void) =>
  isRefused() ? () => {} : server.watchResource(uri, changed);

/** The resources of a server that somebody follows, also while it does not run. */
export class ServerWatches {
  readonly #watches = new Set<Watch>();

  /** Watches now if the server runs. The returned function ends it, and returns whether it was the first call. */
  add(wanted: WantedWatch, server: ConnectedServer | undefined): () => boolean {
    const watch = { ...wanted, end: server === undefined ? () => {} : begin(server, wanted) };
    this.#watches.add(watch);
    return () => {
      const isFirst = this.#watches.delete(watch);
      if (isFirst) watch.end();
      return isFirst;
    };
  }

  /** Watches at a server that is ready. */
  join(server: ConnectedServer): void {
    for (const watch of this.#watches) watch.end = begin(server, watch);
  }

  /** Tells of changes that may have been missed. */
  tellAll(): void {
    for (const { changed } of this.#watches) notifyHost(changed);
  }
}

/** What a server needs from its session. */
export interface SessionServerOptions {
  /** The endpoint for its callbacks; `undefined` if there is none. */
  callback(): CallbackEndpoint | undefined;
  /** Resolves when it can be started. */
  prepare(): Promise<void>;
  clock: Clock;
  /** Spawns the process immediately. */
  start(token: string | undefined, events: ServerReports): StartingServer;
  report(problem: Problem): void;
  /** Called when the server exits and is not restarted. */
  onExit(exit: UnexpectedExit): void;
  /** Whether the server is restarted after an exit, or after a restart that failed. */
  mayRestart(): boolean;
  /** Calls `run` when a restart that failed may be followed by another one. */
  afterFailedRestart(run: () => void): void;
  /** Whether the session is served, so that no exit ends it. */
  isServed: boolean;
  /** Called when the first start of a server that starts with the session has succeeded or failed. */
  onSettled(): void;
  /**
   * Called after each later start, before anybody uses the server. Resolves with whether what it lists has been compared with
   * the lock.
   */
  onStarted(server: SessionServer): Promise<boolean>;
  /** Called when a restarted server lists other tools than before, with the problem, or has other instructions. */
  onRelisted(problem: Problem | undefined): void;
  /** Called once, when the server is closed. */
  onClosed(): void;
}

/** A server, and what one state of its session says about it. */
export interface PlannedServer {
  plan: ServerPlan;
  server: SessionServer;
  /** What the lock says about its lists; `undefined` without a lock. */
  approval?: ServerApproval;
}

/** After a failed start for a request, how long requests fail with its reason before the next attempt. Milliseconds. */
const failedMs = 30_000;

export type ServerReports = Omit<ServerEvents, "onLog">;

/** The error of calls after a server has exited, without its output, which is not for clients and models. */
export function describeServerExit(label: string, exit: UnexpectedExit): string {
  return `Server "${label}" ${describeExit(exit)}.`;
}

/**
 * A server of a session. It starts with the session, or when a request needs it, and may end while it has none. It is restarted
 * after an exit if the config says so.
 */
export class SessionServer {
  readonly #plan: ServerPlan;
  readonly #options: SessionServerOptions;
  #starting: StartingServer | undefined;
  /** `undefined` while it neither runs nor starts. */
  #connected: Promise<ConnectedServer> | undefined;
  #token: string | undefined;
  #current: ConnectedServer | undefined;
  #closing = false;
  #holders = 0;
  #lists: ServerLists | undefined;
  #startFault: unknown;
  readonly #watches = new ServerWatches();
  /** The failed start for a request, and until when requests fail with it. */
  #failed: { error: unknown; until: number } | undefined;
  #startsForRequests = false;
  #requests = 0;
  #cancelIdle = () => {};
  #idleMs: number | undefined;
  /** Messages of problems that many results may have. */
  readonly #reported = new Set<string>();
  /** Settles when the process that was idle has ended. */
  #ending: Promise<void> | undefined;
  /** The server as it was last ready; `undefined` if it never was. */
  lastConnected: ConnectedServer | undefined;
  /** How it exited, if it is not restarted. */
  exit: UnexpectedExit | undefined;
  /** Tools in its `tools/list` that are invalid. */
  invalidTools: readonly { name: string; reason: string }[] = [];
  /** Its other lists, and their entries, that cannot be used. */
  listProblems: readonly Problem[] = [];

  constructor(plan: ServerPlan, options: SessionServerOptions) {
    this.#plan = plan;
    this.#options = options;
  }

  /** Starts the process, unless it has started before. If it fails, the server has failed for good. */
  startWithSession(): void {
    if (this.#connected !== undefined || this.#lists !== undefined) return;
    const { onSettled } = this.#options;
    this.#failed = undefined;
    this.#connected = this.#start();
    this.#connected.then(
      () => onSettled(),
      (error) => {
        this.#startFault = error;
        onSettled();
      },
    );
  }

  /**
   * The server once it is ready, for a request. Starts it if it does not run; all requests share one start. Rejects with
   * `TrailblazeError` `ServerStartFailed`; for a while after that at once, unless it is `forced`.
   */
  start({ forced = false } = {}): Promise<ConnectedServer> {
    if (this.#connected !== undefined) return this.#connected;
    const { clock } = this.#options;
    const failed = this.#failed;
    if (failed !== undefined && !forced && clock.now() < failed.until) return Promise.reject(failed.error);
    const connected = this.#startForRequests();
    this.#connected = connected;
    connected.catch((error) => {
      this.#failed = { error, until: clock.now() + failedMs };
      if (this.#connected === connected) this.#connected = undefined;
    });
    return connected;
  }

  async #startForRequests(): Promise<ConnectedServer> {
    this.#startsForRequests = true;
    try {
      await Promise.all([this.#ending, this.#options.prepare()]);
      const before = this.#said;
      const server = await this.#start();
      this.#failed = undefined;
      await this.#compare(before);
      return server;
    } finally {
      this.#startsForRequests = false;
    }
  }

  /** Whether it is starting because a request needs it, whose own time then stands still. */
  get startsForRequests(): boolean {
    return this.#startsForRequests;
  }

  /** Notes a request, which it does not end before. Call `endRequest` once. */
  beginRequest(): void {
    this.#requests += 1;
    if (this.#idleMs !== undefined) this.#cancelIdle();
  }

  endRequest(): void {
    this.#requests -= 1;
    if (this.#idleMs !== undefined) this.#awaitIdle();
  }

  /** After how long without a request it ends, from now on. Milliseconds; `undefined`: never. */
  set idleMs(idleMs: number | undefined) {
    if (idleMs === this.#idleMs) return;
    this.#idleMs = idleMs;
    this.#awaitIdle();
  }

  #awaitIdle(): void {
    const idleMs = this.#idleMs;
    this.#cancelIdle();
    if (idleMs === undefined || this.#requests > 0 || this.#current === undefined) return;
    this.#cancelIdle = this.#options.clock.after(idleMs, () => this.#endIdle());
  }

  /** Ends the process; the next request starts it again. */
  #endIdle(): void {
    if (this.#requests > 0 || this.#closing || this.#current === undefined) return;
    this.#current = undefined;
    this.#connected = undefined;
    this.#revoke();
    const ending = this.#starting
      ?.close()
      .catch(() => {})
      .then(() => {
        if (this.#ending === ending) this.#ending = undefined;
      });
    this.#ending = ending;
  }

  #start(): Promise<ConnectedServer> {
    if (this.#closing) {
      const { label } = this.#plan;
      return Promise.reject(failure("ServerStartFailed", { label, reason: "it has been closed" }));
    }
    const { label, key } = this.#plan;
    const token = this.#options.callback()?.issueToken(key);
    this.#token = token;
    let isNoisy = false;
    const invalid: { name: string; reason: string }[] = [];
    const problems: Problem[] = [];
    const starting = this.#options.start(this.#token, {
      onStdoutNoise: (line) => {
        if (!isNoisy) this.#options.report(createProblem("StdoutNoise", { label, line }, this.#place()));
        isNoisy = true;
      },
      onListChanged: (list) =>
        this.#options.report(createProblem("ToolListChanged", { label, list }, this.#place())),
      onLeftOut: (fault) => {
        const problem = describeLeftOut(label, fault, this.#place());
        if ("method" in fault) {
          this.#reportOnce(problem);
          return;
        }
        const { list, name, key, reason } = fault;
        if (list === "tools" && name !== undefined && key === undefined) invalid.push({ name, reason });
        problems.push(problem);
      },
    });
    const connected = starting.ready.then((server) => {
      this.#current = server;
      this.lastConnected = server;
      this.#lists = takeLists(server);
      this.invalidTools = invalid;
      this.listProblems = problems;
      this.#watches.join(server);
      void server.exit.then((exit) => this.#onExit(server, exit));
      this.#awaitIdle();
      return server;
    });
    // Who waits for it sees the failure; without anybody, it must not count as unhandled.
    connected.catch(() => this.#revoke(token));
    this.#starting = starting;
    return connected;
  }

  #reportOnce(problem: Problem): void {
    if (this.#reported.has(problem.message)) return;
    this.#reported.add(problem.message);
    this.#options.report(problem);
  }

  /** Takes the token of its callbacks away from a process that has ended, or ends. */
  #revoke(token = this.#token): void {
    if (token !== undefined) this.#options.callback()?.revokeToken(token);
  }

  #place() {
    const { pack, item } = this.#plan.source;
    return pack === undefined || item === undefined ? {} : { pack, kind: "server" as const, item };
  }

  #onExit(server: ConnectedServer, exit: UnexpectedExit): void {
    // One that was idle may exit by itself while it is ended.
    if (this.#current !== server) return;
    this.#current = undefined;
    this.#cancelIdle();
    if (this.#closing) return;
    this.#revoke();
    const before = this.#said;
    this.#restart(exit, () => {
      this.#watches.tellAll();
      void this.#compare(before).catch(() => {});
    });
  }

  get #said() {
    return { lists: this.#lists, instructions: this.instructions };
  }

  /** Compares what it lists with the lock, or else with what it said before. Rejects if the session ends for it. */
  async #compare(before: { lists: ServerLists | undefined; instructions: string | undefined }) {
    if ((await this.#options.onStarted(this)) || before.lists === undefined) return;
    const { label } = this.#plan;
    const list = listKeys.find((key) => !isDeepStrictEqual(before.lists?.[key], this.#lists?.[key]));
    if (list !== undefined)
      this.#options.onRelisted(
        createProblem("ToolListChanged", { label, list: listRules[list].capability }, this.#place()),
      );
    else if (before.instructions !== this.instructions) this.#options.onRelisted(undefined);
  }

  /** Starts it again if it may be; `reason` says why the last restart failed. */
  #restart(exit: UnexpectedExit, onRestarted: () => void, reason?: string): void {
    if (this.#closing) return;
    if (!this.#options.mayRestart()) {
      this.#lose(exit, reason);
      return;
    }
    if (reason === undefined) this.#reportExit(exit, { isRelaunched: true });
    this.#connected = this.#start();
    this.#connected.then(onRestarted, ({ cause, message }: Error) => {
      const failed = cause instanceof Error ? cause.message : message;
      this.#options.afterFailedRestart(() => this.#restart(exit, onRestarted, failed));
    });
  }

  #reportExit(exit: UnexpectedExit, restart: { isRelaunched?: boolean; restartReason?: string } = {}): void {
    const { label } = this.#plan;
    const served = this.#options.isServed ? { isServed: true } : {};
    this.#options.report(createProblem("ServerDied", { label, exit, ...restart, ...served }, this.#place()));
  }

  #lose(exit: UnexpectedExit, restartReason?: string): void {
    if (this.#closing) return;
    this.exit = exit;
    this.#reportExit(exit, restartReason === undefined ? {} : { restartReason });
    this.#options.onExit(exit);
  }

  /**
   * Calls `changed` after each change of a resource that the server tells of, and after a restart, until the returned function
   * is called. Until then, the server does not end for want of calls.
   */
  watchResource(wanted: WantedWatch): () => void {
    const end = this.#watches.add(wanted, this.#current);
    this.beginRequest();
    // It joins the watch when it is ready; a failure is for the next call to tell.
    this.start().catch(() => {});
    return () => {
      if (end()) this.endRequest();
    };
  }

  /** What it listed last, also while it restarts; `undefined` until it has started. */
  get lists(): ServerLists | undefined {
    return this.#lists;
  }

  /** Its instructions for models when it was last ready. */
  get instructions(): string | undefined {
    return this.lastConnected?.instructions;
  }

  /** Why it has not started; `undefined` while it starts. Throws any other error. */
  get fault(): Problem | undefined {
    const fault = this.#startFault;
    if (fault !== undefined && !(fault instanceof TrailblazeError)) throw fault;
    return fault?.problem;
  }

  /** Whether a new state may use it: it can run, or be started. */
  get isUsable(): boolean {
    return !this.#closing && this.exit === undefined && this.#startFault === undefined;
  }

  /** Whether it did not start, or has exited and is not restarted. */
  get hasFailed(): boolean {
    return this.exit !== undefined || this.#startFault !== undefined || this.#failed !== undefined;
  }

  /** Whether it neither runs nor starts. */
  get isIdle(): boolean {
    return this.#connected === undefined;
  }

  /** Keeps it running until the returned function is called. It is closed when the last one is. */
  hold(): () => void {
    this.#holders += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holders -= 1;
      if (this.#holders === 0) void this.close();
    };
  }

  /** The running server; `undefined` while it starts, or is compared with the lock. */
  get current(): ConnectedServer | undefined {
    return this.#startsForRequests ? undefined : this.#current;
  }

  /** Settles when its start has; `undefined` while it is idle. Rejects with `TrailblazeError` `ServerStartFailed`. */
  get ready(): Promise<ConnectedServer> | undefined {
    return this.#connected;
  }

  /** Ends it. Idempotent; never rejects. */
  async close(): Promise<void> {
    if (!this.#closing) this.#options.onClosed();
    this.#closing = true;
    this.#cancelIdle();
    this.#revoke();
    await Promise.all([this.#starting?.close().catch(() => {}), this.#ending]);
  }
}
