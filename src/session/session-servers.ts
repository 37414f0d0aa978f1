import { isDeepStrictEqual } from "node:util";
import type { SessionConfig } from "../config/session-config.ts";
import { attempt } from "../files/file-errors.ts";
import type { Introduction, Server } from "../mcp/client/server.ts";
import type { ServerEvents } from "../mcp/client/server-calls.ts";
import { type ListCapability, type ListKey, listKeys, listRules } from "../mcp/client/server-lists.ts";
import {
  createProblem,
  failure,
  type Problem,
  type ProblemPlace,
  TrailblazeError,
  type UnexpectedExit,
} from "../problems/index.ts";
import type { ServerPlan } from "../runtime/server-launches.ts";
import { clock } from "../runtime/time-limit.ts";
import type { SessionFrame } from "./session-frame.ts";

/** Between two attempts to reach a lost remote server: so long that their number stays allowed. Milliseconds. */
const remoteRestartMs = 25_000;
/** After a failed start for a request, how long requests fail with its reason before the next attempt. Milliseconds. */
const failedMs = 30_000;
/** Between two listings of a server that tells of changes. Milliseconds. */
const listingMs = 1000;

/** Why a server starts: with its session, for a request, whose own time then stands still, or again after an exit. */
type Cause = "session" | "request" | "restart";

/** The states of a server. Its start leads to `running` or `failed`, its end for want of requests back to `idle`. */
type Life =
  | { is: "idle" }
  | { is: "starting"; cause: Cause; ready: Promise<Server> }
  | { is: "running"; server: Server }
  /** `until`: when the next request may start it. */
  | { is: "failed"; error: unknown; until: number }
  /** It did not start with its session, has exited or is closed, and requests fail. */
  | { is: "ended"; error: unknown };

/**
 * A server of a session: of a `ServerPlan`, with a `Server` for each of its runs. Each reading of the project uses it by a
 * `ServerSource`, which holds it against the lock. It starts with the session, or when a request needs it, and may end while it has none. It is restarted
 * after an exit if the config says so.
 */
export class SessionServer {
  readonly plan: ServerPlan;
  /** Of problems: a server of the config has none while it runs. */
  readonly #place: ProblemPlace;
  readonly config: SessionConfig;
  readonly #frame: SessionFrame;
  /** Whether it is restarted after an exit, or after a restart that failed. */
  readonly #mayRestart: () => boolean;
  readonly #forget: () => void;
  life: Life = { is: "idle" };
  /** How it exited, if it is not restarted. */
  exit: UnexpectedExit | undefined;
  /** The process, or the one before, which may still be ending. */
  #process: Promise<Server> | undefined;
  #holders = 0;
  /** The resources that somebody follows, also while it does not run. */
  readonly #watches = new Set<{ begin(server: Server): void; changed(): void }>();
  #requests = 0;
  #cancelIdle = () => {};
  #cancelListing: (() => void) | undefined;
  #listedAt = Number.NEGATIVE_INFINITY;
  /** Listings come one after the other. */
  #listing: Promise<unknown> = Promise.resolve();
  /** After how long without a request it ends. Milliseconds; `undefined`: never. */
  idleMs: number | undefined;
  /** What it said when it was last ready, also while it restarts; `undefined` if it never was. */
  said: Introduction | undefined;

  constructor(plan: ServerPlan, config: SessionConfig, frame: SessionFrame) {
    this.plan = plan;
    this.#place = plan.pack === undefined ? {} : plan.place;
    this.config = config;
    this.#frame = frame;
    this.#mayRestart = frame.processes.createRestarts(config);
    this.#forget = frame.resources.add(() => this.close());
  }

  /** Whether states follow what the server says; otherwise, they stay as they opened. */
  get isFollowed(): boolean {
    return this.#frame.rules.mode === "served" || this.#frame.options.watch === true;
  }

