import { describeType, isRecord } from "../data/parse-json.ts";
import { type Path, quote } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/item-name.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import type { ConfigFault } from "./config-file.ts";

/** Which packs the user lets in: the part of the config's `packs` that discovery needs. */
export interface PacksPolicy {
  /** Without it everything is allowed. */
  allow: readonly string[] | undefined;
  /** Wins over `allow`. */
  deny: readonly string[];
  /** Transitive packs to take. */
  transitive: readonly string[];
}

/** The config's `packs`, checked, with its defaults. */
export interface PacksConfig extends PacksPolicy {
  onError: "skip" | "fail";
  /** All, none, or by pack (`acme/jira`) the keys that its tools see. */
  memory: "all" | "none" | Readonly<Record<string, readonly string[]>>;
  autoInstall: readonly string[];
}

const keys = ["allow", "deny", "transitive", "onError", "memory", "autoInstall"];

/** Patterns with `*` in one list: each is compared with the name of every item. */
const maximumWildPatterns = 1000;

/** Why a text fits no pack and no item, whatever is installed; `undefined` if it may. */
function whyInvalidPattern(pattern: string): string | undefined {
  const segments = pattern.replace(/^@/, "").split("/");
  if (segments.includes("")) return "a segment is empty";
  if (segments.length > 3) return "it has more than three segments";
  // Whoever writes a regular expression, a range or `{a,b}` believes something shut out that would be let in.
  return segments.every((segment) => /^[\w.~*-]+$/.test(segment)) ? undefined : "no name has such characters";
}

/** Reads the values of one `packs`, noting what is wrong. */
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

  /** The value of a key; what is empty counts as absent. */
  #get(key: string): unknown {
    return Object.hasOwn(this.#packs, key) ? (this.#packs[key] ?? undefined) : undefined;
  }

  readPatterns(key: string): string[] | undefined {
    const value = this.#get(key);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) {
      this.#fail(`\`packs.${key}\` must be a list of patterns, but is ${describeType(value)}`, [key]);
      return undefined;
    }
    for (const [index, pattern] of value.entries()) {
      if (typeof pattern !== "string" || pattern === "") {
        const found = pattern === "" ? "empty" : describeType(pattern);
        this.#fail(`a pattern must be a text such as acme/*, but this is ${found}`, [key, index]);
        continue;
      }
      const why = whyInvalidPattern(pattern);
      const hint = "A pattern is publisher/pack or publisher/pack/item; * stands for any part of a segment.";
      if (why !== undefined) this.#fail(`${quote(pattern)} is no pattern: ${why}`, [key, index], hint);
    }
    const wild = value.filter((pattern) => typeof pattern === "string" && pattern.includes("*")).length;
    if (wild > maximumWildPatterns) {
      this.#fail(`\`packs.${key}\` has ${wild} patterns with *, and the limit is ${maximumWildPatterns}`, [
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
      this.#fail("`packs.memory` must be all, none, or a map from packs to lists of keys", ["memory"]);
      return "none";
    }
    // Without a prototype: a pack may be called as what every object inherits.
    const memory: Record<string, readonly string[]> = Object.create(null);
    for (const [written, seen] of Object.entries(value)) {
      const pack = written.replace(/^@/, "");
      if (!isPackageName(pack.includes("/") ? `@${pack}` : pack)) {
        const hint = 'Write "publisher/pack", or "pack" where the npm name has no scope.';
        this.#fail(`\`packs.memory\` names ${quote(written)}, which is no pack`, ["memory", written], hint);
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
        this.#fail(`a key must be a text, but this is ${describeType(key)}`, ["memory", pack, index]);
      }
      return [...value] as string[];
    }
    this.#fail(`the keys that a pack sees must be a list, but this is ${describeType(value)}`, [
      "memory",
      pack,
    ]);
    return [];
  }
}

/** Reads a config's `packs`; everything wrong with it is found. Pure. */
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

/** Keys that can only be meant to be `packs`: a `deny` in them would be missed. No other key of a config is so near. */
function* findMisspelled(config: Readonly<Record<string, unknown>>): Generator<ConfigFault> {
  for (const key of Object.keys(config)) {
    if (key === "packs" || key.length > 7 || key.startsWith("x-")) continue;
    if (findNearestNames(key, ["packs"]).length === 0) continue;
    yield { reason: `the config has no key ${quote(key)}`, path: [key], hint: 'Did you mean "packs"?' };
  }
}

/**
 * What a config says of packs. An empty config, or one without `packs`, allows everything. Whoever does not check all
 * keys has those reported that are `packs` misspelled. Pure.
 */
export function readPacksConfig(
  config: unknown,
  { reportMisspelled }: { reportMisspelled: boolean },
): { packs: PacksConfig; faults: ConfigFault[] } {
  const nothing = readPacks({});
  if (config === null || config === undefined) return nothing;
  if (!isRecord(config)) {
    return { ...nothing, faults: [{ reason: `it holds ${describeType(config)}, not a map`, path: [] }] };
  }
  const misspelled = reportMisspelled ? [...findMisspelled(config)] : [];
  const packs = Object.hasOwn(config, "packs") ? config.packs : undefined;
  if (packs === undefined || packs === null) return { ...nothing, faults: misspelled };
  if (!isRecord(packs)) {
    const fault = { reason: `\`packs\` must be a map, but is ${describeType(packs)}`, path: ["packs"] };
    return { ...nothing, faults: [...misspelled, fault] };
  }
  const read = readPacks(packs);
  return { packs: read.packs, faults: [...misspelled, ...read.faults] };
}
