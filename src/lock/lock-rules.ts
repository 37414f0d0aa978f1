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
 * keeps `code`.
 */
export function combineModes(
  config: LockMode | undefined,
  option: LockMode | "off" | undefined,
): LockRules | undefined {
  const chosen = option ?? config ?? "surface";
  const own = chosen === "off" ? undefined : rulesOf(chosen);
  const isCodeKept = option === "frozen" && config === "code";
  return own !== undefined && isCodeKept ? { ...own, compares: "code" } : own;
}
