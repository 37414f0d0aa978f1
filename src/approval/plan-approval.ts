import { createLock, readLock } from "../lock/lock-file.ts";
import type { ServerPlace } from "../lock/recording-gate.ts";
import type { EntryChange, ItemChange, LockedServer, LockFile } from "../lock/types.ts";
import type { ApprovalChange } from "./apply-changes.ts";
import { ApprovalPlan } from "./approval-plan.ts";
import { type Comparison, compareInstallation } from "./compare-installation.ts";
import { findLockedServer, isLaunchApproved } from "./diff-lock.ts";
import { DenialPlanning, liftDenials } from "./plan-denials.ts";
import { type Installation, type InstallationOptions, openInstallation } from "./read-installation.ts";
import { Targets } from "./targets.ts";

/** What to approve, and whether servers start. */
export interface ApprovalOptions extends InstallationOptions {
  /** Approves everything. Denials are lifted only for items among the targets. */
  all?: boolean;
  /** Starts no server. What a server lists is approved only after it has started. */
  static?: boolean;
  /** Records the targets as denied instead. */
  deny?: boolean;
}

/** Every server of an installation that is launched. */
function* serversOf({ packs, servers }: Installation): Generator<[ServerPlace, LockedServer]> {
  for (const [server, launch] of servers) yield [{ pack: undefined, server }, launch];
  for (const [pack, { entry }] of packs) {
    for (const [server, launch] of Object.entries(entry.servers ?? {})) {
      if ("lists" in launch) yield [{ pack, server }, launch];
    }
  }
}

const isPlace = ({ owner, entry }: ApprovalChange, { pack, server }: ServerPlace) =>
  owner === "pack" ? entry.name === pack && entry.items[0]?.name === server : entry.name === server;

const isRemembered = (lock: LockFile, place: ServerPlace) => findLockedServer(lock, place)?.lists != null;

/**
 * Plans the approval of packs (`@acme/jira`), servers of the config by label, or items (`acme/jira/createIssue`), and the
 * removal of what is gone. Nothing is written before `applyApproval`. What a server lists is planned only if the lock approves
 * its launch: apply the plan and plan again for the lists of servers whose launch is new.
 *
 * Trust level: execution, because it starts the servers among the targets whose launch the lock approves, to take their lists;
 * with `static`, inspection. Code of packs is not loaded. Throws `TrailblazeError`: `ProjectNotFound`, `InvalidConfig`,
 * `LockMalformed`, `PackNotInstalled` and others for unknown targets; or the reason of `signal`.
 */
export async function planApproval(
  written: readonly string[],
  options: ApprovalOptions = {},
): Promise<ApprovalPlan> {
  const { all = false, deny = false } = options;
  const opened = await openInstallation(options);
  const { project, lockFile } = opened;
  const found = await readLock(project);
  const targets = new Targets(written, all);
  const lock = liftDenials(found ?? createLock(), targets);
  const installation = await opened.read(
    (place, launch) =>
      options.static !== true && targets.hasServer(place) && isLaunchApproved(lock, place, launch),
  );
  targets.check(found ?? createLock(), installation);
  const planning = new DenialPlanning(targets, deny, installation, lock);
  const compared = compareInstallation(lock, installation);
  const changes = deny ? planning.planDenials(compared) : planAll(planning, compared, found);
  return new ApprovalPlan(lockFile, changes, installation.problems, {
    project,
    lock: found,
    installation,
    isWhole: all && !deny,
  });
}

function planAll(
  planning: DenialPlanning,
  compared: Comparison,
  known: LockFile | undefined,
): ApprovalChange[] {
  const { installation, lock, targets } = planning;
  const planEntries = (owner: ApprovalChange["owner"], entries: readonly EntryChange[]) =>
    entries.flatMap((entry) => planning.planEntry(owner, entry));
  const changes = [...planEntries("pack", compared.packs), ...planEntries("server", compared.servers)];
  // That a server has been listed is recorded also if it lists nothing.
  const listed = [...serversOf(installation)].flatMap(([place, server]) => {
    if (server.lists == null || isRemembered(lock, place) || !targets.hasServer(place)) return [];
    if (changes.some((change) => change.entry.items[0]?.kind === "server" && isPlace(change, place)))
      return [];
    const owner = place.pack === undefined ? "server" : "pack";
    const entries = owner === "server" ? compared.servers : compared.packs;
    const entry = entries.find(({ name }) => name === (place.pack ?? place.server));
    if (entry === undefined) return [];
    const fields = [{ path: ["lists"], from: null, to: {} }];
    const item: ItemChange = { kind: "server", name: place.server, change: "changed", fields };
    return [planning.create(owner, entry, item)];
  });
  const vanished = known === undefined ? [] : planning.planVanishedDenials(known, changes);
  return [...listed, ...changes, ...vanished];
}
