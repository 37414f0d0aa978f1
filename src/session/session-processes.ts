import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { CallbackEndpoint } from "../callback/callback-endpoint.ts";
import type { SessionConfig } from "../config/session-config.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import type { Authorization } from "../mcp/client/remote-server.ts";
import type { Server } from "../mcp/client/server.ts";
import type { ServerEvents } from "../mcp/client/server-calls.ts";
import {
  createProblem,
  failure,
  type ProblemArguments,
  type ProblemPlace,
  type UnexpectedExit,
} from "../problems/index.ts";
import { abortable, whenAborted } from "../runtime/abort-listeners.ts";
import { declaredApps } from "../runtime/apps.ts";
import { createEnvironment, type OwnEnvironment } from "../runtime/server-environment.ts";
import type { RemotePlan, ServerPlan } from "../runtime/server-launches.ts";
import { clock } from "../runtime/time-limit.ts";
import type { CodeOwner, CodeRunner } from "../runtime/tool-code.ts";
import { hashProgram } from "./follow-project.ts";
import type { Initializer } from "./read-project.ts";
import type { SessionFrame } from "./session-frame.ts";
import { SessionServer } from "./session-servers.ts";

/** How often a process is restarted while a session is served. */
const servedRestarts = { most: 3, withinMs: 60_000 };

/** Loads what starts processes: most code of a session, which one without processes does not need. */
async function loadLaunching(haste: AbortSignal | undefined) {
  const [{ startServer }, { RemoteCarrier }, { Server }, { createProcessPort }] = await Promise.all([
    import("../mcp/client/start-server.ts"),
    import("../mcp/client/remote-server.ts"),
    import("../mcp/client/server.ts"),
    import("../processes/server-process.ts"),
  ]);
  // One port, so that all processes have one watcher.
  return { startServer, RemoteCarrier, Server, processes: createProcessPort({ haste }) };
}

const keyOf = ({ pack, content = "" }: CodeOwner) =>
  pack === undefined ? "" : `${pack.location}\n${content}`;

interface OwnedCode {
  runner?: Promise<CodeRunner> | undefined;
  /** How its process exited, if it was not restarted. */
  exit?: UnexpectedExit;
  /** Whether its process may be restarted after an exit; created at the first one. */
  mayRestart?: () => boolean;
  holders: number;
}

/** The processes of a session: its servers and the runners of its packs' code. Handles their exits. */
export class SessionProcesses {
  /** The endpoint for callbacks of servers; `undefined` until it listens. */
  callback: CallbackEndpoint | undefined;
  readonly #frame: SessionFrame;
  /** The keys of what writes to log files, by the files' names in lower case, because some file systems ignore case. */
  readonly #logFiles = new Map<string, string>();
  #launching: ReturnType<typeof loadLaunching> | undefined;
  /** What runs in each process of its owner before other code. */
  initializers: readonly Initializer[] = [];
  /** By the place and the content of each pack's code, and with an empty key for the host's own. */
  readonly #code = new Map<string, OwnedCode>();
  readonly #servers = new Map<string, SessionServer>();

  constructor(frame: SessionFrame) {
    this.#frame = frame;
    frame.resources.add(() =>
      Promise.allSettled([...this.#code.values()].map(async ({ runner }) => (await runner)?.close())),
    );
  }

  prepare(): ReturnType<typeof loadLaunching> {
    this.#launching ??= Promise.all([loadLaunching(this.#frame.options.signal), this.#openCallback()]).then(
      ([launching]) => launching,
    );
    return this.#launching;
  }

  async #openCallback(): Promise<void> {
    const { id: sessionId, resources, config, calls } = this.#frame;
    const { callback: limits } = config();
    if (!limits.enabled) return;
    const { openCallbackEndpoint } = await import("../callback/callback-endpoint.ts");
    const findInvocation = (invocationId: string) => calls.findInvocation(invocationId);
    const callback = await openCallbackEndpoint({ sessionId, limits, findInvocation });
    resources.add(() => callback.close());
    this.callback = callback;
  }

