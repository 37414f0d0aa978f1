import { join } from "node:path";
import type { CallbackEndpoint } from "../callback/callback-endpoint.ts";
import type { SessionConfig } from "../config/session-config.ts";
import { createStreamRedactor } from "../mcp/client/redact.ts";
import { type StartingServer, startServer } from "../mcp/client/start-server.ts";
import {
  createProblem,
  failure,
  type Problem,
  type ProcessEnded,
  type TrailblazeError,
} from "../problems/index.ts";
import type { ProcessPort } from "../processes/process-port.ts";
import { createProcessPort } from "../processes/server-process.ts";
import type { CodeDiedError } from "../runtime/code-died-error.ts";
import { CodeRunners, describeCodeExit } from "../runtime/code-runners.ts";
import { createRunner } from "../runtime/create-runner.ts";
import { createPackEnvironment } from "../runtime/server-environment.ts";
import type { ServerPlan } from "../runtime/server-launches.ts";
import type { OutcomeRunner } from "../runtime/tool-code.ts";
import type { CodeOwner } from "../runtime/tool-source.ts";
import { LogFiles, openLogs } from "./log-files.ts";
import type { SessionMemory } from "./session-memory.ts";
import type { SessionOptions } from "./session-options.ts";
import type { SessionResources } from "./session-resources.ts";
import { SessionServer } from "./session-servers.ts";
import type { ToolLog } from "./tool-calls.ts";

/** The limit of the log of a pack's code in a child process. */
const maximumLogBytes = 10 << 20;

export interface ProcessesOptions {
  sessionId: string;
  config: SessionConfig;
  memory: SessionMemory;
  /** Holds everything that is started, to end it with the session. */
  resources: SessionResources;
  onCommand: SessionOptions["onCommand"];
  /** The caller's signal: after it aborts, processes get less time to end. */
  haste: AbortSignal | undefined;
  /** Called for exits and for protocol violations of servers. */
  report(problem: Problem): void;
  log(entry: ToolLog): void;
}

/** A server that fails before there is a process. */
function createFailedStart(label: string, fault: TrailblazeError): StartingServer {
  const ready = Promise.reject(fault);
  ready.catch(() => {});
  return { label, ready, close: async () => {} };
}

/** The processes of a session: its servers and the runners of its packs' code. Handles their exits. */
export class SessionProcesses {
  /** The folder with the logs, absolute. */
  readonly logDir: string;
  readonly runners: CodeRunners;
  /** The endpoint for callbacks of servers; `undefined` until it listens. */
  callback: CallbackEndpoint | undefined;
  readonly #options: ProcessesOptions;
  readonly #logFiles = new LogFiles();
  /** Shared, so that all processes have one watcher. */
  readonly #processes: ProcessPort;

  constructor(options: ProcessesOptions) {
    const { sessionId, config, resources } = options;
    this.#options = options;
    this.#processes = createProcessPort({ haste: options.haste });
    this.logDir = openLogs(sessionId, config);
    this.runners = new CodeRunners((owner) => this.#createRunner(owner));
    resources.add(() => this.runners.close());
  }

  /** Starts a server immediately; its `ready` settles when the start has succeeded or failed. */
  startServer(plan: ServerPlan): SessionServer {
    const { config, memory, resources, onCommand, report, log } = this.#options;
    resources.closing.throwIfAborted();
    const { label, command, args, cwd, protocol, fault } = plan;
    const server = new SessionServer(plan, {
      callback: this.callback,
      relaunches: config.crash === "relaunch" ? 1 : 0,
      start: (token, events) => {
        if (fault !== undefined) return createFailedStart(label, fault);
        onCommand?.({ label, ...plan.shown, cwd });
        const env = plan.createEnvironment(this.#environmentFacts(token));
        const logFile = this.#logFileOf(plan.key, label);
        const secrets = () => [...(token === undefined ? [] : [token]), ...memory.secrets()];
        return startServer(
          { label, command, args, cwd, env, logFile, secrets, timeouts: config.timeouts, protocol },
          { ...events, onLog: (entry) => log({ tool: label, level: entry.level, data: entry.data }) },
          { processes: this.#processes },
        );
      },
      report,
      onExit: (exit) => this.#onExit({ label, exit }),
    });
    resources.add(() => server.close());
    return server;
  }

  /** Handles an exit after which nothing was restarted. */
  #onExit(ended: ProcessEnded): void {
    if (this.#options.config.crash === "isolate") return;
    void this.#options.resources.close(failure("SessionClosed", ended));
  }

  #logFileOf(key: string, label: string): string {
    return join(this.logDir, this.#logFiles.nameFor(key, label));
  }

  #environmentFacts(token: string | undefined) {
    const { callback } = this;
    const { config, sessionId } = this.#options;
    const { timeoutMs } = config.callback;
    return {
      hostEnvironment: process.env,
      platform: process.platform,
      device: config.device,
      sessionId,
      callback:
        callback === undefined || token === undefined
          ? undefined
          : { baseUrl: callback.baseUrl, port: callback.port, token, timeoutMs },
    };
  }

  async #createRunner(owner: CodeOwner): Promise<OutcomeRunner> {
    const { config, memory, resources } = this.#options;
    const { pack, root } = owner;
    const inChild = pack !== undefined && config.isolation === "process";
    const label = pack?.qualifiedName ?? "the host";
    const onLateError = (message: string) =>
      this.#options.log({ tool: label, level: "error", data: message });
    if (!inChild) {
      return createRunner({ root, trusted: pack === undefined, child: undefined, onLateError });
    }
    const toolsetFile = join(root, "package.json");
    const env = createPackEnvironment({ ...this.#environmentFacts(undefined), toolsetFile }, {});
    const log = this.#processes.openLog(this.#logFileOf(`code ${label}`, label), maximumLogBytes);
    const clean = createStreamRedactor(memory.createTextRedactor());
    resources.add(() => {
      log.write(clean.end());
      return log.end();
    });
    const child = {
      env,
      onOutput: (chunk: Buffer) => log.write(clean.push(chunk)),
      processes: this.#processes,
    };
    const runner = await createRunner({ root, trusted: false, child, onLateError });
    void runner.exit?.then((error) => this.#onCodeExit(owner, label, error));
    return runner;
  }

  /** Handles the unexpected exit of a child process with a pack's code, as for servers. */
  #onCodeExit(owner: CodeOwner, label: string, error: CodeDiedError): void {
    const { config, memory, resources, report } = this.#options;
    if (resources.closing.aborted) return;
    this.runners.noteExit(owner, error);
    const isRelaunched = config.crash === "relaunch" && this.runners.renew(owner);
    const place = owner.pack === undefined ? {} : { pack: owner.pack.name };
    const { stderr: stderrTail } = describeCodeExit(error, (text) => memory.redact(text));
    const { exitCode, signal, reason } = error;
    const exit = { exitCode, signal, ...(reason && { reason }), stderrTail };
    const ended = { label, of: "code" as const, exit };
    report(createProblem("ServerDied", { ...ended, isRelaunched }, place));
    if (!isRelaunched) this.#onExit(ended);
  }
}
