import { resolve } from "node:path";
import { checkBuiltIns } from "../config/built-ins.ts";
import { readConfig } from "../config/read-config.ts";
import type { BuiltInDefinition } from "../config/session-config.ts";
import { isRecord } from "../data/parse-json.ts";
import { findProject } from "../discovery/project.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { openLockGate } from "../lock/open-gate.ts";
import { servedProtocols } from "../mcp/protocol-server.ts";
import { readStateKey } from "../mcp/request-state.ts";
import { failure, quote } from "../problems/index.ts";
import { createProcessPort } from "../processes/server-process.ts";
import { findCollisions } from "../qualified-names/advertised-names.ts";
import type { ProgramPlan } from "../runtime/server-launches.ts";
import { findServer } from "./compose-server.ts";
import { createReporter } from "./report-problems.ts";
import type { CommandServeOptions, RunningServer, ServeOptions } from "./serve-options.ts";
import { runOnOwnStreams } from "./transports.ts";

/** A served handler has no session, so the session's variables are omitted. */
function environmentFacts() {
  const { env: hostEnvironment, platform } = process;
  return { hostEnvironment, platform, device: undefined, sessionId: undefined, callback: undefined };
}

/** Passes a program's streams on. */
async function passOn(
  { command, args, cwd, label, fault, createEnvironment }: ProgramPlan,
  { protocol = "both", cacheTtl, drain }: Pick<CommandServeOptions, "protocol" | "cacheTtl" | "drain">,
): Promise<RunningServer> {
  if (fault !== undefined) throw fault;
  const unsupported = (option: string) =>
    failure("InvalidArguments", {
      reason: `${label} is a subprocess server, whose messages are passed on unchanged; ${option} is not supported`,
    });
  if (cacheTtl !== undefined) throw unsupported("--cache-ttl");
  if (protocol !== "both") throw unsupported(`--protocol ${protocol} over stdio`);
  const launch = { command, args, cwd, env: createEnvironment(environmentFacts()) };
  return runOnOwnStreams(label, launch, createProcessPort(), drain);
}

const invalid = (reason: string) => failure("InvalidArguments", { reason });

/** Throws `TrailblazeError` `InvalidArguments` for an invalid transport. */
function checkTransport(transport: unknown): void {
  if (transport === undefined || transport === "stdio") return;
  if (!isRecord(transport)) throw invalid('The transport must be "stdio" or an object with host and port');
  const { host, token, port = 0, sessionTtl = 1, maxSessions = 1 } = transport;
  for (const name of ["allowedHosts", "allowedOrigins"]) {
    const list = transport[name] ?? [];
    if (!Array.isArray(list) || !list.every((one) => typeof one === "string"))
      throw invalid(`\`${name}\` must be a list of strings`);
  }
  for (const [name, value] of Object.entries({ host, token })) {
    if (value !== undefined && typeof value !== "string") throw invalid(`\`${name}\` must be a string`);
  }
  if (!Number.isInteger(port) || Number(port) < 0 || Number(port) > 65_535) {
    throw invalid(`\`port\` must be an integer from 0 to 65535, but it is ${String(port)}`);
  }
  for (const [name, value] of Object.entries({ sessionTtl, maxSessions })) {
    if (!(Number.isFinite(value) && Number(value) > 0)) {
      throw invalid(`\`${name}\` must be a positive number, but it is ${String(value)}`);
    }
  }
}

/** Throws `TrailblazeError` `InvalidArguments` for an unknown protocol or a time that is none. */
function checkEras({ protocol, cacheTtl = 0 }: ServeOptions): void {
  if (protocol !== undefined && !servedProtocols.includes(protocol)) {
    throw invalid(`The protocol must be ${servedProtocols.join(", ")}, not ${quote(String(protocol))}`);
  }
  if (!Number.isSafeInteger(cacheTtl * 1000) || !Number.isInteger(cacheTtl) || cacheTtl < 0) {
    throw invalid(`\`cacheTtl\` must be a number of seconds, but it is ${String(cacheTtl)}`);
  }
}

/** Throws `NameCollision` if two built-ins have the same name. */
function checkNames(builtIns: readonly BuiltInDefinition[]): void {
  const claims = builtIns.map(({ name }) => ({ name: String(name), source: "a built-in" }));
  const collision = findCollisions(claims);
  if (collision !== undefined) throw collision;
}

function refuseHttpOption(option: string, served: string) {
  const reason = `${option} applies only to HTTP, and ${served} is served over stdio`;
  return failure("InvalidArguments", { reason, hint: "Add --http PORT." });
}

/** Throws `InvalidArguments` for options that apply only to a server, or only to the session. */
function checkSubject(reference: string | null, { session, allTools }: CommandServeOptions): void {
  if (reference === null && allTools === true) {
    const reason = "--all-tools applies only to a server, and the session is served";
    throw failure("InvalidArguments", { reason, hint: "Name the server to start." });
  }
  if (reference === null || session === undefined) return;
  throw invalid("The options of a session apply only without a server");
}

/**
 * Finds a server, initializes it and serves it; `null` serves the session. Throws `TrailblazeError` if it cannot be served: `ServerNotFound` and
 * other errors of references, `InitializeFailed`, `DuplicateBundleEntry`, `ServerStartFailed`.
 */
export async function startFoundServer(
  reference: string | null,
  options: CommandServeOptions = {},
): Promise<RunningServer> {
  checkTransport(options.transport);
  checkEras(options);
  checkSubject(reference, options);
  // Throws for a key that is too short, before anything starts.
  readStateKey();
  if (reference === null) {
    const { transport = "stdio", onlyHttp } = options;
    if (transport === "stdio" && onlyHttp !== undefined) throw refuseHttpOption(onlyHttp, "the session");
    const { startSession } = await import("./start-session.ts");
    return startSession(transport, options);
  }
  const cwd = resolve(options.cwd ?? process.cwd());
  const port = createNodeInspectionPort();
  const { directory } = findProject(port, cwd);
  const config = await readConfig(port, { directory, config: options.config, cwd });
  const builtIns = [...config.builtIns, ...(await checkBuiltIns(options.builtIns ?? []))];
  checkNames(builtIns);
  const gate = await openLockGate(config, options.lock);
  const report = createReporter();
  const target = await findServer(reference, { port, config, builtIns, cwd, gate, report });
  const { signal = new AbortController().signal } = options;
  signal.throwIfAborted();
  const own = target.type === "composed" ? target.server.transport : "stdio";
  const transport = options.transport ?? (own === "http" ? (options.http ?? {}) : "stdio");
  if (transport === "stdio" && options.onlyHttp !== undefined) {
    throw refuseHttpOption(options.onlyHttp, reference);
  }
  const isPassed = target.type === "subprocess" && gate === undefined && !target.hasChoices;
  if (isPassed && transport === "stdio" && !("url" in target.plan)) return passOn(target.plan, options);
  const { startSession } = await import("./start-session.ts");
  return startSession(transport, { ...options, builtIns: undefined }, target);
}
