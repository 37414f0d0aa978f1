import type { SessionConfig } from "../config/session-config.ts";
import type { Era } from "../mcp/client/handshake.ts";
import { failure, TrailblazeError } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/index.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import { describeSource } from "../runtime/server-launches.ts";
import type { ToolSource } from "../runtime/tool-code.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import { describeOwnServer, describeUnusable } from "./excluded.ts";
import type { ServerSource } from "./server-source.ts";
import type { SessionServer } from "./session-servers.ts";
import type { Skipped, SkipReason, ToolCandidate } from "./session-tool.ts";

/** An MCP server that a session may use, and its state. Its strings are the author's and not trusted. */
export interface SessionServerState {
  /** The name in the config, or the qualified name. */
  label: string;
  source: ToolSource;
  /** `idle`: no call has needed it yet, or for a while. `failed`: it did not start, or has exited. */
  state: "running" | "idle" | "failed" | "excluded";
  /** Why it is excluded or has failed. */
  reason?: SkipReason;
  /** `legacy`: it speaks a revision of MCP up to 2025-11-25. `null` if it has never started. */
  era: Era | null;
  /** The revision of MCP that it speaks; `null` if it has never started. */
  protocolVersion: string | null;
  /** What it says about itself; `null` if it has never started, or does not say. */
  serverInfo: { name: string; version: string } | null;
  /** The advertised names of its registered tools. */
  tools: string[];
}

/** A server of a state: started, excluded, or neither because the calls of the session do not need it. */
export interface ServerEntry {
  label: string;
  source: ToolSource;
  server?: SessionServer;
  excluded?: Pick<Skipped, "reason" | "message" | "problem">;
}

/** The servers of a session, those of the config first. `excluded`: what is left out before it starts, servers among it. */
export function collectEntries(
  config: SessionConfig,
  packs: readonly CheckedPack[],
  excluded: readonly Skipped[],
  planned: readonly ServerSource[],
): ServerEntry[] {
  // By the keys of their plans.
  const entries = new Map<string, ServerEntry>();
  for (const { name: label } of config.subprocessServers)
    entries.set(`config ${label}`, { label, source: describeOwnServer(config, label) });
  for (const { inspected, unusable } of packs) {
    for (const item of inspected.items) {
      const isUnknown = item.shape === undefined && item.declaration.kind === "server";
      if (item.shape !== "subprocessServer" && !isUnknown) continue;
      const { qualifiedName: label } = item;
      const problem = unusable.get(item);
      const source = describeSource(inspected, item);
      entries.set(`pack ${label}`, {
        label,
        source,
        excluded: problem && describeUnusable(label, source, problem),
      });
    }
  }
  for (const one of excluded) {
    const { type, pack, server } = one.source;
    if (server === undefined) continue;
    const label = pack === undefined ? server : `${qualifyPackageName(pack)}/${server}`;
    entries.set(`${type} ${label}`, { label, source: one.source, excluded: one });
  }
  for (const { plan, server, offer } of planned) {
    const { key, label, source } = plan;
    const refusal = offer?.refusal;
    const how = refusal ? { excluded: describeUnusable(label, source, refusal) } : { server };
    entries.set(key, { label, source, ...how });
  }
  return [...entries.values()];
}

/** The server with a label. Throws `TrailblazeError`: `ServerNotFound`, or why it is excluded. */
export function findEntry(entries: readonly ServerEntry[], label: string): ServerEntry {
  const entry = entries.find((one) => one.label === label);
  const { excluded } = entry ?? {};
  if (entry === undefined || excluded?.reason === "LockOutdated") {
    const labels = entries.map((one) => one.label);
    const nearest = findNearestNames(label, labels);
    throw failure("ServerNotFound", { name: label, otherKind: undefined, nearest });
  }
  if (excluded === undefined) return entry;
  if (excluded.problem !== undefined) throw new TrailblazeError(excluded.problem);
  throw failure("ServerStartFailed", { label, reason: excluded.message.replace(/\.$/, "") });
}

/** Starts a server. Rejects with `TrailblazeError` `ServerStartFailed`. */
export async function startEntry({ label, server }: ServerEntry): Promise<void> {
  if (server?.exit !== undefined) throw failure("ServerStartFailed", { label, exit: server.exit });
  const reason = "the calls that the session is for do not need it";
  if (server === undefined) throw failure("ServerStartFailed", { label, reason });
  await server.start({ forced: true });
}

/** The states now, with the tools of each server among these. */
export function describeEntries(
  entries: readonly ServerEntry[],
  candidates: readonly ToolCandidate[],
): SessionServerState[] {
  const tools = new Map<SessionServer, string[]>();
  for (const { route, tool } of candidates) {
    if (route.by !== "server") continue;
    const { server } = route.from;
    const names = tools.get(server) ?? [];
    tools.set(server, [...names, tool.name]);
  }
  return entries.map(({ label, source, server, excluded }) => {
    const { era = null, protocolVersion = null, serverInfo = null } = server?.said?.connected ?? {};
    const reason = server?.hasFailed ? "ServerFailed" : excluded?.reason;
    const isIdle = server === undefined || server.isIdle;
    const state = excluded ? "excluded" : reason ? "failed" : isIdle ? "idle" : "running";
    return {
      label,
      source,
      state,
      ...(reason && { reason }),
      era,
      protocolVersion,
      serverInfo,
      tools: (server && tools.get(server)) ?? [],
    };
  });
}
