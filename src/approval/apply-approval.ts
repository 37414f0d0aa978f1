import { changeLock } from "../lock/lock-file.ts";
import { applyChanges } from "./apply-changes.ts";
import { ApprovalPlan } from "./approval-plan.ts";
import { readForApproval } from "./plan-approval.ts";

/** What has been recorded. Its names are those of the plan's changes. */
export interface ApprovalResult {
  /** Absolute path. */
  lockFile: string;
  /** Whether the file was written: the same contents are the same bytes. */
  changed: boolean;
  approved: string[];
  denied: string[];
  pruned: string[];
}

/** Names of the changes of a plan, without repetitions. */
export function summarizePlan({ changes, lockFile }: ApprovalPlan): Omit<ApprovalResult, "changed"> {
  const named = (action: (typeof changes)[number]["action"]) => [
    ...new Set(changes.filter((change) => change.action === action).map(({ name }) => name)),
  ];
  return { lockFile, approved: named("approve"), denied: named("deny"), pruned: named("prune") };
}

/**
 * Writes the changes of a plan to trailblaze.lock, and keeps those that other processes made meanwhile. Without changes, no
 * file is created.
 *
 * Trust level: inspection; nothing starts. Replaces the file atomically. Throws `TrailblazeError`: `LockMalformed`, and
 * `InvalidArguments` if the file cannot be written.
 */
export async function applyApproval(plan: ApprovalPlan): Promise<ApprovalResult> {
  const { project, rebuilds, lock: known } = ApprovalPlan.contextOf(plan);
  const isRewritten = rebuilds && known !== undefined;
  const changed =
    (plan.changes.length > 0 || isRewritten) &&
    (await changeLock(project, (lock) => applyChanges(lock, plan.changes), {
      read: (folder) => readForApproval(folder, rebuilds),
    }));
  return { ...summarizePlan(plan), changed };
}
