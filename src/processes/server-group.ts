import { readdirSync, readFileSync } from "node:fs";

export type GroupSignal = "SIGTERM" | "SIGKILL";

/** A supervised process and its descendants, as far as the system keeps them together. */
export interface ProcessGroup {
  /** Once false, the group must not be signaled any more: its number may be reused. */
  isAlive(): boolean;
  signal(signal: GroupSignal): void;
}

/** Whether a member of the group is not a zombie; some containers never reap zombies. */
function hasLivingMember(group: number): boolean {
  try {
    return readdirSync("/proc").some((name) => /^\d+$/.test(name) && isLivingMember(name, group));
  } catch {
    return true;
  }
}

function isLivingMember(pid: string, group: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state = "", , itsGroup] = status.slice(status.lastIndexOf(")") + 2).split(" ");
    return Number(itsGroup) === group && !"ZX".includes(state);
  } catch {
    return false;
  }
}

/** The process group with this leader. */
export function createPosixGroup(leader: number, isLeaderAlive: () => boolean): ProcessGroup {
  // Zero and one address other groups.
  if (!(leader > 1)) throw new RangeError(`${leader} leads no group`);
  const isAlive = () => {
    if (isLeaderAlive()) return true;
    try {
      process.kill(-leader, 0);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "EPERM";
    }
    return process.platform !== "linux" || hasLivingMember(leader);
  };
  return {
    isAlive,
    signal(signal) {
      try {
        process.kill(-leader, signal);
      } catch {
        // The group has ended, or its number belongs to another user.
      }
    },
  };
}

/**
 * The process tree below a process on Windows, which has no groups; once its root has exited, it cannot be found. Not
 * tested on a real Windows.
 */
export function createWindowsTree(
  root: number,
  isRootAlive: () => boolean,
  taskkill: (args: readonly string[]) => void,
): ProcessGroup {
  return {
    isAlive: isRootAlive,
    signal(signal) {
      taskkill(["/PID", String(root), "/T", ...(signal === "SIGKILL" ? ["/F"] : [])]);
    },
  };
}