  /**
   * The server of this launch, which exists already or is new. It starts immediately, and its `ready` settles when the start
   * has succeeded or failed, unless it `isLazy`. The caller holds it as long as it is needed.
   */
  getServer(plan: ServerPlan, config: SessionConfig, isLazy: boolean): SessionServer {
    this.#frame.resources.closing.throwIfAborted();
    const launch = this.#identify(plan, config);
    for (const [key, { life }] of this.#servers) if (life.is === "ended") this.#servers.delete(key);
    const server = this.#servers.get(launch) ?? new SessionServer(plan, config, this.#frame);
    this.#servers.set(launch, server);
    const idleMs = plan.entry.idleMs ?? config.serversIdleMs;
    if (server.idleMs !== idleMs) {
      // Otherwise, the time that it has been idle counts.
      server.idleMs = idleMs;
      server.awaitIdle();
    }
    if (!isLazy) server.startWithSession();
    return server;
  }

  /** Equal for servers that one process can be. */
  #identify(plan: ServerPlan, config: SessionConfig): string {
    // In the one state of a session that stays as it is, servers have keys of their own.
    if (!this.#frame.options.watch) return plan.key;
    const { entry, source: _, place: __, secrets: ___, fault, ...launch } = plan;
    const { protocol, timeouts = config.timeouts } = entry;
    const isInstalled = plan.pack !== undefined || entry.package !== undefined;
    const content = "url" in plan || !isInstalled ? "" : hashProgram(plan);
    return JSON.stringify([launch, content, fault?.problem, protocol, timeouts, config.device]);
  }

  async start(server: SessionServer, events: ServerEvents): Promise<Server> {
    const { plan, config } = server;
    const { memory, options, rules } = this.#frame;
    const canAsk = options.onInput !== undefined || rules.mode === "served";
    const apps = declaredApps(options);
    const { label, key, fault, entry } = plan;
    const { protocol = "auto" } = entry;
    const common = { protocol, timeouts: { ...config.timeouts, ...entry.timeouts }, canAsk, apps };
    const { startServer, RemoteCarrier, Server, processes } = await this.prepare();
    if (server.life.is === "ended") throw server.life.error;
    if (fault !== undefined) throw fault;
    if ("url" in plan) {
      options.onConnect?.({ label, url: plan.shown });
      const launch = { ...plan, ...common, secrets: () => memory.secrets() };
      const carrier = new RemoteCarrier(launch, { authorization: await this.#authorize(plan) });
      return new Server(launch, events, carrier);
    }
    const { command, args, cwd } = plan;
    options.onCommand?.({ label, ...plan.shown, cwd });
    // Only programs that get the context call back: the endpoint listens on this machine.
    const callback = plan.context ? this.callback : undefined;
    const token = callback?.issueToken(key);
    const env = this.#createEnvironment(plan.environment, config, token);
    const logFile = this.#logFileOf(key, label);
    const secrets = () => [...(token === undefined ? [] : [token]), ...memory.secrets()];
    const launch = { ...common, label, command, args, cwd, env, logFile, secrets };
    const starting = startServer(launch, events, { processes });
    if (callback !== undefined && token !== undefined) {
      const revoke = () => callback.revokeToken(token);
      starting.then(({ closing }) => whenAborted(closing, revoke), revoke);
    }
    return starting;
  }

  /** Where the tokens for a server are from; `undefined` if its headers have credentials. */
  async #authorize({ oauth, ...plan }: RemotePlan): Promise<Authorization | undefined> {
    const { memory, options } = this.#frame;
    if (oauth === undefined) return undefined;
    const { useHostTokens, useStoredTokens } = await import("../sign-in/renew.ts");
    const onSecrets = (secrets: readonly string[]) => memory.addSecrets(secrets);
    const server = { ...plan, oauth };
    const provider = options.authProvider?.(plan.label, plan.url);
    return provider === undefined
      ? useStoredTokens(server, onSecrets)
      : useHostTokens(server, provider, onSecrets);
  }

  /** Returns whether a process that has exited may be restarted: at most `most` times within `withinMs` milliseconds. */
  createRestarts({ crash }: SessionConfig): () => boolean {
    const once = { most: crash === "relaunch" ? 1 : 0, withinMs: Number.POSITIVE_INFINITY };
    const { most, withinMs } = this.#frame.rules.mode === "served" ? servedRestarts : once;
    let times: number[] = [];
    return () => {
      const now = clock.now();
      times = times.filter((time) => now - time < withinMs);
      if (times.length >= most) return false;
      times.push(now);
      return true;
    };
  }

  /** Reports an exit, which ends the session unless the process is restarted, or the config says otherwise. */
  onExit(died: ProblemArguments["ServerDied"], place: ProblemPlace): void {
    const { config, report, resources, rules } = this.#frame;
    const { isRelaunched, restartReason: _, ...ended } = died;
    const isServed = rules.mode === "served" || undefined;
    report(createProblem("ServerDied", { ...died, isServed }, place));
    if (isRelaunched || isServed || config().crash === "isolate") return;
    void resources.close(failure("SessionClosed", ended));
  }

  /** The same file for the same key; labels of other keys that map to it are numbered. */
  #logFileOf(key: string, label: string): string {
    // Fits every file system.
    const base = label.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 200);
    for (let number = 1; ; number++) {
      const name = number === 1 ? `${base}.log` : `${base}-${number}.log`;
      const owner = this.#logFiles.get(name.toLowerCase()) ?? key;
      this.#logFiles.set(name.toLowerCase(), owner);
      if (owner === key) return join(this.#frame.logDir, name);
    }
  }

  #createEnvironment(own: OwnEnvironment, config: SessionConfig, token?: string) {
    const { callback } = this;
    const { id, rules } = this.#frame;
    const { timeoutMs } = config.callback;
    const mayCall = callback !== undefined && token !== undefined;
    return createEnvironment(own, {
      project: realpathSync(config.project),
      hostEnvironment: process.env,
      platform: process.platform,
      device: config.device,
      // Members of a composed server learn nothing of the session.
      sessionId: rules.selection?.composed === undefined ? id : undefined,
      callback: mayCall ? { baseUrl: callback.baseUrl, port: callback.port, token, timeoutMs } : undefined,
    });
  }

