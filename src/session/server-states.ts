import type { SessionConfig } from "../config/session-config.ts";
import type { Era } from "../mcp/client/handshake.ts";
import { failure, TrailblazeError } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/index.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import { describeSource, type ServerPlan } from "../runtime/server-launches.ts";
import type { ToolSource } from "../runtime/tool-source.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import { describeOwnServer, describeUnusable } from "./excluded.ts";
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

interface Entry {
  label: string;
  source: ToolSource;
  server?: SessionServer;
  excluded?: Pick<Skipped, "reason" | "message" | "problem">;
}

/** The servers of a session, those of the config first, also those that are not started. */
export class ServerStates {
  /** By the keys of their plans. */
  readonly #entries = new Map<string, Entry>();

  /** Adds the config's servers, which are idle until they are started. */
  addOwn(config: SessionConfig): void {
    for (const { name } of config.subprocessServers) {
      this.#entries.set(`config ${name}`, { label: name, source: describeOwnServer(config, name) });
    }
  }

  /** Adds a pack's servers, which are idle until they are started, or unusable. */
  addPack(checked: CheckedPack): void {
    const { inspected } = checked;
    for (const item of inspected.items) {
      const isUnknown = item.shape === undefined && item.declaration.kind === "server";
      if (item.shape !== "subprocessServer" && !isUnknown) continue;
      const { qualifiedName: label } = item;
      const problem = checked.unusable.get(item);
      const source = describeSource(inspected, item);
      const excluded = problem === undefined ? {} : { excluded: describeUnusable(label, source, problem) };
      this.#entries.set(`pack ${label}`, { label, source, ...excluded });
    }
  }

  /** Adds the servers among what the session excludes. */
  exclude(skipped: readonly Skipped[]): void {
    for (const excluded of skipped) {
      const { source } = excluded;
      const { pack, server } = source;
      if (server === undefined) continue;
      const label = pack === undefined ? server : `${qualifyPackageName(pack)}/${server}`;
      this.#entries.set(`${source.type} ${label}`, { label, source, excluded });
    }
  }

  add({ key, label, source }: ServerPlan, server: SessionServer): void {
    this.#entries.set(key, { label, source, server });
  }

  /** Starts a server. Rejects with `TrailblazeError`: `ServerNotFound`, `ServerStartFailed`, or why it is excluded. */
  async start(label: string): Promise<void> {
    const find = () => [...this.#entries.values()].find((one) => one.label === label);
    const refuse = ({ excluded }: Entry) => {
      if (excluded === undefined) return;
      const reason = excluded.message.replace(/\.$/, "");
      throw excluded.problem === undefined
        ? failure("ServerStartFailed", { label, reason })
        : new TrailblazeError(excluded.problem);
    };
    const entry = find();
    if (entry === undefined || entry.excluded?.reason === "LockOutdated") {
      const nearest = findNearestNames(
        label,
        [...this.#entries.values()].map((one) => one.label),
      );
      throw failure("ServerNotFound", { name: label, otherKind: undefined, nearest });
    }
    refuse(entry);
    const { server } = entry;
    if (server?.exit !== undefined) throw failure("ServerStartFailed", { label, exit: server.exit });
    if (server === undefined) {
      const reason = "the calls that the session is for do not need it";
      throw failure("ServerStartFailed", { label, reason });
    }
    await server.start({ forced: true });
    // What it lists may exclude it.
    refuse(find() ?? entry);
  }

  /** The states now, with the tools of each server among these. */
  list(candidates: readonly ToolCandidate[]): SessionServerState[] {
    const tools = new Map<SessionServer, string[]>();
    for (const { route, tool } of candidates) {
      if (route.by !== "server") continue;
      const names = tools.get(route.server) ?? [];
      tools.set(route.server, [...names, tool.name]);
    }
    return [...this.#entries.values()].map(({ label, source, server, excluded }) => {
      const { era = null, protocolVersion = null, serverInfo = null } = server?.lastConnected ?? {};
      const reason = server?.hasFailed ? "ServerFailed" : excluded?.reason;
      const isIdle = server === undefined || server.isIdle;
      const state = excluded ? "excluded" : reason ? "failed" : isIdle ? "idle" : "running";
      return {
        label,
        source,
        state,
        ...(reason === undefined ? {} : { reason }),
        era,
        protocolVersion,
        serverInfo,
        tools: (server && tools.get(server)) ?? [],
      };
    });
  }
}
