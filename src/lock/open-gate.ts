import type { LockMode, SessionConfig } from "../config/session-config.ts";
import { failure } from "../problems/index.ts";
import type { LockGate } from "./lock-gate.ts";
import { combineModes } from "./lock-rules.ts";

/**
 * Reads the project's lock for a session; `undefined` if there is none, or if it is off. Throws `TrailblazeError`:
 * `LockMissing` if there is none and it is frozen or the administrator requires it, `LockMalformed`.
 */
export async function openLockGate(
  config: SessionConfig,
  option: LockMode | "off" | undefined,
): Promise<LockGate | undefined> {
  const required = config.policy?.lock;
  const rules = combineModes(config.lock.mode, option, required);
  if (rules === undefined) return undefined;
  const { readLock, lockFileOf } = await import("./lock-file.ts");
  const lock = await readLock(config.project);
  if (lock === undefined) {
    if (!rules.isFrozen && required === undefined) return undefined;
    const file = lockFileOf(config.project);
    const requiredBy = required === undefined ? "frozen" : "policy";
    throw failure("LockMissing", { file, requiredBy }, { file });
  }
  const gate = await import("./lock-gate.ts");
  return new gate.LockGate(lock, rules, config);
}
