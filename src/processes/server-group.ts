import { readdirSync, readFileSync } from "node:fs";

export type GroupSignal = "SIGTERM" | "SIGKILL";

/** All processes that a supervised one has brought into the world, as far as the system keeps them together. */
export interface ProcessGroup {
  /** Once false, the group must not be signalled any more: its number may be another's. */
  isAlive(): boolean;
  signal(signal: GroupSignal): void;
}

/** Whether a member of the group is more than an entry that nobody has collected, as where process 1 collects none. */
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

/** The group that a process started as leader of one has founded. */
export function createPosixGroup(leader: number, isLeaderAlive: () => boolean): ProcessGroup {
  // Zero and one mean other groups than they say.
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
        // Nothing of it is left, or it is another user's by now.
      }
    },
  };
}

/**
 * The tree below a process on Windows, which knows no groups; without its root it cannot be found any more. Not tested
 * on a real Windows.
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
