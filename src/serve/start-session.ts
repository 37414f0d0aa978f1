import { once } from "node:events";
import { realpathSync } from "node:fs";
import { capabilitiesIn } from "../mcp/client-message.ts";
import { reserveStreams } from "../mcp/stdio/reserve-streams.ts";
import {
  failure,
  formatProblem,
  type Problem,
  printable,
  printableLines,
  shorten,
} from "../problems/index.ts";
import { abortable, whenAborted } from "../runtime/abort-listeners.ts";
import { declaredApps, sharedApps } from "../runtime/apps.ts";
import { readStartedProjects } from "../runtime/server-environment.ts";
import type { ToolLog } from "../session/host-functions.ts";
import { prepareSession } from "../session/open-session.ts";
import { Session } from "../session/session.ts";
import { type CommandSessionOptions, formatWaiting } from "../session/session-options.ts";
import { hostVersion } from "../version.ts";
import type { ServeTarget } from "./compose-server.ts";
import type { CommandServeOptions, HttpTransport, RunningServer } from "./serve-options.ts";
import { SessionGateway } from "./session-gateway.ts";

function logToStderr(text: string): void {
  process.stderr.write(text.endsWith("\n") ? text : `${text}\n`);
}

/** Prints each problem once, except for hints about what works. */
function createReporter(): (problem: Problem) => void {
  const reported = new Set<unknown>();
  return (problem) => {
    const { code, message, pack, item } = problem;
    // An exit can happen again.
    const key = code === "ServerDied" ? problem : JSON.stringify([code, message, pack, item]);
    if (problem.severity === "info" || reported.has(key)) return;
    reported.add(key);
    logToStderr(printableLines(formatProblem(problem)));
  };
}

const severeLevels = ["warning", "error", "critical", "alert", "emergency"];

/** Prints what belongs to no call: warnings and errors of servers, and late errors of packs' code. */
function printLog({ tool, level, data }: ToolLog): void {
  if (!severeLevels.includes(level)) return;
  const text = typeof data === "string" ? data : JSON.stringify(data);
  logToStderr(printable(`${tool}: ${level}: ${shorten(text)}`));
}

/** Throws `ServerStartFailed` if this process was started, possibly indirectly, by a session of the same project. */
function refuseLoop(project: string, label: string): void {
  if (!readStartedProjects(process.env).includes(realpathSync(project))) return;
  const reason = "it was started by a server of the session that it would open";
  const hint = "Remove the entry that starts Trailblaze from the project's config.";
  throw failure("ServerStartFailed", { label, reason, hint });
}

/**
 * Serves the project's session, which opens meanwhile; lists and calls wait for it. `ended` rejects if it cannot open, and with
 * `LockMismatch` if a list differs from a frozen lock later. Of a target, rejects if its session cannot open.
 */
export async function startSession(
  transport: "stdio" | HttpTransport,
  options: CommandServeOptions,
  target?: ServeTarget,
): Promise<RunningServer> {
  const { label, composed } = target?.selection ?? { label: "trailblaze" };
  const { signal, protocol = target?.protocol ?? "both", allTools = false, skillTool, drain = 2 } = options;
  const { toolSearch, watch = target === undefined, ...ofSession } = options.session ?? {};
  const { cacheTtl = watch ? 0 : 300 } = options;
  const closing = new AbortController();
  const report = createReporter();
  const opened: CommandSessionOptions = {
    ...options,
    ...ofSession,
    // Those of a server are its members.
    builtIns: target === undefined ? options.builtIns : undefined,
    watch,
    served: true,
    defaultMaxChars: target === undefined ? 100_000 : undefined,
    defaultStart: target === undefined ? "lazy" : "eager",
    signal: closing.signal,
    onProblem: report,
    onWait: (server) => logToStderr(formatWaiting(server)),
    onLog: printLog,
    extensions: transport === "stdio" ? undefined : sharedApps,
  };
  const prepared = await prepareSession(opened, {
    mode: "served",
    selection: target && { ...target.selection, allTools },
    // It has judged what was found.
    openGate: target && (async () => target.gate),
    onOutput: composed && logToStderr,
    installs: target === undefined,
  });
  if (target === undefined) refuseLoop(prepared.config.project, label);
  signal?.throwIfAborted();
  const isStdio = transport === "stdio";
  // Before a pack's code is loaded, which may write to stdout.
  const streams = reserveStreams(process, isStdio, options.ownsStdout === true);

  /** Aborts when the session is to open. */
  const begun = new AbortController();
  const begin = () => begun.abort();
  const opening = abortable(closing.signal, () => once(begun.signal, "abort")).then(() => prepared.open());
  const log = (message: string) => logToStderr(printableLines(`${label}: ${message}`));
  const isComposed = composed !== undefined;
  const info = target?.info ?? { name: label, version: hostVersion };
  const gateway = new SessionGateway(opening, log, { info, allTools, isComposed, skillTool, toolSearch });
  gateway.opened.then(
    (session) => {
      session.problems.forEach(report);
      // It ends by itself if a list differs from a frozen lock.
      const { closing: closed } = Session.frameOf(session).resources;
      whenAborted(closed, () => closing.abort(closed.reason));
    },
    (error) => closing.abort(error),
  );
  const ending = failure("SessionClosed", { reason: undefined });
  const end = () => closing.abort(ending);
  // Over stdio, servers are told what their client says, with its first message.
  const isAwaited = isStdio && !isComposed;
  const onFirst = async (message: unknown) => {
    opened.extensions = declaredApps(capabilitiesIn(message));
    begin();
    // The client of a single server gets its instructions.
    if (target !== undefined) await opening.catch(() => {});
  };
  if (target !== undefined && !isAwaited) {
    begin();
    const forget = signal && whenAborted(signal, () => closing.abort(signal.reason));
    await opening.finally(forget);
  }
  const serving = (async () => {
    const { serveEras } = await import("./serve-clients.ts");
    if (transport === "stdio") {
      // The only client has the session itself.
      const eras = serveEras(gateway, { protocol, cacheTtl, only: () => gateway.ownScope() });
      const { serveStdio } = await import("../mcp/stdio/serve-stdio.ts");
      const ofClient = { onFirst: isAwaited ? onFirst : undefined, onEnd: end, drainMs: drain * 1000 };
      return serveStdio(eras.connection(), { ...streams, ...ofClient });
    }
    const eras = serveEras(gateway, { ...transport, protocol, cacheTtl });
    const { serveHttp } = await import("../mcp/http/serve-http.ts");
    return serveHttp(eras.session, { label, ...transport, modern: eras.requests(), protocol });
  })();
  const closed = (async () => {
    // Aborted, because clients kill a process that takes long to end: servers get less time than in `Session.close`.
    if (!closing.signal.aborted) await once(closing.signal, "abort");
    const session = await opening.catch(() => undefined);
    // The session may end before it is served.
    const running = await serving.catch(() => undefined);
    await Promise.all([running?.close(), session?.close()]);
  })();
  const { url, drain: finish } = await serving.catch(async (error) => {
    end();
    await closed;
    throw error;
  });
  if (!isAwaited) begin();

  return {
    url,
    // Before it is open, requests wait for it, and none has run.
    drain: async (seconds) => {
      if (gateway.current !== undefined) await finish(seconds * 1000);
    },
    close: () => {
      end();
      return closed;
    },
    ended: closed.then(() => {
      const { reason } = closing.signal;
      if (reason !== ending && reason !== signal?.reason) throw reason;
    }),
  };
}
