import { isRecord } from "../data/parse-json.ts";
import { quote } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/item-name.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import type { ConfigFault } from "./config-file.ts";

/** Which packs the user allows: the part of the config's `packs` that discovery needs. */
export interface PacksPolicy {
  /** `undefined` allows everything. */
  allow?: readonly string[] | undefined;
  /** Takes precedence over `allow`. */
  deny: readonly string[];
  /** Transitive packs to use. */
  transitive: readonly string[];
}

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

type Packs = Readonly<Record<string, unknown>>;

const patternKeys = ["allow", "deny", "transitive", "autoInstall"];

const nameOfPack = (written: string) => written.replace(/^@/, "");

const isNameOfPack = (name: string) => isPackageName(name.includes("/") ? `@${name}` : name);

const wildPatterns = (list: unknown) =>
  Array.isArray(list)
    ? list.filter((pattern) => typeof pattern === "string" && pattern.includes("*")).length
    : 0;

/** Finds faults of `packs` that the schema does not find. */
export function* findPacksFaults(packs: unknown): Generator<ConfigFault> {
  if (!isRecord(packs)) return;
  for (const key of patternKeys) {
    const wild = wildPatterns(packs[key]);
    if (wild <= maximumWildPatterns) continue;
    const reason = `\`packs.${key}\` has ${wild} patterns with *, but the limit is ${maximumWildPatterns}`;
    yield { reason, path: ["packs", key] };
  }
  const seen = new Set<string>();
  for (const written of isRecord(packs.memory) ? Object.keys(packs.memory) : []) {
    const path = ["packs", "memory", written];
    const pack = nameOfPack(written);
    if (!isNameOfPack(pack)) {
      const reason = `\`packs.memory\` has the key ${quote(written)}, which is not a valid pack name`;
      yield { reason, path, hint: 'Use "publisher/pack", or "pack" if the npm name has no scope.' };
    } else if (seen.has(pack)) yield { reason: `\`packs.memory\` names the pack ${quote(pack)} twice`, path };
    seen.add(pack);
  }
}

/** Whether a key of a config is a misspelling of `packs`, which would ignore a `deny`. No other key is this similar. */
export const isMisspelledPacks = (key: string): boolean =>
  key !== "packs" && key.length <= 7 && !key.startsWith("x-") && findNearestNames(key, ["packs"]).length > 0;

const isStrings = (list: unknown): list is string[] =>
  Array.isArray(list) && list.every((entry) => typeof entry === "string");

function isPlainValue(key: string, value: unknown): boolean {
  if (value === null || value === undefined || key.startsWith("x-")) return true;
  if (key === "onError") return value === "skip" || value === "fail";
  if (key === "memory") {
    if (!isRecord(value)) return value === "all" || value === "none";
    const names = Object.keys(value).map(nameOfPack);
    return (
      new Set(names).size === names.length &&
      names.every(isNameOfPack) &&
      Object.values(value).every(isStrings)
    );
  }
  return (
    patternKeys.includes(key) &&
    isStrings(value) &&
    wildPatterns(value) <= maximumWildPatterns &&
    value.every((pattern) => explainInvalidPattern(pattern) === undefined)
  );
}

/**
 * The policy for packs of a config, read by hand because loading zod would double the time of a `list`. `undefined` if
 * something in it is not as it should be, which the whole check of the config then describes. Pure.
 */
export function readPlainPolicy(config: unknown): PacksPolicy | undefined {
  if (config === null || config === undefined) return { deny: [], transitive: [] };
  if (!isRecord(config)) return undefined;
  if (Object.keys(config).some((key) => isMisspelledPacks(key) && (config[key] ?? undefined) !== undefined))
    return undefined;
  const packs = (Object.hasOwn(config, "packs") ? config.packs : undefined) ?? {};
  if (!isRecord(packs) || !Object.entries(packs).every(([key, value]) => isPlainValue(key, value)))
    return undefined;
  const { allow, deny, transitive } = packs as Packs & Partial<PacksPolicy>;
  return { allow: allow ?? undefined, deny: deny ?? [], transitive: transitive ?? [] };
}
