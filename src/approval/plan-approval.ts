import { createLock, readLock, readUsableEntries } from "../lock/lock-file.ts";
import type { ServerPlace } from "../lock/recording-gate.ts";
import type { EntryChange, ItemChange, LockedServer, LockFile } from "../lock/types.ts";
import { TrailblazeError } from "../problems/index.ts";
import { type ApprovalChange, applyChanges } from "./apply-changes.ts";
import { ApprovalPlan } from "./approval-plan.ts";
import { compareInstallation } from "./compare-installation.ts";
import {
  addLists,
  decideLaunches,
  findInstalledServer,
  isSameItem,
  isSameLaunch,
  serversOf,
} from "./decide-launches.ts";
import { findLockedServer, isLaunchApproved } from "./diff-lock.ts";
import { DenialPlanning, liftDenials } from "./plan-denials.ts";
import { Planning } from "./planning.ts";
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
  /** Also removes what is no longer installed. */
  prune?: boolean;
  /** Takes what is usable of a malformed lock; the rest is new. */
  rebuild?: boolean;
  /** Starts only servers whose launch the lock approves, and asks nothing. */
  dryRun?: boolean;
  /**
   * Decides about the launch of a server before it is started, and about what a pack needs before its servers start.
   * Default: those among the targets are approved.
   */
  agree?: (change: ApprovalChange, plan: ApprovalPlan) => boolean | Promise<boolean>;
}

const isPlace = ({ owner, entry }: ApprovalChange, { pack, server }: ServerPlace) =>
  owner === "pack" ? entry.name === pack && entry.items[0]?.name === server : entry.name === server;

const isRemembered = (lock: LockFile, place: ServerPlace) => findLockedServer(lock, place)?.lists != null;

/** The lock of a project, or what is usable of a malformed one; `undefined` if there is none. */
export async function readForApproval(project: string, rebuilds: boolean): Promise<LockFile | undefined> {
  try {
    return await readLock(project);
  } catch (error) {
    if (rebuilds && error instanceof TrailblazeError && error.code === "LockMalformed")
      return readUsableEntries(project);
    throw error;
  }
}

/**
 * Plans the approval of packs (`@acme/jira`), servers of the config by label, or items (`acme/jira/createIssue`). Nothing is
 * written before `applyApproval`.
 *
 * Trust level: execution, because it starts the servers among the targets whose launch is approved or agreed to, to take
 * their lists; with `static`, inspection. Code of packs is not loaded. Throws `TrailblazeError`: `ProjectNotFound`,
 * `InvalidConfig`, `LockMalformed`, `PackNotInstalled` and others for unknown targets; or the reason of `signal`.
 */
export async function planApproval(
  written: readonly string[],
  options: ApprovalOptions = {},
): Promise<ApprovalPlan> {
  const { deny = false, rebuild = false, agree = () => true } = options;
  const opened = await openInstallation(options);
  const { project, lockFile } = opened;
  const found = await readForApproval(project, rebuild);
  const targets = new Targets(written, options.all === true);
  const before = liftDenials(found ?? createLock(), targets);
  const read = await opened.read(() => false);
  const createPlan = (changes: readonly ApprovalChange[], installation: Installation) =>
    new ApprovalPlan(lockFile, changes, installation.problems, {
      project,
      lock: found,
      installation,
      rebuilds: rebuild,
    });

  targets.check(found ?? createLock(), read);

  // First the launches: nothing starts before it is agreed to.
  const planning = new Planning(targets, options, read, before);
  const { agreed, declined } = await decideLaunches(planning, { targets, lock: before, read }, (change) =>
    deny || options.dryRun ? !deny : agree(change, createPlan([change], read)),
  );
  const launched = applyChanges(before, agreed);
  const mayStart = (place: ServerPlace, launch: LockedServer) =>
    targets.hasServer(place) && isLaunchApproved(options.dryRun ? before : launched, place, launch);
  const isStarted =
    options.static !== true && [...serversOf(read)].some(([place, launch]) => mayStart(place, launch));
  const installation = isStarted
    ? addLists(
        read,
        await opened.read((place, launch) => {
          const shown = findInstalledServer(read, place);
          return shown !== undefined && isSameLaunch(shown, launch) && mayStart(place, launch);
        }),
      )
    : read;
  targets.check(found ?? createLock(), installation);

  // Then everything else, with what the servers list.
  const rest = new DenialPlanning(targets, options, installation, launched);
  const compared = compareInstallation(launched, installation);
  const planAll = (owner: ApprovalChange["owner"], entries: readonly EntryChange[]) =>
    entries.flatMap((entry) => rest.planEntry(owner, entry));
  const changes = deny
    ? rest.planDenials(compared)
    : [...planAll("pack", compared.packs), ...planAll("server", compared.servers)].filter(
        (change) => !declined.some((one) => isSameItem(one, change)),
      );
  const listed = deny
    ? []
    : [...serversOf(installation)].flatMap(([place, server]) => {
        if (server.lists == null || isRemembered(launched, place) || !targets.hasServer(place)) return [];
        if (changes.some((change) => change.entry.items[0]?.kind === "server" && isPlace(change, place)))
          return [];
        const entries = place.pack === undefined ? compared.servers : compared.packs;
        const entry = entries.find(({ name }) => name === (place.pack ?? place.server));
        if (entry === undefined) return [];
        const fields = [{ path: ["lists"], from: null, to: {} }];
        const item: ItemChange = {
          kind: "server",
          name: place.server,
          change: "changed",
          fields,
        };
        return [rest.create(place.pack === undefined ? "server" : "pack", entry, item)];
      });
  return createPlan([...agreed, ...listed, ...changes, ...rest.planVanishedDenials()], installation);
}
