import type { Readable } from "node:stream";
import { describeExit, failure, type UnexpectedExit } from "../../problems/index.ts";
import {
  type EndDurations,
  endDurations,
  type ProcessEnd,
  type ProcessLog,
  type ProcessPort,
  type SupervisedProcess,
} from "../../processes/server-process.ts";
import { atMost } from "../../runtime/abort-listeners.ts";
import { notifyHost } from "../../runtime/late-errors.ts";
import {
  createOutputTail,
  cutTail,
  keptTailBytes,
  readToEnd,
  shownTailBytes,
} from "../../runtime/process-output.ts";
import { systemClock } from "../../runtime/time-limit.ts";
import { AnswerError } from "./answer-error.ts";
import {
  type ConnectedProcess,
  type ConnectedServer,
  ServerCallError,
  type ServerEvents,
  type ServerLaunch,
} from "./connected-server.ts";
import { createRedactor, type Redactor } from "./redact.ts";
import { describeAnswer, describeMessage } from "./server-calls.ts";
import { ServerConnection } from "./server-connection.ts";
import type { ListLimits } from "./server-lists.ts";
import { type ChannelLimits, openStdioChannel, type StdioChannel } from "./stdio-channel.ts";

export interface ErrorOutput {
  /** The last 4 KiB, redacted. */
  tail(): string;
  /** Ends the output. Resolves when the log is written. */
  finish(): Promise<void>;
}

/** Reads a server's stderr as it arrives, even without a log. */
export function captureErrorOutput(
  stderr: Readable,
  redactor: Redactor,
  log: ProcessLog | undefined,
): ErrorOutput {
  const redacting = redactor.createStream();
  const tail = createOutputTail(keptTailBytes);
  let finished: Promise<void> | undefined;
  const keep = (text: string) => {
    tail.add(Buffer.from(text));
    log?.write(text);
  };
  stderr.on("data", (chunk: Buffer) => {
    if (finished === undefined) keep(redacting.push(chunk));
  });
  return {
    // A string can become a secret after it was written.
    tail: () => cutTail(redactor.redact(tail.toString()), shownTailBytes),
    finish() {
      if (finished === undefined) {
        keep(redacting.end());
        finished = log?.end() ?? Promise.resolve();
      }
      return finished;
    },
  };
}

export interface StartOptions {
  /** Shared by all servers of a session, which then have one watcher. */
  processes: ProcessPort;
  /** Shortened in tests. */
  durations?: Partial<EndDurations>;
  limits?: Partial<ServerLimits>;
}

export interface ServerLimits extends ChannelLimits {
  list: ListLimits;
  logBytes: number;
}

/** A server that is starting. */
export interface StartingServer<Server extends ConnectedServer = ConnectedServer> {
  readonly label: string;
  /**
   * Rejects after the server's processes have ended, with `ServerStartFailed`; of a remote server also with
   * `AuthorizationRequired` and `RemoteRedirect`.
   */
  readonly ready: Promise<Server>;
  /** Ends the server, also while it starts. */
  close(): Promise<void>;
}

const MiB = 1 << 20;
export const defaultLimits: ServerLimits = {
  frameBytes: 32 * MiB,
  waitingBytes: 32 * MiB,
  depth: 512,
  list: { pages: 1000, entries: 10_000, bytes: 64 * MiB },
  logBytes: 10 * MiB,
};
const noiseCharacters = 200;
/** How long a server may run after it has closed its stdout. Milliseconds. */
const silentMs = 1000;
/** For reading the remaining output and writing the log. Milliseconds. */
const lastMs = 2000;
/** How long the exit of a process may lag behind the end of its pipes. Milliseconds. */
const exitLagMs = 250;

/** The states of a server, in order; it never returns to an earlier one. */
type State =
  | { at: "open" }
  /** The host is ending the process, and its calls fail with it. `stderrTail` is from before its stdout was closed. */
  | { at: "failing"; reason: string; stderrTail: string | undefined }
  | { at: "ended"; why: ServerCallError };

class ServerProcess implements StartingServer<ConnectedProcess> {
  readonly label: string;
  readonly ready: Promise<ConnectedProcess>;
  readonly #limits: ServerLimits;
  readonly #durations: EndDurations;
  readonly #redactor: Redactor;
  readonly #child: SupervisedProcess;
  readonly #errorOutput: ErrorOutput;
  readonly #channel: StdioChannel;
  readonly #connection: ServerConnection;
  /** Resolves when the process has exited and its output is read; with the exit if it was unexpected. */
  readonly #exited: Promise<UnexpectedExit | undefined>;
  #state: State = { at: "open" };
  /** What it first wrote to stdout that is not MCP. */
  #noise = "";

