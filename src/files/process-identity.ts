import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { isRecord } from "../data/parse-json.ts";

/** Distinguishes a process from a later one with the same id. */
export interface ProcessIdentity {
  pid: number;
  /** The start time in the system's units; absent if it is unknown. */
  started?: string | undefined;
  /** The machine, its current boot, and the namespace of the id. */
  host: string;
}

function findHost(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return `${hostname()} ${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

/** The status of a process on Linux; `undefined` if it is unknown. */
function readStatus(pid: number): { isOver: boolean; started: string | undefined } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
    return { isOver: "ZX".includes(fields[0] ?? ""), started: fields[19] };
  } catch {
    return undefined;
  }
}

export function identifyProcess(pid: number = process.pid): ProcessIdentity {
  return { pid, started: readStatus(pid)?.started, host: findHost() };
}

/** Whether a process is still running; `undefined` if it cannot be determined. */
export function isSameProcessRunning({ pid, started, host }: ProcessIdentity): boolean | undefined {
  if (host !== findHost()) return undefined;
  if (!isRunning(pid)) return false;
  const status = readStatus(pid);
  return status === undefined || (!status.isOver && (started === undefined || started === status.started));
}

/** Reads a stored identity; `undefined` if it is not valid. */
export function readProcessIdentity(value: unknown): ProcessIdentity | undefined {
  if (!isRecord(value) || typeof value.pid !== "number" || typeof value.host !== "string") return undefined;
  const { pid, host, started } = value;
  return { pid, host, started: typeof started === "string" ? started : undefined };
}

/** Whether a process exists, even another user's. False for invalid ids: 0 and below are groups. */
export function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    // Signal 0 only checks.
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
