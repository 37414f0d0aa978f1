import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { isRecord } from "../data/parse-json.ts";

/** What tells a process from a later one that got its number. */
export interface ProcessIdentity {
  pid: number;
  /** When it started, as the system counts; absent where that cannot be read. */
  started?: string | undefined;
  /** The machine, its current boot, and the namespace that the number belongs to. */
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

/** What Linux says of a process; `undefined` where there is none or it does not tell. */
function readStatus(pid: number): { isOver: boolean; started: string | undefined } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
    return { isOver: "ZX".includes(fields[0] ?? ""), started: fields[19] };
  } catch {
    return undefined;
  }
}

export function identifyOwnProcess(): ProcessIdentity {
  return { pid: process.pid, started: readStatus(process.pid)?.started, host: findHost() };
}

/** Whether a process is still there; `undefined` where that cannot be found out from here. */
export function isSameProcessRunning({ pid, started, host }: ProcessIdentity): boolean | undefined {
  if (host !== findHost()) return undefined;
  if (!isRunning(pid)) return false;
  const status = readStatus(pid);
  return status === undefined || (!status.isOver && (started === undefined || started === status.started));
}

/** Reads what was stored of a process; `undefined` for what is something else. */
export function parseProcessIdentity(text: string): ProcessIdentity | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value) || typeof value.pid !== "number" || typeof value.host !== "string") return undefined;
    const { pid, host, started } = value;
    return { pid, host, started: typeof started === "string" ? started : undefined };
  } catch {
    return undefined;
  }
}

/** Whether a process is there, another user's too. False for what is no process id: 0 and below stand for groups. */
export function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    // Signal 0 is none: it only asks.
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
