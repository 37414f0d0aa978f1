import { isDeepStrictEqual } from "node:util";
import type { CallbackEndpoint } from "../callback/callback-endpoint.ts";
import type { ConnectedServer, ServerEvents } from "../mcp/client/connected-server.ts";
import {
  type ListKey,
  listKeys,
  listRules,
  type ServerLists,
  takeLists,
} from "../mcp/client/server-lists.ts";
import type { StartingServer } from "../mcp/client/start-server.ts";
import {
  createProblem,
  describeExit,
  type Problem,
  TrailblazeError,
  type UnexpectedExit,
} from "../problems/index.ts";
import { notifyHost } from "../runtime/late-reports.ts";
import type { ServerPlan } from "../runtime/server-launches.ts";

/** What a server needs from its session. */
export interface SessionServerOptions {
  callback: CallbackEndpoint | undefined;
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
  /** Called when the first start has succeeded or failed. */
  onSettled(): void;
  /** Called when a restarted server lists other tools than before, with the problem, or has other instructions. */
  onRelisted(problem: Problem | undefined): void;
  /** Called once, when the server is closed. */
  onClosed(): void;
}

/** A server, and what one state of its session says about it. */
export interface PlannedServer {
  plan: ServerPlan;
  server: SessionServer;
}

export type ServerReports = Omit<ServerEvents, "onLog">;

/** The error of calls after a server has exited, with the end of its stderr. */
export function describeServerExit(label: string, exit: UnexpectedExit): string {
  const tail = exit.stderrTail.trim();
  return `Server "${label}" ${describeExit(exit)}.${tail === "" ? "" : `\n${tail}`}`;
}

/** A server of a session; it is restarted after an exit if the config says so. */
export class SessionServer {
  readonly #plan: ServerPlan;
  readonly #options: SessionServerOptions;
  #starting: StartingServer;
  #connected: Promise<ConnectedServer>;
  #token: string | undefined;
  #current: ConnectedServer | undefined;
  #closing = false;
  #holders = 0;
  #lists: ServerLists | undefined;
  #startFault: unknown;
  readonly #watches = new Set<{ uri: string; changed(): void; end(): void }>();
  /** The server as it was last ready; `undefined` if it never was. */
  lastConnected: ConnectedServer | undefined;
  /** How it exited, if it is not restarted. */
  exit: UnexpectedExit | undefined;
  /** Tools in its `tools/list` that are invalid. */
  invalidTools: readonly { name: string; reason: string }[] = [];
  /** Its other lists, and their entries, that cannot be used. */
  listProblems: readonly Problem[] = [];

  /** Starts the process. */
  constructor(plan: ServerPlan, options: SessionServerOptions) {
    this.#plan = plan;
    this.#options = options;
    [this.#starting, this.#connected] = this.#start();
    this.#connected.then(
      () => options.onSettled(),
      (error) => {
        this.#startFault = error;
        options.onSettled();
      },
    );
  }

  #start(): [StartingServer, Promise<ConnectedServer>] {
    const { label, key } = this.#plan;
    this.#token = this.#options.callback?.issueToken(key);
    let isNoisy = false;
    const invalid: { name: string; reason: string }[] = [];
    const problems: Problem[] = [];
    const noteIncomplete = (list: ListKey, reason: string, name?: string) =>
      problems.push(createProblem("ServerListIncomplete", { label, list, reason, name }, this.#place()));
    const starting = this.#options.start(this.#token, {
      onStdoutNoise: (line) => {
        if (!isNoisy) this.#options.report(createProblem("StdoutNoise", { label, line }, this.#place()));
        isNoisy = true;
      },
      onListChanged: (list) =>
        this.#options.report(createProblem("ToolListChanged", { label, list }, this.#place())),
      onInvalidEntry: (list, name, reason) =>
        list === "tools" ? invalid.push({ name, reason }) : noteIncomplete(list, reason, name),
      onListFailed: (list, reason) => noteIncomplete(list, reason),
    });
    const connected = starting.ready.then((server) => {
      this.#current = server;
      this.lastConnected = server;
      this.#lists = takeLists(server);
      this.invalidTools = invalid;
      this.listProblems = problems;
      for (const watch of this.#watches) watch.end = server.watchResource(watch.uri, watch.changed);
      void server.exit.then((exit) => this.#onExit(exit));
      return server;
    });
    // Callers of `ready` see the failure; without any, it must not count as unhandled.
    connected.catch(() => {});
    return [starting, connected];
  }

  #place() {
    const { pack, item } = this.#plan.source;
    return pack === undefined || item === undefined ? {} : { pack, kind: "server" as const, item };
  }

  #onExit(exit: UnexpectedExit): void {
    this.#current = undefined;
    if (this.#closing) return;
    if (this.#token !== undefined) this.#options.callback?.revokeToken(this.#token);
    const before = { lists: this.#lists, instructions: this.instructions };
    this.#restart(exit, () => {
      // What it tells of may have changed meanwhile.
      for (const { changed } of this.#watches) notifyHost(changed);
      const { label } = this.#plan;
      const list = listKeys.find((key) => !isDeepStrictEqual(before.lists?.[key], this.#lists?.[key]));
      if (list !== undefined)
        this.#options.onRelisted(
          createProblem("ToolListChanged", { label, list: listRules[list].capability }, this.#place()),
        );
      else if (before.instructions !== this.instructions) this.#options.onRelisted(undefined);
    });
  }

  /** Starts it again if it may be; `reason` says why the last restart failed. */
  #restart(exit: UnexpectedExit, onRestarted: () => void, reason?: string): void {
    if (this.#closing) return;
    if (!this.#options.mayRestart()) {
      this.#lose(exit, reason);
      return;
    }
    if (reason === undefined) this.#reportExit(exit, { isRelaunched: true });
    [this.#starting, this.#connected] = this.#start();
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
   * is called.
   */
  watchResource(uri: string, changed: () => void): () => void {
    const end = this.#current?.watchResource(uri, changed) ?? (() => {});
    const watch = { uri, changed, end };
    this.#watches.add(watch);
    return () => {
      this.#watches.delete(watch);
      watch.end();
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

  /** Whether a new state may use it: it runs or starts, or is being restarted. */
  get isUsable(): boolean {
    return !this.#closing && !this.hasFailed;
  }

  /** Whether it did not start, or has exited and is not restarted. */
  get hasFailed(): boolean {
    return this.exit !== undefined || this.#startFault !== undefined;
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
    if (!this.#closing) this.#options.onClosed();
    this.#closing = true;
    if (this.#token !== undefined) this.#options.callback?.revokeToken(this.#token);
    await this.#starting.close().catch(() => {});
  }
}