  constructor(launch: ServerLaunch, events: ServerEvents, { processes, ...options }: StartOptions) {
    const { label, timeouts, protocol, canAsk } = launch;
    this.label = label;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#durations = { ...endDurations, ...options.durations };
    this.#redactor = createRedactor(launch.secrets);
    const { logFile } = launch;
    const log = logFile === undefined ? undefined : processes.openLog(logFile, this.#limits.logBytes);
    const child = processes.start(launch);
    this.#child = child;
    this.#errorOutput = captureErrorOutput(child.stderr, this.#redactor, log);
    this.#channel = openStdioChannel(child, this.#limits, {
      onNoise: (line) => {
        const isFirst = this.#noise === "";
        this.#noise += `${line}\n`;
        // The rest of a line that it could not finish is no news while it runs.
        if (!isFirst || child.stdout.readableEnded) return;
        const start = [...this.#redactor.redactCut(line)].slice(0, noiseCharacters).join("");
        notifyHost(() => events.onStdoutNoise(start));
      },
      // Later output is about its closed stdout.
      onFault: (reason) => this.#breakOff(reason, this.#errorOutput.tail()),
    });
    this.#connection = new ServerConnection(this.#channel, {
      label,
      timeouts,
      protocol,
      canAsk,
      events,
      redactor: this.#redactor,
      limits: this.#limits.list,
      clock: systemClock,
      bytesRead: this.#channel.bytesRead,
      findEnd: () => (this.#state.at === "ended" ? this.#state.why : undefined),
    });
    child.stdout.on("end", () => {
      const timer = setTimeout(() => this.#breakOff("it has closed its output"), silentMs).unref();
      void child.exited.then(() => clearTimeout(timer));
    });
    this.#exited = child.exited.then((end) => this.#onExit(end));
    this.ready = this.#connect().catch((error) => this.#fail(error));
    // A caller that starts several servers stops at the first failure and never handles the others.
    this.ready.catch(() => {});
  }

  /** Ends a server that can no longer communicate; the first reason counts. */
  #breakOff(reason: string, stderrTail?: string): void {
    if (this.#state.at === "open") this.#state = { at: "failing", reason, stderrTail };
    void this.#child.end({ inputMs: 0, termMs: this.#durations.termMs });
  }

  #end(why: ServerCallError): void {
    if (this.#state.at === "ended") return;
    this.#state = { at: "ended", why };
    this.#channel.detach();
    this.#connection.close();
  }

  async #onExit(end: ProcessEnd): Promise<UnexpectedExit | undefined> {
    await readToEnd([this.#child.stdout, this.#child.stderr]);
    void this.#errorOutput.finish();
    const state = this.#state;
    if (state.at === "ended") return undefined;
    const fault = state.at === "failing" ? state : undefined;
    const exit: UnexpectedExit = {
      ...end,
      reason: fault?.reason,
      stderrTail: fault?.stderrTail ?? this.#errorOutput.tail(),
    };
    const message = `Server "${this.label}" ${describeExit(exit)}.`;
    this.#end(new ServerCallError("exited", message, exit));
    return exit;
  }

  /** Resolves when the process has exited and its log is written. */
  async #stop(steps: EndDurations): Promise<void> {
    if (this.#child.pid === undefined) return;
    await this.#child.end(steps);
    const written = this.#exited.then(() => this.#errorOutput.finish());
    // Do not wait for a process that survives SIGKILL.
    await atMost(written, lastMs);
  }

  #throwIfEnded(): void {
    if (this.#state.at === "ended") throw this.#state.why;
  }

  async #connect(): Promise<ConnectedProcess> {
    const { label, close } = this;
    await this.#child.started;
    this.#throwIfEnded();
    const open = await this.#connection.open();
    this.#throwIfEnded();
    const exit = new Promise<UnexpectedExit>((resolve) => {
      void this.#exited.then((reached) => reached && resolve(reached));
    });
    const pid = this.#child.pid ?? 0;
    return { label, pid, ...open, exit, close };
  }

  async #fail(error: unknown): Promise<never> {
    // A server that closes its input is usually about to exit, and the exit is the better reason.
    if (error instanceof AnswerError && error.code === undefined) {
      await atMost(this.#exited, exitLagMs);
    }
    const { label } = this;
    const state = this.#state;
    const exit = state.at === "ended" ? state.why.exit : undefined;
    const describe = () => {
      if (state.at === "ended") return "it was closed before it was ready";
      if (state.at === "failing") return state.reason;
      if (error instanceof AnswerError) return describeAnswer(error, this.#redactor);
      return describeMessage(error instanceof Error ? error.message : String(error), this.#redactor);
    };
    const cause = exit === undefined ? { reason: describe() } : { exit };
    this.#end(new ServerCallError("closed", `Server "${label}" is closed.`));
    await this.#stop({ inputMs: 0, termMs: this.#durations.termMs });
    const tailAtFailure = state.at === "failing" ? state.stderrTail : exit?.stderrTail;
    const stderrTail = tailAtFailure ?? this.#errorOutput.tail();
    const stdout = this.#redactor.redactCut(this.#noise).trim();
    const said = { stderrTail: stderrTail || undefined, stdout: stdout || undefined };
    const hint = "Check `command` and `cwd` of the server, and that the program is installed.";
    const advice = this.#child.pid === undefined && state.at === "open" ? { hint } : {};
    const reason = exit === undefined ? cause.reason : `it ${describeExit(exit)}`;
    throw failure(
      "ServerStartFailed",
      { label, ...cause, ...said, ...advice },
      {},
      { cause: new Error(reason) },
    );
  }

  readonly close = (): Promise<void> => {
    this.#end(new ServerCallError("closed", `Server "${this.label}" is closed.`));
    return this.#stop(this.#durations);
  };
}

/** Starts the process immediately; `ready` resolves when its tools are known. */
export function startServer(
  launch: ServerLaunch,
  events: ServerEvents,
  options: StartOptions,
): StartingServer<ConnectedProcess> {
  return new ServerProcess(launch, events, options);
}

/** Starts a server and waits for its tools. Rejects with `ServerStartFailed` after its processes have ended. */
export function connectServer(
  launch: ServerLaunch,
  events: ServerEvents,
  options: StartOptions,
): Promise<ConnectedProcess> {
  return startServer(launch, events, options).ready;
}