  #codeOf(owner: CodeOwner): OwnedCode {
    const code = this.#code.get(keyOf(owner)) ?? { holders: 0 };
    this.#code.set(keyOf(owner), code);
    return code;
  }

  /** Keeps an owner's runner until the returned function is called, once. It is closed when the last one is. */
  holdCode(owner: CodeOwner): () => void {
    const code = this.#codeOf(owner);
    code.holders++;
    return () => {
      if (--code.holders > 0) return;
      this.#code.delete(keyOf(owner));
      code.runner?.then((runner) => runner.close()).catch(() => {});
    };
  }

  /** Runs in this process, unless the project is followed or the config isolates packs. */
  runnerOf(owner: CodeOwner): Promise<CodeRunner> {
    const code = this.#codeOf(owner);
    if (code.runner !== undefined) return code.runner;
    const created = this.#createRunner(owner);
    code.runner = created;
    created.catch(() => {
      if (code.runner === created) code.runner = undefined;
    });
    return created;
  }

  /** How an owner's process exited, unless the next call gets a new one. */
  exitOf(owner: CodeOwner): UnexpectedExit | undefined {
    return this.#code.get(keyOf(owner))?.exit;
  }

  async #createRunner(owner: CodeOwner): Promise<CodeRunner> {
    const runner = await this.#launchRunner(owner);
    const { closing } = this.#frame.resources;
    for (const { name, place, options, ...one } of this.initializers) {
      if (one.owner.pack?.location !== owner.pack?.location) continue;
      // It may never settle, and the session that ends does not wait for it.
      await abortable(closing, () => runner.initialize(place, { options })).catch(async (error: unknown) => {
        await runner.close();
        const reason = error instanceof Error ? error.message : String(error);
        throw failure("InitializeFailed", { name, reason });
      });
    }
    return runner;
  }

  async #launchRunner(owner: CodeOwner): Promise<CodeRunner> {
    const { memory, options, rules } = this.#frame;
    const { pack, root } = owner;
    const config = this.#frame.config();
    if (pack === undefined || !(options.watch || config.isolation === "process")) {
      const { createInProcessRunner } = await import("../runtime/in-process-runner.ts");
      return createInProcessRunner(root);
    }
    const label = pack.qualifiedName;
    const own = { toolsetFile: join(root, "package.json"), env: {}, envPassthrough: [], ofFile: {} };
    const env = this.#createEnvironment(own, config);
    const { processes } = await this.prepare();
    const { createProcessRunner } = await import("../runtime/process-runner.ts");
    return createProcessRunner({
      root,
      env,
      processes,
      redactor: memory.redactor,
      logFile: this.#logFileOf(`code ${label}`, label),
      onText: rules.onOutput,
      onLateError: (message) => this.#frame.log({ tool: label, level: "error", data: message }),
      onExit: (exit, isUsed) => this.#onCodeExit(owner, pack, exit, isUsed),
    });
  }

  /** Handles the unexpected exit of a child process with a pack's code, as for servers. */
  #onCodeExit(owner: CodeOwner, pack: DiscoveredPack, exit: UnexpectedExit, isUsed: boolean): void {
    if (this.#frame.resources.closing.aborted) return;
    const code = this.#codeOf(owner);
    // Its folder may be gone for a moment, during an installation: the first call starts it again, and reports what is wrong.
    if (!isUsed) {
      code.runner = undefined;
      return;
    }
    code.mayRestart ??= this.createRestarts(this.#frame.config());
    const isRelaunched = code.mayRestart();
    if (isRelaunched) code.runner = undefined;
    else code.exit = exit;
    this.onExit({ label: pack.qualifiedName, of: "code", exit, isRelaunched }, { pack: pack.name });
  }
}
