// The only module that uses this process's own streams for serving.
import type { Readable, Writable } from "node:stream";
import type { ServedProtocol } from "../mcp/served-server.ts";
import type { ServedOverStdio, ServeStdioOptions } from "../mcp/stdio/serve-stdio.ts";
import { formatProblem, type Problem, printableLines } from "../problems/index.ts";
import type { LlmToolsOptions } from "../session/tool-search.ts";
import type { HttpTransport, RunningServer } from "./serve-options.ts";
import type { SessionGateway } from "./session-gateway.ts";

/** The protocol's streams after they were reserved, which a process can do once. */
let protocolOutput: Writable | undefined;
let protocolInput: Readable | undefined;

/** Writes messages and output of served code to stderr. */
export function logToStderr(text: string): void {
  process.stderr.write(text.endsWith("\n") ? text : `${text}\n`);
}

/** Prints each problem once, except for hints about what works. */
export function createReporter(): (problem: Problem) => void {
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

/**
 * Redirects everything that this process prints to stderr, and over stdio makes its stdin empty; only `serveGateway` has the real
 * streams. `ownsProcess`: also for code that bypasses the streams.
 */
export async function reserveStreams(isStdio: boolean, ownsProcess: boolean): Promise<void> {
  const reserving = await import("../mcp/stdio/reserve-streams.ts");
  protocolOutput ??= reserving.reserveStdout(process.stdout, process.stderr);
  if (isStdio) protocolInput ??= reserving.reserveStdin(process);
  if (isStdio && ownsProcess) reserving.reserveDescriptors();
}

export interface GatewayServing {
  toolSearch?: LlmToolsOptions | undefined;
  protocol: ServedProtocol;
  /** How long modern clients may keep lists, in seconds. */
  cacheTtl: number;
  /** How long requests may take after the client's input has ended, in seconds. */
  drain: number | undefined;
  onFirst: ServeStdioOptions["onFirst"];
}

/** Offers a gateway over a transport. */
export async function serveGateway(
  gateway: SessionGateway,
  label: string,
  transport: "stdio" | HttpTransport,
  { toolSearch, drain, protocol, cacheTtl, onFirst }: GatewayServing,
): Promise<RunningServer> {
  const { serveEras } = await import("./serve-clients.ts");
  const isStdio = transport === "stdio";
  const eras = serveEras(gateway, {
    // Over stdio, the only client has the session itself.
    only: isStdio ? () => gateway.ownScope() : undefined,
    toolSearch,
    isStateless: !isStdio && transport.stateless === true,
    protocol,
    cacheTtl,
    token: isStdio ? undefined : transport.token,
  });
  let announce = () => {};
  const ended = new Promise<void>((resolve) => {
    announce = resolve;
  });
  const served: ServedOverStdio & { url?: string } =
    transport === "stdio"
      ? await (await import("../mcp/stdio/serve-stdio.ts")).serveStdio(eras.connection, {
          input: protocolInput ?? process.stdin,
          output: protocolOutput ?? process.stdout,
          onFirst,
          onEnd: announce,
          drainMs: drain === undefined ? undefined : drain * 1000,
        })
      : await (await import("../mcp/http/serve-http.ts")).serveHttp(eras.session, {
          label,
          ...transport,
          modern: eras.requests(),
          protocol,
        });
  return {
    url: served.url,
    ended,
    drain: (seconds) => served.drain(seconds * 1000),
    close: () => served.close().finally(announce),
  };
}
