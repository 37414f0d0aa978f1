import { describeType, isRecord } from "../data/parse-json.ts";
import { type Path, quote } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/item-name.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import type { ConfigFault } from "./config-file.ts";

/** Which packs the user allows: the part of the config's `packs` that discovery needs. */
export interface PacksPolicy {
  /** `undefined` allows everything. */
  allow: readonly string[] | undefined;
  /** Takes precedence over `allow`. */
  deny: readonly string[];
  /** Transitive packs to use. */
  transitive: readonly string[];
}

/** The checked `packs` of the config with defaults. */
export interface PacksConfig extends PacksPolicy {
  onError: "skip" | "fail";
  /** `all`, `none`, or the keys that a pack's tools see, by pack (`acme/jira`). */
  memory: "all" | "none" | Readonly<Record<string, readonly string[]>>;
  autoInstall: readonly string[];
}

const keys = ["allow", "deny", "transitive", "onError", "memory", "autoInstall"];

/** Limit on patterns with `*` in one array, because each is compared with every item. */
const maximumWildPatterns = 1000;

export const patternHint =
  "Use publisher/pack or publisher/pack/item, where * matches any part of a segment.";

/** The reason why a pattern can never match; `undefined` if it can. */
export function explainInvalidPattern(pattern: string): string | undefined {
  const segments = pattern.replace(/^@/, "").split("/");
  if (segments.includes("")) return "a segment is empty";
  if (segments.length > 3) return "it has more than three segments";
  // A regular expression, a range or `{a,b}` in `deny` would silently exclude nothing.
  return segments.every((segment) => /^[\w.~*-]+$/.test(segment))
    ? undefined
    : "it contains characters that names do not have";
}

/** Reads the values of `packs` and collects faults. */
class PacksReader {
  readonly faults: ConfigFault[] = [];
  readonly #packs: Readonly<Record<string, unknown>>;

  constructor(packs: Readonly<Record<string, unknown>>) {
    this.#packs = packs;
    for (const key of Object.keys(packs)) {
      if (keys.includes(key) || key.startsWith("x-")) continue;
      const [nearest] = findNearestNames(key, keys);
      this.#fail(`\`packs\` has no key ${quote(key)}`, [key], nearest && `Did you mean "${nearest}"?`);
    }
  }

  #fail(reason: string, path: Path, hint?: string): void {
    this.faults.push({ reason, path: ["packs", ...path], hint });
  }

  /** The value of a key; `null` counts as absent. */
  #get(key: string): unknown {
    return Object.hasOwn(this.#packs, key) ? (this.#packs[key] ?? undefined) : undefined;
  }

  readPatterns(key: string): string[] | undefined {
    const value = this.#get(key);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) {
      this.#fail(`\`packs.${key}\` must be an array of patterns, but it is ${describeType(value)}`, [key]);
      return undefined;
    }
    for (const [index, pattern] of value.entries()) {
      if (typeof pattern !== "string" || pattern === "") {
        const found = pattern === "" ? "empty" : describeType(pattern);
        this.#fail(`a pattern must be a string such as acme/*, but it is ${found}`, [key, index]);
        continue;
      }
      const reason = explainInvalidPattern(pattern);
      if (reason !== undefined)
        this.#fail(`${quote(pattern)} is not a valid pattern: ${reason}`, [key, index], patternHint);
    }
    const wild = value.filter((pattern) => typeof pattern === "string" && pattern.includes("*")).length;
    if (wild > maximumWildPatterns) {
      this.#fail(`\`packs.${key}\` has ${wild} patterns with *, but the limit is ${maximumWildPatterns}`, [
        key,
      ]);
    }
    return [...value] as string[];
  }

  readOnError(): PacksConfig["onError"] {
    const value = this.#get("onError");
    if (value === undefined || value === "skip" || value === "fail") return value ?? "skip";
    this.#fail("`packs.onError` must be skip or fail", ["onError"]);
    return "skip";
  }

  readMemory(): PacksConfig["memory"] {
    const value = this.#get("memory");
    if (value === undefined || value === "all" || value === "none") return value ?? "all";
    if (!isRecord(value)) {
      this.#fail("`packs.memory` must be all, none, or an object of arrays of keys by pack", ["memory"]);
      return "none";
    }
    // No prototype, because a pack may have the name of an inherited property.
    const memory: Record<string, readonly string[]> = Object.create(null);
    for (const [written, seen] of Object.entries(value)) {
      const pack = written.replace(/^@/, "");
      if (!isPackageName(pack.includes("/") ? `@${pack}` : pack)) {
        const hint = 'Use "publisher/pack", or "pack" if the npm name has no scope.';
        this.#fail(
          `\`packs.memory\` has the key ${quote(written)}, which is not a valid pack name`,
          ["memory", written],
          hint,
        );
      } else if (Object.hasOwn(memory, pack)) {
        this.#fail(`\`packs.memory\` names the pack ${quote(pack)} twice`, ["memory", written]);
      } else {
        memory[pack] = this.#readMemoryKeys(written, seen);
      }
    }
    return memory;
  }

  #readMemoryKeys(pack: string, value: unknown): string[] {
    if (Array.isArray(value)) {
      for (const [index, key] of value.entries()) {
        if (typeof key === "string") continue;
        this.#fail(`a memory key must be a string, but it is ${describeType(key)}`, ["memory", pack, index]);
      }
      return [...value] as string[];
    }
    this.#fail(`the memory keys of a pack must be an array, but it is ${describeType(value)}`, [
      "memory",
      pack,
    ]);
    return [];
  }
}