  #announce(): boolean {
    if (this.isFollowed) this.#frame.states.onListed();
    return this.isFollowed;
  }

  /** Starts the process, unless it has started before. If it fails, the server has failed for good. */
  startWithSession(): void {
    const mayStart = this.life.is === "idle" || this.life.is === "failed";
    if (mayStart && this.said === undefined) this.#begin("session");
  }

  /**
   * The server once it is ready, for a request. Starts it if it does not run; all requests share one start. Rejects with
   * `TrailblazeError` `ServerStartFailed`; for a while after that at once, unless it is `forced`.
   */
  async start({ forced = false } = {}): Promise<Server> {
    const { life } = this;
    if (life.is === "starting") return life.ready;
    if (life.is === "running") return life.server;
    const mayRetry = life.is === "failed" && (forced || clock.now() >= life.until);
    if (life.is !== "idle" && !mayRetry) throw life.error;
    return this.#begin("request");
  }

  #begin(cause: Cause): Promise<Server> {
    const ready = this.#run(cause, this.said);
    this.life = { is: "starting", cause, ready };
    ready.catch((error) => {
      if (this.life.is !== "starting") return;
      this.life =
        cause === "session" ? { is: "ended", error } : { is: "failed", error, until: clock.now() + failedMs };
      if (cause === "session") this.#announce();
    });
    return ready;
  }

  /** Starts the process. Resolves when what it says has been compared with what it said before. */
  async #run(cause: Cause, before: Introduction | undefined): Promise<Server> {
    await this.#endProcess();
    this.#process = this.#frame.processes.start(this, this.#listen());
    const server = await this.#process;
    this.said = await server.ready;
    if (cause !== "session") await this.#compare(before, this.said);
    if (this.life.is !== "starting") return server;
    this.life = { is: "running", server };
    for (const watch of this.#watches) {
      watch.begin(server);
      // It may have missed a change.
      if (cause === "restart") attempt(watch.changed);
    }
    if (cause === "session") this.#announce();
    void server.exit.then((exit) => {
      // One that was idle may exit by itself while it is ended.
      if (this.current !== server) return;
      this.#cancelIdle();
      this.#restart(exit);
    });
    this.awaitIdle();
    return server;
  }

  /** Lists the running server again, soon, after it has told of a change. */
  #listSoon(list: ListCapability): void {
    const problem = createProblem("ToolListChanged", { label: this.plan.label, list }, this.#place);
    this.#cancelListing ??= clock.after(Math.max(0, this.#listedAt + listingMs - clock.now()), () => {
      this.#cancelListing = undefined;
      this.#listedAt = clock.now();
      const listed = this.#listing.then(() => this.#listAgain());
      this.#listing = listed.catch(() => this.current && this.#frame.report(problem));
    });
  }

  /** What it lists takes effect as after a start. Rejects if it cannot be listed, or if the session ends for it. */
  async #listAgain(): Promise<void> {
    await this.ready;
    const { current, said } = this;
    if (current === undefined || said === undefined) return;
    this.beginRequest();
    try {
      const lists = await current.list();
      if (this.current !== current) return;
      this.said = { ...said, ...lists };
      await this.#compare(said, this.said);
    } finally {
      this.endRequest();
    }
  }

  #listen(): ServerEvents {
    const { label } = this.plan;
    const { report, reportOnce, log, options } = this.#frame;
    return {
      onStdoutNoise: (line) => report(createProblem("StdoutNoise", { label, line }, this.#place)),
      onListChanged: (list) => {
        if (this.isFollowed) this.#listSoon(list);
        else reportOnce(createProblem("ToolListChanged", { label, list }, this.#place));
      },
      onLeftOut: (fault) =>
        reportOnce(createProblem("ServerResultIncomplete", { label, ...fault }, this.#place)),
      onSlow: (ms) => options.onWait?.({ label, limitMs: ms === -1 ? null : ms }),
      // Modern servers are asked for log messages only then.
      onLog: options.onLog && (({ level, data }) => log({ tool: label, level, data })),
    };
  }

  /** Notes a request, which it does not end before. Call `endRequest` once. */
  beginRequest(): void {
    this.#requests += 1;
    this.#cancelIdle();
  }

  endRequest(): void {
    this.#requests -= 1;
    this.awaitIdle();
  }

  awaitIdle(): void {
    this.#cancelIdle();
    if (this.idleMs === undefined || this.#requests > 0 || this.life.is !== "running") return;
    this.#cancelIdle = clock.after(this.idleMs, () => {
      // The next request starts it again, when this process has ended.
      this.life = { is: "idle" };
      void this.#endProcess();
    });
  }

  /** Ends the process, if there is one that has not ended. Never rejects. */
  async #endProcess(): Promise<void> {
    await this.#process?.then((server) => server.close()).catch(() => {});
  }

  /** Compares what it lists with the lock, or else with what it said before. Rejects if the session ends for it. */
  async #compare(before: Introduction | undefined, now: Introduction): Promise<void> {
    const { states, report } = this.#frame;
    const isLocked = await states.onStarted(this);
    if (before === undefined || (isLocked && !this.isFollowed)) return;
    const { label } = this.plan;
    const entriesOf = (said: Introduction, key: ListKey) => said.entries.filter(({ list }) => list === key);
    const list = listKeys.find((key) => !isDeepStrictEqual(entriesOf(before, key), entriesOf(now, key)));
    if (list === undefined && before.instructions === now.instructions) return;
    if (!this.#announce() && list !== undefined)
      report(createProblem("ToolListChanged", { label, list: listRules[list].capability }, this.#place));
  }

  /** Starts it again if it may be; `restartReason` says why the last restart failed. */
  #restart(exit: UnexpectedExit, restartReason?: string): void {
    const { label } = this.plan;
    const { processes, rules } = this.#frame;
    const isRelaunched = this.#mayRestart();
    // Before the host hears of it.
    if (!isRelaunched) {
      this.exit = exit;
      this.life = { is: "ended", error: failure("ServerStartFailed", { label, exit }) };
      processes.onExit({ label, exit, restartReason }, this.#place);
      return;
    }
    if (restartReason === undefined) processes.onExit({ label, exit, isRelaunched }, this.#place);
    this.#begin("restart").catch(({ cause, message }: Error) => {
      const reason = cause instanceof Error ? cause.message : message;
      const failed = this.life;
      if (failed.is !== "failed") return;
      const again = () => this.life === failed && this.#restart(exit, reason);
      if ("url" in this.plan && rules.mode === "served") clock.after(remoteRestartMs, again);
      else again();
    });
  }

  /**
   * Calls `changed` after each change of a resource that the server tells of, and after a restart, until the returned function
   * is called. Until then, the server does not end for want of calls. `isRefused`: whether the lock does not approve the
   * resource, now that it is known what the server lists.
   */
  watchResource(uri: string, changed: () => void, isRefused: () => boolean): () => void {
    let end = () => {};
    const begin = (server: Server) => {
      end();
      end = isRefused() ? () => {} : server.watchResource(uri, changed);
    };
    const watch = { begin, changed };
    this.#watches.add(watch);
    if (this.current !== undefined) begin(this.current);
    this.beginRequest();
    // It joins the watch when it is ready; a failure is for the next call to tell.
    this.start().catch(() => {});
    return () => {
      if (!this.#watches.delete(watch)) return;
      end();
      this.endRequest();
    };
  }

  /** Why it has not started with its session. Throws any other error than a `TrailblazeError`. */
  get fault(): Problem | undefined {
    const error = this.life.is === "ended" && this.said === undefined ? this.life.error : undefined;
    if (error !== undefined && !(error instanceof TrailblazeError)) throw error;
    return error?.problem;
  }

  /** Keeps it running until the returned function is called, once. It is closed when the last one is. */
  hold(): () => void {
    this.#holders += 1;
    return () => {
      this.#holders -= 1;
      if (this.#holders === 0) void this.close();
    };
  }

  /** The running server; `undefined` while it starts, or is compared with the lock. */
  get current(): Server | undefined {
    return this.life.is === "running" ? this.life.server : undefined;
  }

  /** Settles when its start has; at once while it is idle. Rejects with `TrailblazeError` `ServerStartFailed`. */
  get ready(): Promise<unknown> {
    const { life } = this;
    if (life.is === "failed" || (life.is === "ended" && this.said === undefined))
      return Promise.reject(life.error);
    return life.is === "starting" ? life.ready : Promise.resolve();
  }

  /** Ends it. Idempotent; never rejects. */
  async close(): Promise<void> {
    const error = failure("ServerStartFailed", { label: this.plan.label, reason: "it has been closed" });
    this.#forget();
    this.life = { is: "ended", error };
    this.#cancelIdle();
    this.#cancelListing?.();
    await this.#endProcess();
  }
}
