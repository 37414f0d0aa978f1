import { failure } from "../../problems/index.ts";
import type { EndDurations, ProcessEnd, ProcessPort } from "../../processes/process-port.ts";
import { whenAborted } from "../../runtime/abort-listeners.ts";
import { notifyHost } from "../../runtime/late-reports.ts";
import {
  type AdvertisedTool,
  type ConnectedServer,
  ServerCallError,
  type ServerDeath,
  type ServerEvents,
  type ServerLaunch,
} from "./connected-server.ts";
import { type Incoming, own } from "./incoming-message.ts";
import { type ListLimits, listTools } from "./list-tools.ts";
import { AnswerError, createMcpClient, loadMcpClient, type McpClient } from "./mcp-client.ts";
import { createRedactor } from "./redact.ts";
import { createServerCalls, describeAnswer, describeWords, type ServerCalls } from "./server-calls.ts";
import { captureErrorOutput, readToEnd } from "./server-output.ts";
import { type ChannelLimits, openStdioChannel, type StdioChannel } from "./stdio-channel.ts";

export interface ServerMeans {
  /** One for the whole session: its servers then share one watcher. */
  processes: ProcessPort;
  /** What tests shorten. */
  durations?: Partial<EndDurations>;
  limits?: Partial<ServerLimits>;
}

export interface ServerLimits extends ChannelLimits {
  list: ListLimits;
  logBytes: number;
}

/** A process that was started, and what becomes of it. */
export interface StartingServer {
  readonly label: string;
  /** Rejects with `ServerStartFailed`, when nothing of the server is left running. */
  readonly ready: Promise<ConnectedServer>;
  /** Ends the server, ready or not. */
  close(): Promise<void>;
}

const MiB = 1 << 20;
const defaultLimits: ServerLimits = {
  frameBytes: 32 * MiB,
  waitingBytes: 32 * MiB,
  depth: 512,
  list: { pages: 1000, tools: 10_000, bytes: 64 * MiB },
  logBytes: 10 * MiB,
};
const defaultDurations: EndDurations = { inputMs: 5000, termMs: 2000 };
/** How often a list is fetched again because it changed while it was. */
const mostListings = 3;
const noiseCharacters = 200;
/** How long a server may live on after it has closed its stdout. */
const silentMs = 1000;
/** For reading what a process has left behind, and writing its log. */
const lastMs = 2000;
/** How long the end of a process may stay behind the end of its pipes. */
const dyingMs = 250;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref());

const describeEnd = ({ exitCode, signal }: ProcessEnd) =>
  signal === null ? `it ended with exit code ${exitCode}` : `it was ended by ${signal}`;

