import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { getHeapCodeStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What this process holds. */
export interface Usage {
  /** Open file descriptors; `null` where the system does not tell. */
  descriptors: number | null;
  /** Child processes, those of them included; `null` where the system does not tell. */
  processes: number | null;
  /**
   * What lives after a garbage collection: the heap and buffers outside it, in bytes. Without compiled code, of which the
   * engine makes more for hours.
   */
  live: number;
  /** Resident memory, in bytes. */
  resident: number;
}

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

function countDescendants(): number | null {
  if (process.platform !== "linux") return null;
  const parents = new Map<number, number>();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const [, state, parent] = /\) (\S) (\d+)/.exec(readFileSync(`/proc/${entry}/stat`, "latin1")) ?? [];
      if (state !== "Z") parents.set(Number(entry), Number(parent));
    } catch {
      // It ended meanwhile.
    }
  }
  const isOurs = (id: number | undefined): boolean =>
    id !== undefined && id !== 0 && (id === process.pid || isOurs(parents.get(id)));
  return [...parents.values()].filter(isOurs).length;
}

const countDescriptors = () => (process.platform === "linux" ? readdirSync("/proc/self/fd").length : null);

/** Measures after what is ending has ended, and after garbage collections. */
export async function measureUsage(): Promise<Usage> {
  for (let round = 0; round < 3; round++) {
    collectGarbage();
    await sleep(20);
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const { code_and_metadata_size: code, bytecode_and_metadata_size: bytecode } = getHeapCodeStatistics();
  return {
    descriptors: countDescriptors(),
    processes: countDescendants(),
    live: heapUsed + external - code - bytecode,
    resident: rss,
  };
}

/** Growth that says nothing: less than one page of a new space of the heap. */
const slackBytes = 1 << 20;
const mostGrowth = 1.05;

/** What grew between the end of the warm-up and the end. Memory is judged only after enough steps to tell. */
export function findLeaks(before: Usage, after: Usage, judgesMemory: boolean): string[] {
  const leaks: string[] = [];
  for (const what of ["descriptors", "processes"] as const) {
    const [from, to] = [before[what], after[what]];
    if (from !== null && to !== null && to > from) leaks.push(`${what} grew from ${from} to ${to}`);
  }
  const isMore = after.live > before.live * mostGrowth && after.live > before.live + slackBytes;
  if (judgesMemory && isMore) {
    leaks.push(`memory grew from ${formatBytes(before.live)} to ${formatBytes(after.live)}`);
  }
  return leaks;
}

export const formatBytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
