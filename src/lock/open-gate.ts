import type { LockMode, SessionConfig } from "../config/session-config.ts";
import { failure } from "../problems/index.ts";
import type { LockGate } from "./lock-gate.ts";
import { combineModes } from "./lock-rules.ts";

/**
 * Reads the project's lock for a session; `undefined` if there is none, or if it is off. Throws `TrailblazeError`:
 * `LockMissing` if there is none and it is frozen, `LockMalformed`.
 */
export async function openLockGate(
  config: SessionConfig,
  option: LockMode | "off" | undefined,
): Promise<LockGate | undefined> {
  const rules = combineModes(config.lock.mode, option);
  if (rules === undefined) return undefined;
  const { readLock, lockFileOf } = await import("./lock-file.ts");
  const lock = await readLock(config.project);
  if (lock === undefined) {
    if (!rules.isFrozen) return undefined;
    const file = lockFileOf(config.project);
    throw failure("LockMissing", { file }, { file });
  }
  const gate = await import("./lock-gate.ts");
  return new gate.LockGate(lock, rules, config);
}