/** Reads a config's `packs` and finds every fault. Pure. */
function readPacks(packs: Readonly<Record<string, unknown>>): { packs: PacksConfig; faults: ConfigFault[] } {
  const reader = new PacksReader(packs);
  const read: PacksConfig = {
    allow: reader.readPatterns("allow"),
    deny: reader.readPatterns("deny") ?? [],
    transitive: reader.readPatterns("transitive") ?? [],
    onError: reader.readOnError(),
    memory: reader.readMemory(),
    autoInstall: reader.readPatterns("autoInstall") ?? [],
  };
  return { packs: read, faults: reader.faults };
}

/** Finds misspellings of `packs`, which would ignore a `deny`. No other key of a config is this similar. */
function* findMisspelled(config: Readonly<Record<string, unknown>>): Generator<ConfigFault> {
  for (const key of Object.keys(config)) {
    if (key === "packs" || key.length > 7 || key.startsWith("x-")) continue;
    if (findNearestNames(key, ["packs"]).length === 0) continue;
    yield { reason: `the config has no key ${quote(key)}`, path: [key], hint: 'Did you mean "packs"?' };
  }
}

/**
 * Reads `packs` of a config. An empty config, or one without `packs`, allows everything. `reportMisspelled` reports
 * misspellings of `packs`, for callers that do not check the other keys. Pure.
 */
export function readPacksConfig(
  config: unknown,
  { reportMisspelled }: { reportMisspelled: boolean },
): { packs: PacksConfig; faults: ConfigFault[] } {
  const nothing = readPacks({});
  if (config === null || config === undefined) return nothing;
  if (!isRecord(config)) {
    return {
      ...nothing,
      faults: [{ reason: `expected an object, found ${describeType(config)}`, path: [] }],
    };
  }
  const misspelled = reportMisspelled ? [...findMisspelled(config)] : [];
  const packs = Object.hasOwn(config, "packs") ? config.packs : undefined;
  if (packs === undefined || packs === null) return { ...nothing, faults: misspelled };
  if (!isRecord(packs)) {
    const fault = {
      reason: `\`packs\` must be an object, but it is ${describeType(packs)}`,
      path: ["packs"],
    };
    return { ...nothing, faults: [...misspelled, fault] };
  }
  const read = readPacks(packs);
  return { packs: read.packs, faults: [...misspelled, ...read.faults] };
}
