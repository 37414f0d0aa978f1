import { findLock } from "../lock/find-lock.ts";
import { lockFileName, readLock } from "../lock/lock-file.ts";
import { quoteForShell } from "../problems/text.ts";
import { applyApproval, approve } from "./apply-approval.ts";
import { type ApprovalPlan, planApproval } from "./plan-approval.ts";
import type { InstallationOptions } from "./read-installation.ts";

/** What an addition has recorded. */
export interface RecordedAddition {
  /** The approved surface, for people. */
  text: string;
  /** One line for each thing to know. */
  lines: string[];
}

/**
 * Records packs and servers of the config that the user has agreed to add, where there is a lock. Servers start only with
 * `starts`; otherwise, their tools wait for `trailblaze approve`.
 */
export async function recordAdditions(
  project: string,
  names: readonly string[],
  { starts, ...options }: InstallationOptions & { starts: boolean },
): Promise<RecordedAddition | undefined> {
  if (names.length === 0 || (await findLock(project)) === undefined) return undefined;
  const plans: ApprovalPlan[] = [];
  const agree = (plan: ApprovalPlan) => plans.push(plan) > 0;
  const { result } = await approve(names, { ...options, cwd: project, static: !starts }, agree);
  const { approved } = result;
  const isListed = (server: string) =>
    plans.some(({ changes }) => changes.some(({ name, value }) => name === server && value?.lists != null));
  const waiting = plans.flatMap(({ unlistedServers }) => unlistedServers).filter((name) => !isListed(name));
  return {
    text: plans
      .map(({ text }) => text)
      .filter((text) => text !== "")
      .join("\n\n"),
    lines: [
      ...(approved.length === 0 ? [] : [`Recorded in ${lockFileName}: ${approved.join(", ")}`]),
      ...waiting.map(
        (name) => `Run \`trailblaze approve ${quoteForShell(name)}\` to start it and approve its tools.`,
      ),
    ],
  };
}

/** Takes the entries of removed packs (npm names) and servers (labels) out of the lock. Returns the names that it had. */
export async function recordRemovals(
  project: string,
  { packs, servers }: { packs: readonly string[]; servers: readonly string[] },
): Promise<string[]> {
  const lock = await readLock(project);
  if (lock === undefined) return [];
  const known = [
    ...packs.filter((name) => Object.hasOwn(lock.packs, name)),
    ...servers.filter((label) => Object.hasOwn(lock.servers, label)),
  ];
  if (known.length === 0) return [];
  const plan = await planApproval(known, { cwd: project, static: true });
  const pruned = plan.narrow(plan.changes.filter(({ action }) => action === "prune"));
  return (await applyApproval(pruned)).pruned;
}
