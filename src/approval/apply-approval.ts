import { changeLock, createLock } from "../lock/lock-file.ts";
import {
  type ApprovalOptions,
  ApprovalPlan,
  applyChanges,
  keepDenials,
  planApproval,
} from "./plan-approval.ts";

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
 * Writes the changes of a plan to trailblaze.lock, and keeps those that other processes made meanwhile. Without changes, a file
 * is created only by a plan of everything.
 *
 * Trust level: inspection; nothing starts. Replaces the file atomically. Throws `TrailblazeError`: `LockMalformed`, and
 * `InvalidArguments` if the file cannot be written.
 */
export async function applyApproval(plan: ApprovalPlan): Promise<ApprovalResult> {
  const { project, lock: known = createLock(), isAbove, isWhole } = ApprovalPlan.contextOf(plan);
  const begins = isWhole && ApprovalPlan.contextOf(plan).lock === undefined;
  const changed =
    (plan.changes.length > 0 || begins) &&
    (await changeLock(project, (lock) => {
      const current = lock ?? (isAbove ? known : createLock());
      return applyChanges(current, keepDenials(current, known, plan.changes));
    }));
  return { ...summarizePlan(plan), changed };
}

/** What `approve` has done. */
export interface Approval {
  result: ApprovalResult;
  /** The plan that was applied last, without the changes that were declined. */
  plan: ApprovalPlan;
  isDeclined: boolean;
}

/**
 * Plans and applies what `agree` accepts. Servers whose launch it approves start afterwards, and `agree` decides again about
 * what they list; if it declines that, their launches stay approved.
 */
export async function approve(
  names: readonly string[],
  options: ApprovalOptions,
  agree: (plan: ApprovalPlan) => boolean | Promise<boolean>,
): Promise<Approval> {
  const first = await planApproval(names, options);
  if (!(await agree(first))) {
    const plan = first.narrow([]);
    return { result: { ...summarizePlan(plan), changed: false }, plan, isDeclined: true };
  }
  const result = await applyApproval(first);
  if (options.static || first.unlistedServers.length === 0) return { result, plan: first, isDeclined: false };
  const second = await planApproval(names, options);
  const plan = (await agree(second)) ? second : second.narrow([]);
  const listed = await applyApproval(plan);
  return {
    result: {
      lockFile: result.lockFile,
      changed: result.changed || listed.changed,
      approved: [...new Set([...result.approved, ...listed.approved])],
      denied: result.denied,
      pruned: [...result.pruned, ...listed.pruned],
    },
    plan,
    isDeclined: false,
  };
}
