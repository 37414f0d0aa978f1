import { fstatSync } from "node:fs";
import { failure, printable, quote } from "../../problems/index.ts";
import type { CommandServeOptions, HttpTransport, RunningServer } from "../../serve/serve-options.ts";
import { type CommandAnswer, type CommandInput, defineCommand } from "../command.ts";
import { onSignals } from "../interruption.ts";
import { choice, flag, installOption, integer, text, texts } from "../options.ts";
import { output } from "../output.ts";
import { readSilentOptions, sessionOptions, startOptions } from "../session/session-command.ts";

const options = {
  http: text("[HOST:]PORT", "Serve streamable HTTP at /mcp on this address (default host: 127.0.0.1)"),
  stdio: { ...flag("Serve over stdio, regardless of the server's definition"), excludes: ["http"] },
  token: text("TEXT", "Require this bearer token (default: TRAILBLAZE_HTTP_TOKEN)"),
  "no-auth": flag("Allow unauthenticated access on non-loopback hosts"),
  "allowed-host": texts("NAME[:PORT]", "Also accept requests for this host, such as a proxy's (repeatable)"),
  "allowed-origin": texts("URL", "Let pages of this origin use the server in a browser (repeatable)"),
  "session-ttl": integer("SECONDS", 1, "End sessions that are idle for this long (default: 1800)"),
  "max-sessions": integer("NUMBER", 1, "Maximum number of concurrent sessions (default: 1000)"),
  stateless: flag("Handle each request on its own, without sessions"),
  health: flag("Answer probes at /healthz, without a token"),
  drain: integer("SECONDS", 0, "How long calls may take to finish after SIGTERM (default: 10)"),
  protocol: choice(
    "ERA",
    ["both", "modern", "legacy"],
    "Versions of MCP to serve: modern (2026-07-28 and later), legacy or both",
  ),
  "cache-ttl": integer(
    "SECONDS",
    0,
    "How long modern clients may cache lists (default: 300; 0 for the session)",
  ),
  ...installOption,
  "all-tools": flag("Also offer a server's tools that need a session or are hidden from models"),
  "skill-tool": flag("Add a tool that loads skills, for clients that do not know them"),
  ...startOptions,
  "tool-search": {
    ...integer(
      "NUMBER",
      0,
      "With more tools than this, list search_tools instead of them (default: 30; session only)",
    ),
    bare: "30",
  },
  "no-watch": flag("Ignore changes in the project (session only)"),
  ...sessionOptions,
};

type Input = CommandInput<typeof options>;

export const command = defineCommand({
  summary: "Serve the session as one MCP server, or start a single server, over stdio or HTTP",
  usage: "[server|pack]",
  options,
  run,
});

/** `PORT`, `HOST:PORT` or `[IPv6]:PORT`. */
function readAddress(value: string): Pick<HttpTransport, "host" | "port"> {
  const [, bracketed, plain, digits] = /^(?:(?:\[([^\]]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(value) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) {
    const hint = "Pass --http 8080, --http 0.0.0.0:8080 or --http [::1]:8080. Port 0 selects a free port.";
    throw failure("InvalidArguments", { reason: `--http requires [HOST:]PORT, not ${quote(value)}`, hint });
  }
  return { host: bracketed ?? plain, port };
}

const onlyHttp = [
  ...(["token", "no-auth", "allowed-host", "allowed-origin"] as const),
  ...(["session-ttl", "max-sessions", "stateless", "health"] as const),
];

function readHttp(options: Input["options"]): HttpTransport {
  return {
    ...(options.http !== undefined && readAddress(options.http)),
    // An empty variable counts as unset.
    token: options.token ?? (process.env.TRAILBLAZE_HTTP_TOKEN || undefined),
    noAuth: options["no-auth"],
    allowedHosts: options["allowed-host"],
    allowedOrigins: options["allowed-origin"],
    sessionTtl: options["session-ttl"],
    maxSessions: options["max-sessions"],
    stateless: options.stateless,
    health: options.health,
  };
}

const sessionOnly = [
  ...(["platform", "driver", "memory", "toolset", "on-device"] as const),
  ...(["no-watch", "lazy", "eager", "tool-search"] as const),
];

/** Throws `InvalidArguments` for options of the session. */
function refuseSessionOptions(options: Input["options"], reference: string): void {
  const given = sessionOnly.find((name) => options[name] !== undefined && options[name] !== false);
  if (given === undefined) return;
  const reason = `--${given} applies only to the session, and ${quote(reference)} is started`;
  throw failure("InvalidArguments", { reason, hint: "Omit the server to serve the session." });
}

/** Serves until the client disconnects or a signal arrives. */
async function run(input: Input): Promise<CommandAnswer> {
  const { positionals, options } = input;
  const [reference = null] = positionals;
  const name = reference === null ? "the session" : printable(reference);
  const ofHttp = onlyHttp.find((option) => options[option]);
  const http = readHttp(options);
  const drain = options.drain ?? 10;
  const above = options["tool-search"];
  const toolSearch = above === undefined ? undefined : { above };
  if (reference !== null) refuseSessionOptions(options, reference);
  const chosen = readSilentOptions(input);
  const { startServer } = await import("../../serve.ts");
  const startup = new AbortController();
  // What each signal does; after the last one, another signal ends the process.
  const stages = [() => startup.abort()];
  const stop = () => {
    stages.shift()?.();
    if (stages.length === 0) restoreSignals();
  };
  const restoreSignals = onSignals(stop);
  const serving: CommandServeOptions = {
    ...chosen,
    transport: options.stdio ? "stdio" : options.http === undefined ? undefined : http,
    http,
    onlyHttp: ofHttp && `--${ofHttp}`,
    protocol: options.protocol,
    cacheTtl: options["cache-ttl"],
    drain,
    ownsStdout: true,
    allTools: options["all-tools"],
    skillTool: options["skill-tool"],
    session: reference === null ? { ...chosen, toolSearch, watch: !options["no-watch"] } : undefined,
    signal: startup.signal,
  };
  let running: RunningServer;
  try {
    running = await startServer(reference, serving);
  } catch (error) {
    restoreSignals();
    const { aborted, reason } = startup.signal;
    if (aborted && error === reason) return {};
    throw error;
  }
  const close = () => void running.close();
  stages.splice(0, stages.length, () => void running.drain(drain).then(close), close);
  if (startup.signal.aborted) stop();
  const { url } = running;
  // A client reads the server's log; on a terminal, a user would see nothing.
  if (url === undefined && output.stderrIsTerminal())
    output.note(`Serving ${name} over stdio. Press Ctrl-C to stop.`);
  if (url !== undefined) {
    output.note(`Serving ${name} on ${url}`);
    if (options.json) output.json({ server: reference, url });
    // The parent process ends it by closing the pipe. A daemon's stdin is none, and has already ended.
    const input = fstatSync(0);
    if (input.isFIFO() || input.isSocket()) process.stdin.once("end", stop).resume();
  }
  await running.ended;
  restoreSignals();
  // There is nothing to print.
  return {};
}
