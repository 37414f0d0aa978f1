import { matchesAny } from "../config/packs-policy.ts";
import type { SessionConfig } from "../config/session-config.ts";
import { matchesToolName } from "../config/tool-policy.ts";
import type { FoundPack } from "../discovery/types.ts";
import type { ListedKind } from "../mcp/client/server-lists.ts";
import { createProblem, type Path, type Problem } from "../problems/index.ts";
import type { Registry } from "../qualified-names/create-registry.ts";
import { findNearestNames } from "../qualified-names/index.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import { declarationsOf } from "./select-packs.ts";
import type { ServerSource } from "./server-source.ts";

/** What a session found. */
export interface PatternSources {
  config: SessionConfig;
  /** Every installed pack. */
  found: readonly FoundPack[];
  /** The packs of the session. */
  packs: readonly CheckedPack[];
  servers: readonly ServerSource[];
  registry: Registry;
}

/** The packs whose servers have not all listed what they have: a pattern may match a tool that is unknown. */
function findUnknownPacks({ found, packs }: PatternSources, servers: readonly ServerSource[]): string[] {
  const items = packs.flatMap(({ inspected }) => inspected.items);
  const others = items.filter(({ shape }) => shape !== undefined && shape !== "subprocessServer");
  const listed = new Set([
    ...servers.map(({ plan }) => plan.label),
    ...others.map(({ qualifiedName }) => qualifiedName),
  ]);
  return found
    .filter(({ pack }) => pack.servers.some(({ qualifiedName }) => !listed.has(qualifiedName)))
    .map(({ pack }) => pack.qualifiedName);
}

/** The server's own names of what it lists. */
const listedNames = ({ server }: ServerSource, kinds: readonly ListedKind[]): string[] => [
  ...(server.said?.entries ?? []).flatMap(({ kind, entry }) => (kinds.includes(kind) ? [entry.name] : [])),
  ...(kinds.includes("tool") ? (server.said?.invalidTools ?? []).map(({ name }) => name) : []),
];

/**
 * Finds patterns and names in the config that match nothing installed, with the most similar names: those of `deny` first,
 * because they exclude nothing. Patterns of `allow` may name what is installed later. All servers of the session must have started. Problems have paths from the config's top.
 */
export function findUnmatchedPatterns(sources: PatternSources): Problem[] {
  const { config, found, registry } = sources;
  // The lock has no tools that the config excludes, so a server that has not run may have more than it.
  const servers = sources.servers.filter(({ server, offer }) => server.said && !offer?.refusal);
  const packNames = found.map(({ pack }) => pack.qualifiedName);
  const items = found.flatMap((one) =>
    declarationsOf(one).map(({ name }) => `${one.pack.qualifiedName}/${name}`),
  );
  const ofServers = servers.flatMap((one) =>
    one.plan.pack === undefined
      ? []
      : listedNames(one, ["tool", "prompt", "resource"]).map((name) => `${one.plan.pack}/${name}`),
  );
  const names = [...packNames, ...items, ...ofServers];
  const unknown = findUnknownPacks(sources, servers);
  const mayMatch = (pattern: string) => {
    const end = pattern.lastIndexOf("/");
    return matchesAny([pattern], names) || (end > 0 && matchesAny([pattern.slice(0, end)], unknown));
  };
  const report = (path: Path, pattern: string, known: readonly string[]) => {
    const key = path.slice(0, -1).join(".");
    const nearest = findNearestNames(pattern.replace(/^@/, ""), known);
    return createProblem("UnmatchedPattern", { key, pattern, nearest }, { path });
  };
  const inPolicy = (key: "deny" | "transitive") =>
    (config.packs[key] ?? []).flatMap((pattern, index) =>
      mayMatch(pattern) ? [] : [report(["packs", key, index], pattern, names)],
    );
  const inServers = servers.flatMap((one) => {
    const { choices, configPath = [] } = one.plan;
    const tools = listedNames(one, ["tool"]);
    return (choices?.deny ?? []).flatMap((pattern, index) =>
      tools.some((name) => matchesToolName([pattern], name))
        ? []
        : [report([...configPath, "tools", "deny", index], pattern, tools)],
    );
  });
  const { memory } = config.packs;
  const inMemory = (typeof memory === "string" ? [] : Object.keys(memory))
    .filter((pack) => !packNames.includes(pack))
    .map((pack) => report(["packs", "memory", pack], pack, packNames));
  const tools = registry.items("tool").map(({ qualifiedName }) => qualifiedName);
  const inOptions = [...config.options.keys()]
    .filter((name) => !tools.includes(name))
    .map((name) => report(["options", name], name, tools));
  return [...inPolicy("deny"), ...inServers, ...inPolicy("transitive"), ...inMemory, ...inOptions];
}
