import { matchesAny } from "../config/packs-policy.ts";
import type { SessionConfig } from "../config/session-config.ts";
import { matchesToolName } from "../config/tool-policy.ts";
import { isRecord } from "../data/parse-json.ts";
import type { FoundPack } from "../discovery/types.ts";
import { createProblem, type Path, type Problem, TrailblazeError } from "../problems/index.ts";
import type { Registry } from "../qualified-names/create-registry.ts";
import { findNearestNames } from "../qualified-names/index.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import { declarationsOf } from "./select-packs.ts";
import type { Contribution, ListedNames } from "./tool-candidates.ts";

/** What a session found. */
export interface PatternSources {
  config: SessionConfig;
  /** Every installed pack. */
  found: readonly FoundPack[];
  /** The packs of the session. */
  packs: readonly CheckedPack[];
  contributions: readonly Contribution[];
  registry: Registry;
}

/** The names that patterns for packs can match. */
class InstalledNames {
  /** Qualified names of packs. */
  readonly packs: readonly string[];
  /** Qualified names of packs, of items, and of what packs' servers list. */
  readonly all: readonly string[];
  /** Packs with servers whose tools are unknown, because the session does not start them. */
  readonly #unknown: readonly string[];

  constructor({ found, packs, contributions }: PatternSources) {
    this.packs = found.map(({ pack }) => pack.qualifiedName);
    const listed = contributions.flatMap(({ listed }) => listed ?? []);
    const listedServers = new Set(listed.map(({ server }) => server));
    const withoutTools = new Set(
      packs.flatMap(({ inspected }) =>
        inspected.items
          .filter(({ shape }) => shape !== undefined && shape !== "subprocessServer")
          .map(({ qualifiedName }) => qualifiedName),
      ),
    );
    const items = found.flatMap((one) =>
      declarationsOf(one).map(({ name }) => `${one.pack.qualifiedName}/${name}`),
    );
    const ofServers = listed.flatMap(({ pack, names, otherNames }) =>
      pack === undefined ? [] : [...names, ...otherNames].map((name) => `${pack}/${name}`),
    );
    this.all = [...this.packs, ...items, ...ofServers];
    this.#unknown = found
      .filter(({ pack }) =>
        pack.servers.some(
          ({ qualifiedName }) => !listedServers.has(qualifiedName) && !withoutTools.has(qualifiedName),
        ),
      )
      .map(({ pack }) => pack.qualifiedName);
  }

  /** Whether a pattern matches something, or may match a tool that is unknown. */
  mayMatch(pattern: string): boolean {
    if (matchesAny([pattern], this.all)) return true;
    const end = pattern.lastIndexOf("/");
    return end > 0 && matchesAny([pattern.slice(0, end)], this.#unknown);
  }
}

/** The key as the file has it: readers of the config drop a leading `@`. */
function findWrittenKey({ text }: SessionConfig, path: readonly string[], key: string): string {
  let value: unknown = text?.value;
  for (const step of path) value = isRecord(value) ? value[step] : undefined;
  return isRecord(value) && !Object.hasOwn(value, key) && Object.hasOwn(value, `@${key}`) ? `@${key}` : key;
}

/**
 * Finds patterns and names in the config that match nothing installed, with the most similar names: those of `deny` first,
 * because they exclude nothing. Patterns of `allow` may name what is installed later. All servers of the session must have started. Problems have paths from the config's top.
 */
export function findUnmatchedPatterns(sources: PatternSources): Problem[] {
  const { config, contributions, registry } = sources;
  const names = new InstalledNames(sources);
  const report = (path: Path, pattern: string, known: readonly string[]) => {
    const key = path.slice(0, -1).join(".");
    const nearest = findNearestNames(pattern.replace(/^@/, ""), known);
    return createProblem("UnmatchedPattern", { key, pattern, nearest }, { path });
  };
  const inPolicy = (key: "deny" | "transitive") =>
    (config.packs[key] ?? []).flatMap((pattern, index) =>
      names.mayMatch(pattern) ? [] : [report(["packs", key, index], pattern, names.all)],
    );
  const inServers = contributions
    .flatMap((one) => one.listed ?? [])
    .flatMap((one) => findUnmatchedChoices(one).map(([at, text]) => report(at, text, one.names)));
  const { memory } = config.packs;
  const inMemory = (typeof memory === "string" ? [] : Object.keys(memory))
    .filter((pack) => !names.packs.includes(pack))
    .map((pack) => {
      const path = ["packs", "memory"];
      return report([...path, findWrittenKey(config, path, pack)], pack, names.packs);
    });
  const tools = registry.items("tool").map(({ qualifiedName }) => qualifiedName);
  const inOptions = [...config.options.keys()]
    .filter((name) => !isTool(registry, name))
    .map((name) => report(["options", findWrittenKey(config, ["options"], name)], name, tools));
  return [...inPolicy("deny"), ...inServers, ...inPolicy("transitive"), ...inMemory, ...inOptions];
}

/** The `deny` patterns of a user's server that match none of its tools, with their paths. */
function findUnmatchedChoices({ choices, configPath, names }: ListedNames) {
  if (choices === undefined || configPath === undefined) return [];
  return (choices.deny ?? []).flatMap((pattern, index): [Path, string][] => {
    const isMatched = names.some((name) => matchesToolName([pattern], name));
    return isMatched ? [] : [[[...configPath, "tools", "deny", index], pattern]];
  });
}

function isTool(registry: Registry, name: string): boolean {
  try {
    registry.resolve(name, { from: "user", kind: "tool" });
    return true;
  } catch (error) {
    if (error instanceof TrailblazeError) return false;
    throw error;
  }
}
