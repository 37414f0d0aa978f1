import { join } from "node:path";
import type { SessionConfig } from "../config/session-config.ts";
import type { ListedEntry, ListedKind } from "../mcp/client/server-lists.ts";
import { failure, type Problem } from "../problems/index.ts";
import type { LockGate } from "./lock-gate.ts";

export interface ListedServer {
  entries: readonly ListedEntry[];
  instructions: string | undefined;
}

export type IsDenied = (one: ListedEntry) => boolean;

export interface ListVerdict {
  refused: Map<ListedEntry, Problem>;
  problems: Problem[];
  vanished: { kind: ListedKind; id: string; problem: Problem }[];
  /** The ids that the lock approves or denies, listed or not, of resources those that it denies; absent for a server that is not locked. */
  reserved?: Readonly<Record<ListedKind, readonly string[]>>;
  /** What models may be told of the server: its instructions, if they are approved. */
  instructions?: string | undefined;
  /** Why nothing of the server is used, and it is ended. */
  refusal?: Problem;
}

/** How a session uses trailblaze.lock. With `surface`, it leaves out what differs; with `frozen`, that is an error; `off` ignores it. */
export type LockMode = "surface" | "frozen" | "off";

/** The mode of a session: an option replaces what the config says. */
export const lockModeOf = ({ lock }: SessionConfig, option: LockMode | undefined): LockMode =>
  option ?? (lock.frozen ? "frozen" : "surface");

/** Throws `TrailblazeError`: `LockMissing` if there is none and it is frozen, `LockMalformed`. */
export async function openLockGate(
  config: SessionConfig,
  option: LockMode | undefined,
): Promise<LockGate | undefined> {
  const mode = lockModeOf(config, option);
  if (mode === "off") return undefined;
  const { findLock } = await import("./lock-file.ts");
  const found = await findLock(config.project);
  if (found === undefined) {
    if (mode !== "frozen") return undefined;
    const file = join(config.project, "trailblaze.lock");
    throw failure("LockMissing", { file }, { file });
  }
  const gate = await import("./lock-gate.ts");
  return new gate.LockGate(found, config, mode === "frozen");
}
