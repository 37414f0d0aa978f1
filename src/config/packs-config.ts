import { isRecord } from "../data/parse-json.ts";

/** Which packs the user allows: the part of the config's `packs` that discovery needs. */
export interface PacksPolicy {
  /** `undefined` allows everything. */
  allow?: readonly string[] | undefined;
  /** Takes precedence over `allow`. */
  deny: readonly string[];
  /** Transitive packs to use. */
  transitive: readonly string[];
}

/** One to three segments. A regular expression, a range or `{a,b}` in `deny` would silently exclude nothing. */
export const packPattern = /^@?[\w.~*-]+(?:\/[\w.~*-]+){0,2}$/;

/** The keys of `packs` that only sessions read. */
const otherKeys = ["onError", "memory", "autoInstall"];

function isPlainValue([key, value]: [string, unknown]): boolean {
  if (value === null || value === undefined || key.startsWith("x-") || otherKeys.includes(key)) return true;
  return (
    ["allow", "deny", "transitive"].includes(key) &&
    Array.isArray(value) &&
    value.every((pattern) => typeof pattern === "string" && packPattern.test(pattern))
  );
}

/**
 * The policy for packs of a config, read by hand because loading zod would double the time of a `list`. `undefined` if
 * something in it is not as it should be, which the whole check of the config then describes. Pure.
 */
export function readPlainPolicy(config: unknown): PacksPolicy | undefined {
  const written = config ?? {};
  if (!isRecord(written)) return undefined;
  const packs = (Object.hasOwn(written, "packs") ? written.packs : undefined) ?? {};
  if (!isRecord(packs) || !Object.entries(packs).every(isPlainValue)) return undefined;
  const { allow, deny, transitive } = packs as Partial<PacksPolicy>;
  return { allow: allow ?? undefined, deny: deny ?? [], transitive: transitive ?? [] };
}
