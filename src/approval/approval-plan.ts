import { formatDifference } from "../lock/format-difference.ts";
import type { EntryChange, LockFile } from "../lock/types.ts";
import type { Problem } from "../problems/index.ts";
import { type ApprovalChange, applyChanges } from "./apply-changes.ts";
import { compareInstallation } from "./compare-installation.ts";
import type { Installation } from "./read-installation.ts";

/** The parts of a plan that callers need not know. */
export interface PlanContext {
  /** Absolute path of the project's folder. */
  project: string;
  /** The lock when the plan was made; `undefined` if there was none. */
  lock: LockFile | undefined;
  installation: Installation;
  /** Whether everything is approved, so that a lock is begun even with nothing in it. */
  isWhole: boolean;
}

/** Whether a change says only that a server has listed its tools. */
export const isListing = ({ entry }: ApprovalChange): boolean => {
  const [item] = entry.items;
  return item?.kind === "server" && item.fields.length === 1 && item.fields[0]?.path[0] === "lists";
};

/** The changes as a difference, for people. */
function groupByEntry(changes: readonly ApprovalChange[], owner: ApprovalChange["owner"]): EntryChange[] {
  const groups = new Map<string, EntryChange>();
  for (const change of changes) {
    const { entry } = change;
    if (change.owner !== owner || isListing(change)) continue;
    const group = groups.get(entry.name);
    if (group === undefined) groups.set(entry.name, { ...entry, items: [...entry.items] });
    else group.items.push(...entry.items);
  }
  return [...groups.values()];
}

/** Changes of trailblaze.lock that were not made yet. Strings of packs and servers are not trusted. */
export class ApprovalPlan {
  /** Absolute path of the lock, which may not exist yet. */
  readonly lockFile: string;
  readonly changes: readonly ApprovalChange[];
  /** Of packs that are broken, and of servers that failed to start. */
  readonly problems: readonly Problem[];
  readonly #context: PlanContext;

  /** Not for callers: `planApproval` creates plans. */
  constructor(
    lockFile: string,
    changes: readonly ApprovalChange[],
    problems: readonly Problem[],
    context: PlanContext,
  ) {
    this.lockFile = lockFile;
    this.changes = changes;
    this.problems = problems;
    this.#context = context;
  }

  static contextOf(plan: ApprovalPlan): PlanContext {
    return plan.#context;
  }

  /** The changes for people; empty if there are none. */
  get text(): string {
    return formatDifference({
      packs: groupByEntry(this.changes, "pack"),
      servers: groupByEntry(this.changes, "server"),
    });
  }

  /** The names of servers whose launch it approves without their lists: they can start only after it is applied. */
  get unlistedServers(): string[] {
    const launches = this.changes.filter(
      ({ action, entry, value }) =>
        action === "approve" && entry.items[0]?.kind === "server" && value?.lists === null,
    );
    return [...new Set(launches.map(({ name }) => name))];
  }

  /** Labels of the servers that failed to start, so that their lists are unknown. */
  get failedServers(): readonly string[] {
    return this.#context.installation.failedServers;
  }

  /** The same plan with some of its changes. */
  narrow(changes: readonly ApprovalChange[]): ApprovalPlan {
    return new ApprovalPlan(this.lockFile, changes, this.problems, this.#context);
  }

  /** How many items and launches stay without approval after this plan; servers that were not listed count once. */
  countUnapproved(): number {
    const { lock, installation } = this.#context;
    const compared = compareInstallation(applyChanges(lock, this.changes), installation);
    return [...compared.packs, ...compared.servers]
      .flatMap(({ items }) => items)
      .filter(({ change }) => change !== "removed").length;
  }
}
