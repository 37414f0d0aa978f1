import { join } from "node:path";
import type { SessionConfig } from "../config/session-config.ts";
import { failure } from "../problems/index.ts";
import type { LockGate } from "./lock-gate.ts";

/** How a session uses trailblaze.lock. With `surface`, it leaves out what differs; with `frozen`, that is an error; `off` ignores it. */
export type LockMode = "surface" | "frozen" | "off";

/** The mode of a session: an option replaces what the config says. */
export const lockModeOf = ({ lock }: SessionConfig, option: LockMode | undefined): LockMode =>
  option ?? (lock.frozen ? "frozen" : "surface");

/**
 * Reads the lock of a session; `undefined` if there is none, or if it is off. Throws `TrailblazeError`:
 * `LockMissing` if there is none and it is frozen, `LockMalformed`.
 */
export async function openLockGate(
  config: SessionConfig,
  option: LockMode | undefined,
): Promise<LockGate | undefined> {
  const mode = lockModeOf(config, option);
  if (mode === "off") return undefined;
  const { findLock } = await import("./find-lock.ts");
  const found = await findLock(config.project);
  if (found === undefined) {
    if (mode !== "frozen") return undefined;
    const file = join(config.project, "trailblaze.lock");
    throw failure("LockMissing", { file }, { file });
  }
  const gate = await import("./lock-gate.ts");
  return new gate.LockGate(found, config, { isFrozen: mode === "frozen" });
}