const errorText = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Starts the process at once, and says when its tools are known. */
export function startServer(launch: ServerLaunch, events: ServerEvents, means: ServerMeans): StartingServer {
  const { label } = launch;
  const limits = { ...defaultLimits, ...means.limits };
  const durations = { ...defaultDurations, ...means.durations };
  const redactor = createRedactor(launch.secrets);
  const { processes } = means;
  const log = launch.logFile === undefined ? undefined : processes.openLog(launch.logFile, limits.logBytes);
  const child = processes.start(launch);
  const errorOutput = captureErrorOutput(child.stderr, redactor, log);

  let end: ServerCallError | undefined;
  let fault: string | undefined;
  let tailAtFault: string | undefined;
  let hasExited = false;
  let isReady = false;
  let hasChanged = false;
  let wasChangeReported = false;
  let client: McpClient | undefined;
  let calls: ServerCalls | undefined;
  let announceDeath: (death: ServerDeath) => void = () => {};
  const death = new Promise<ServerDeath>((resolve) => {
    announceDeath = resolve;
  });

  const finish = (why: ServerCallError) => {
    if (end !== undefined) return;
    end = why;
    channel.detach();
    client?.close();
  };

  const onNotification = ({ method, params }: Extract<Incoming, { kind: "notification" }>) => {
    switch (method) {
      case "notifications/progress":
        return notifyHost(() => calls?.onProgress(params));
      case "notifications/tools/list_changed":
        hasChanged = true;
        if (!isReady || wasChangeReported) return;
        wasChangeReported = true;
        return notifyHost(() => events.onToolListChanged());
      case "notifications/message": {
        const level = own(params, "level");
        const logger = own(params, "logger");
        const entry = {
          level: typeof level === "string" ? redactor.redact(level) : "info",
          ...(typeof logger === "string" ? { logger: redactor.redact(logger) } : {}),
          data: redactor.redactValue(own(params, "data") ?? null),
        };
        return notifyHost(() => events.onLog?.(entry));
      }
    }
  };
  const breakOff = (reason: string) => {
    fault ??= reason;
    void child.end({ inputMs: 0, termMs: durations.termMs });
  };
  const channel: StdioChannel = openStdioChannel(child, limits, {
    onReply: (id, reply) => client?.onReply(id, reply),
    onRequest: (request) => client?.onRequest(request),
    onNotification,
    onNoise(line) {
      const start = [...redactor.redactCut(line)].slice(0, noiseCharacters).join("");
      notifyHost(() => events.onStdoutNoise(start));
    },
    onFault(reason) {
      // What it writes from now on is about its closed stdout.
      tailAtFault = errorOutput.tail();
      breakOff(reason);
    },
  });
  child.stdout.on("end", () => {
    setTimeout(() => hasExited || breakOff("it has closed its output"), silentMs).unref();
  });

  const describeExit = (how: ProcessEnd) =>
    fault === undefined ? describeEnd(how) : `it was ended because ${fault}`;
  const gone = child.exited.then(async (how) => {
    hasExited = true;
    await readToEnd([child.stdout, child.stderr]);
    const written = errorOutput.finish();
    const info: ServerDeath = {
      ...how,
      ...(fault === undefined ? {} : { reason: fault }),
      stderrTail: tailAtFault ?? errorOutput.tail(),
    };
    if (end === undefined) {
      finish(new ServerCallError("died", `The server ${label} is gone: ${describeExit(how)}.`, info));
      announceDeath(info);
    }
    await written;
  });

  async function stop(steps: EndDurations): Promise<void> {
    if (child.pid === undefined) return;
    await child.end(steps);
    // A process that even SIGKILL does not end is left to the system.
    await Promise.race([gone, sleep(lastMs)]);
  }

  async function phase<T>(
    what: string,
    limitMs: number,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), limitMs);
    try {
      return await run(limit.signal);
    } catch (error) {
      if (limit.signal.aborted) throw new Error(`it did not answer ${what} within ${limitMs} ms`);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async function listAll(mcp: McpClient): Promise<readonly AdvertisedTool[]> {
    if (!mcp.hasTools) return [];
    return phase("`tools/list`", launch.timeouts.listMs, async (signal) => {
      for (let listing = 1; ; listing++) {
        hasChanged = false;
        const invalid: [string, string][] = [];
        const tools = await listTools(
          {
            async request(params) {
              const request = mcp.request("tools/list", params);
              const unlisten = whenAborted(signal, () => request.cancel("no answer in time"));
              return request.answer.finally(unlisten);
            },
            bytesRead: channel.bytesRead,
            onInvalidTool: (name, reason) => invalid.push([name, reason]),
          },
          limits.list,
        );
        if (hasChanged && listing < mostListings) continue;
        for (const [name, reason] of invalid) notifyHost(() => events.onInvalidTool(name, reason));
        return tools;
      }
    });
  }

  async function connect(): Promise<ConnectedServer> {
    const pid = child.pid;
    await child.started;
    const library = await loadMcpClient();
    if (end !== undefined) throw end;
    const mcp = createMcpClient(library, channel);
    client = mcp;
    await phase("`initialize`", launch.timeouts.handshakeMs, (signal) => mcp.initialize(signal));
    const { serverInfo } = mcp;
    const tools = await listAll(mcp);
    if (end !== undefined) throw end;
    isReady = true;
    const running = createServerCalls({ client: mcp, redactor, label, findEnd: () => end });
    calls = running;
    return { label, pid: pid ?? 0, serverInfo, tools, callTool: running.call, death, close };
  }

  async function fail(error: unknown): Promise<never> {
    // Whoever stops to listen is mostly about to die, which is the better reason.
    if (error instanceof AnswerError && error.code === undefined) await Promise.race([gone, sleep(dyingMs)]);
    const describe = () => {
      if (end?.reason === "closed") return "it was closed before it was ready";
      if (end?.death !== undefined) return describeExit(end.death);
      if (fault !== undefined) return fault;
      if (error instanceof AnswerError) return describeAnswer(error, redactor);
      return describeWords(errorText(error), redactor);
    };
    const reason = describe();
    finish(new ServerCallError("closed", `The server ${label} is closed.`));
    await stop({ inputMs: 0, termMs: durations.termMs });
    const stderrTail = tailAtFault ?? errorOutput.tail();
    throw failure("ServerStartFailed", { label, reason, ...(stderrTail === "" ? {} : { stderrTail }) });
  }

  let closing: Promise<void> | undefined;
  function close(): Promise<void> {
    closing ??= (() => {
      finish(new ServerCallError("closed", `The server ${label} is closed.`));
      return stop(durations);
    })();
    return closing;
  }

  const ready = connect().catch(fail);
  // Whoever starts several and gives up at the first fault never asks the others.
  ready.catch(() => {});
  return { label, ready, close };
}

/** Starts one server and waits for its tools. Rejects with `ServerStartFailed`, and nothing is left running then. */
export function connectServer(
  launch: ServerLaunch,
  events: ServerEvents,
  means: ServerMeans,
): Promise<ConnectedServer> {
  return startServer(launch, events, means).ready;
}
