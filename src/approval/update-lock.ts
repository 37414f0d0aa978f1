import { lockFileName, readLock } from "../lock/lock-file.ts";
import { quoteForShell } from "../problems/text.ts";
import { applyApproval, summarizePlan } from "./apply-approval.ts";
import { planApproval } from "./plan-approval.ts";
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
  if (names.length === 0 || (await readLock(project)) === undefined) return undefined;
  const plan = await planApproval(names, { ...options, cwd: project, static: !starts });
  await applyApproval(plan);
  const { approved } = summarizePlan(plan);
  const unlisted = plan.changes.filter(({ entry, value }) => {
    return entry.items[0]?.kind === "server" && value?.lists === null;
  });
  const isListed = (name: string) => plan.changes.some((one) => one.name.startsWith(`${name}/`));
  const waiting = [...new Set(unlisted.map(({ name }) => name))].filter((name) => !isListed(name));
  return {
    text: plan.text,
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
  const plan = await planApproval(known, { cwd: project, static: true, prune: true });
  const pruned = plan.narrow(plan.changes.filter(({ action }) => action === "prune"));
  return (await applyApproval(pruned)).pruned;
}
