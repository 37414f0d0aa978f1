import type { LockMode } from "../config/session-config.ts";

/** How a session compares. */
export interface LockRules {
  /** `code`: another version or integrity is not approved either. */
  compares: "surface" | "code";
  /** Whether any difference is an error. */
  isFrozen: boolean;
}

const rulesOf = (mode: LockMode): LockRules => ({
  compares: mode === "code" ? "code" : "surface",
  isFrozen: mode === "frozen",
});

/**
 * The rules of a session; `undefined` if the lock is not used. The option replaces the config's mode, except that `frozen`
 * keeps `code`. The policy only makes them stricter.
 */
export function combineModes(
  config: LockMode | undefined,
  option: LockMode | "off" | undefined,
  policy: LockMode | undefined,
): LockRules | undefined {
  const chosen = option ?? config ?? "surface";
  const own = chosen === "off" ? undefined : rulesOf(chosen);
  const isCodeKept = option === "frozen" && config === "code";
  const rules = own !== undefined && isCodeKept ? { ...own, compares: "code" as const } : own;
  if (policy === undefined) return rules;
  const required = rulesOf(policy);
  return {
    compares: [rules?.compares, required.compares].includes("code") ? "code" : "surface",
    isFrozen: rules?.isFrozen === true || required.isFrozen,
  };
}
