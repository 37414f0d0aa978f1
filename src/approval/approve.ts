import { diffLocks, formatSkill, type LockDifferenceEntry } from "../lock/difference.ts";
import { isSameJson, type LockedItem } from "../lock/json.ts";
import { changeLock, lockFileOf } from "../lock/lock-file.ts";
import {
  changeParts,
  compareParts,
  entryPlace,
  isRefused,
  keyOf,
  type LockPlace,
  lockOf,
  nameOf,
  ownerOf,
  type PartChange,
} from "../lock/parts.ts";
import { failure, type Problem } from "../problems/index.ts";
import {
  expectLock,
  type InstallationOptions,
  type LockedProject,
  readLockedProject,
  Targets,
} from "./installation.ts";

/** What to approve, and whether servers start. */
export interface ApprovalOptions extends InstallationOptions {
  /** Approves everything. Denials are lifted only for items among the targets. */
  all?: boolean;
  /** Records the targets as denied instead. */
  deny?: boolean;
}

/** One change of a lock: of an item, a launch, what a server lists, needs, the version of an entry, or a denial. */
export interface ApprovalChange {
  /** `prune` removes what is no longer installed. */
  action: "approve" | "deny" | "prune";
  /** `acme/jira/createIssue`, `acme/jira/warehouse/query`, `my-tools`, `my-tools/search`; for needs and versions, the pack. */
  name: string;
  place: LockPlace;
  /** What the lock records before: `null` for a denial, `undefined` for nothing. */
  from: LockedItem | null | undefined;
  /** The same afterwards. */
  to: LockedItem | null | undefined;
}

const ownerKey = (place: LockPlace) => keyOf(entryPlace(place));

/** Changes of trailblaze.lock that were not made yet. Strings of packs and servers are not trusted. */
export class ApprovalPlan {
  /** What changes. The version of an entry changes with anything else of it. */
  readonly changes: readonly ApprovalChange[];
  readonly #all: readonly ApprovalChange[];
  readonly #locked: LockedProject;
  /** Whether everything is approved, so that a lock is begun even with nothing in it. */
  readonly #isWhole: boolean;

  /** Not for callers: `planApproval` creates plans. */
  constructor(all: readonly ApprovalChange[], locked: LockedProject, isWhole: boolean) {
    const others = new Set(
      all.filter(({ place }) => place.kind !== "entry").map(({ place }) => ownerKey(place)),
    );
    this.changes = all.filter(({ place }) => place.kind !== "entry" || !others.has(ownerKey(place)));
    this.#all = all;
    this.#locked = locked;
    this.#isWhole = isWhole;
  }

  /** Absolute path of the lock, which may not exist yet. */
  get lockFile(): string {
    return lockFileOf(this.#locked.project);
  }

  /** Of packs that are broken, and of servers that failed to start. */
  get problems(): readonly Problem[] {
    return this.#locked.problems;
  }

  /** Labels of the servers that failed to start, so that their lists are unknown. */
  get failedServers(): readonly string[] {
    return this.#locked.failedServers;
  }

  /**
   * All that will be written, as a unified difference of the lock, and the instructions of the skills that it approves; empty if
   * nothing changes.
   */
  get text(): string {
    const { lock, skills: shown } = this.#locked;
    const differing = diffLocks(lockOf(lock), lockOf(changeParts(lock, this.#all)));
    const skills = this.changes.flatMap(({ place, to }) => {
      const skill = to && shown.get(keyOf(place));
      return skill ? [formatSkill(place.entry, skill)] : [];
    });
    return [...differing.map(({ diff }) => diff), ...skills].join("\n");
  }

  /** The names of servers whose launch it approves before what they list: they can start only after it is applied. */
  get unlistedServers(): string[] {
    return this.changes.flatMap(({ name, from, to }) => {
      const isLaunch = to?.launch !== undefined;
      return isLaunch && (to.lists === null || !isSameJson(to.launch, from?.launch)) ? name : [];
    });
  }

  /** The same plan with some of its changes. */
  narrow(changes: readonly ApprovalChange[]): ApprovalPlan {
    const touched = new Set(changes.map(({ place }) => ownerKey(place)));
    const kept = this.#all.filter(
      (change) =>
        changes.includes(change) || (change.place.kind === "entry" && touched.has(keyOf(change.place))),
    );
    return new ApprovalPlan(kept, this.#locked, this.#isWhole);
  }

  /** How many items and launches stay without approval after this plan; servers that were not listed count once. */
  countUnapproved(): number {
    const after = changeParts(this.#locked.lock, this.#all);
    // That a server has been listed is approved with what it lists.
    return compareParts(after, expectLock(after, this.#locked)).filter(
      ({ place, from, to }) =>
        place.kind !== "entry" && to !== undefined && !(from && isSameJson({ ...from, lists: {} }, to)),
    ).length;
  }

  /** What it records, without repetitions. */
  summarize(changed = false): ApprovalResult {
    const named = (action: ApprovalChange["action"]) => [
      ...new Set(this.changes.filter((change) => change.action === action).map(({ name }) => name)),
    ];
    const [approved, denied, pruned] = [named("approve"), named("deny"), named("prune")];
    return { lockFile: this.lockFile, changed, approved, denied, pruned };
  }

  /** @internal */
  async apply(): Promise<ApprovalResult> {
    const { project, lock: planned, found } = this.#locked;
    if (this.changes.length === 0 && !(this.#isWhole && found === undefined)) return this.summarize();
    const changed = await changeLock(project, (lock) => {
      // The project's own one begins with what the one above approves there.
      const current = lock ?? (found?.folder === project ? new Map() : planned);
      // What another process has denied since the plan was made stays denied.
      const allowed = this.changes.filter(
        ({ action, place }) => action === "deny" || !isRefused(current, place) || isRefused(planned, place),
      );
      return changeParts(current, this.narrow(allowed).#all);
    });
    return this.summarize(changed);
  }
}

/** What differs and is meant. With something of it, the needs of a pack and the version of an entry are approved. */
export function planApprovals(locked: LockedProject, targets: Targets): ApprovalChange[] {
  const { lock } = locked;
  // What is named is decided anew.
  const undecided = [...lock].filter(([, { place, value }]) => value !== null || !targets.isNamed(place));
  const expected = expectLock(new Map(undecided), locked, targets.isWritten);
  const isGone = ({ place, from }: PartChange) =>
    from !== null && lock.has(ownerKey(place)) && !expected.has(ownerKey(place));
  const isMeant = (change: PartChange) =>
    isGone(change) ? targets.has(entryPlace(change.place)) : targets.concerns(change.place);
  const comesAlong = ({ place: { kind } }: PartChange) => kind === "needs" || kind === "entry";
  const differing = compareParts(lock, expected);
  const items = differing.filter((change) => !comesAlong(change) && isMeant(change));
  const touched = new Set(items.map(({ place }) => ownerKey(place)));
  return differing
    .filter((change) => isMeant(change) || (comesAlong(change) && touched.has(ownerKey(change.place))))
    .map((change) => {
      const { place, to } = change;
      const isPruned = isGone(change) || (to === undefined && place.kind !== "needs");
      const name = isGone(change) ? ownerOf(place) : nameOf(place);
      return { action: isPruned ? "prune" : "approve", name, ...change };
    });
}

/** What is denied: with names, also what is approved; otherwise what differs. */
function planDenials(locked: LockedProject, targets: Targets): ApprovalChange[] {
  const { lock, installed } = locked;
  const expected = expectLock(lock, locked, targets.isWritten);
  const places = targets.isEverything
    ? compareParts(lock, expected).flatMap(({ place, to }) => (to === undefined ? [] : [place]))
    : [...new Map([...expected, ...lock]).values()]
        .map(({ place }) => place)
        .filter((place) => (place.server === undefined ? targets.has(place) : targets.isNamed(place)));
  return places.flatMap((place) => {
    const from = lock.get(keyOf(place))?.value;
    const comesAlong = place.kind === "needs" || place.kind === "entry";
    if (comesAlong || from === null || !installed.has(ownerKey(place))) return [];
    return { action: "deny", name: nameOf(place), place, from, to: null };
  });
}

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
  const targets = new Targets(written, all);
  const locked = await readLockedProject(targets, options, deny ? "deny" : "approve");
  const changes = deny ? planDenials(locked, targets) : planApprovals(locked, targets);
  const isDenied = [...locked.lock.values()].some(({ place, value }) => !value && targets.isNamed(place));
  if (deny && written.length > 0 && changes.length === 0 && !isDenied) {
    const reason = "Nothing that is named can be denied";
    const hint = "What a server lists can be denied when it has started: approve its launch first.";
    throw failure("InvalidArguments", { reason, hint });
  }
  return new ApprovalPlan(changes, locked, all && !deny);
}

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

/**
 * Writes the changes of a plan to trailblaze.lock, and keeps those that other processes made meanwhile. Without changes, a file
 * is created only by a plan of everything.
 *
 * Trust level: inspection; nothing starts. Replaces the file atomically. Throws `TrailblazeError`: `LockMalformed`, and
 * `InvalidArguments` if the file cannot be written.
 */
export const applyApproval = (plan: ApprovalPlan): Promise<ApprovalResult> => plan.apply();

/** What `approve` has done. */
export interface Approval {
  result: ApprovalResult;
  /** The plan that was applied last, without the changes that were declined. */
  plan: ApprovalPlan;
  isDeclined: boolean;
  /** The names of servers whose launch was approved without what they list. */
  unlisted: string[];
}

/**
 * Plans and applies what `agree` accepts of what `select` leaves. Servers whose launch it approves start afterwards, and `agree`
 * decides again about what they list; if it declines that, their launches stay approved.
 */
export async function approve(
  names: readonly string[],
  options: ApprovalOptions,
  agree: (plan: ApprovalPlan) => boolean | Promise<boolean>,
  select = (plan: ApprovalPlan) => plan,
): Promise<Approval> {
  const first = select(await planApproval(names, options));
  if (!(await agree(first))) {
    const plan = first.narrow([]);
    return { result: plan.summarize(), plan, isDeclined: true, unlisted: [] };
  }
  const result = await applyApproval(first);
  const unlisted = first.unlistedServers;
  if (options.static || unlisted.length === 0) return { result, plan: first, isDeclined: false, unlisted };
  const second = select(await planApproval(names, options));
  const plan = (await agree(second)) ? second : second.narrow([]);
  const listed = await applyApproval(plan);
  const both = {
    ...result,
    changed: result.changed || listed.changed,
    approved: [...new Set([...result.approved, ...listed.approved])],
    pruned: [...result.pruned, ...listed.pruned],
  };
  const isListed = (server: string) =>
    plan.changes.some(({ name, to }) => name === server && to?.lists !== null);
  return {
    result: both,
    plan,
    isDeclined: false,
    unlisted: unlisted.filter((server) => !isListed(server)),
  };
}

/** What to compare, and whether servers start. */
export interface DiffOptions extends InstallationOptions {
  /** Packs (`@acme/jira` or `acme/jira`), servers of the config by label, or items. Default: everything. */
  targets?: readonly string[];
}

/** The difference between a lock and the installation. Strings of packs and servers are not trusted. */
export interface LockDifference {
  /** Absolute path: the project's lock, or the nearest one above it up to the root of its workspace. */
  lockFile: string;
  /** Whether nothing differs. Another version with the same surface is no difference. */
  inSync: boolean;
  /** What differs, in the order of the file. */
  entries: LockDifferenceEntry[];
  /** Of packs that are broken, and of servers that failed to start. */
  problems: readonly Problem[];
  /** Labels of the servers that failed to start, so that their lists were not compared. */
  failedServers: string[];
}

/**
 * Compares trailblaze.lock with what is installed, as models would see it.
 *
 * Trust level: execution, because it starts the servers that it compares and whose launch the lock approves; with `static`,
 * inspection. Code of packs is not loaded. Throws `TrailblazeError`: `ProjectNotFound`, `InvalidConfig`, `LockMissing`,
 * `LockMalformed`, `PackNotInstalled` and others for unknown targets; or the reason of `signal`.
 */
export async function diffLock(options: DiffOptions = {}): Promise<LockDifference> {
  const { targets: written = [] } = options;
  const targets = new Targets(written, written.length === 0);
  const locked = await readLockedProject(targets, options, "compare");
  const { project, found, lock, problems, failedServers } = locked;
  const expected = expectLock(lock, locked);
  // Another version is no difference.
  const versions = [...lock].filter(([key, { place }]) => place.kind === "entry" && expected.has(key));
  const differing = diffLocks(lockOf(lock), lockOf(new Map([...expected, ...versions])));
  const entries = differing.filter((entry) => {
    const { pack, server = "", kind, name } = entry;
    const owner = { owner: pack === undefined ? "server" : "pack", entry: pack ?? server } as const;
    // A pack as a whole differs only if it has nothing else.
    if (kind === "pack")
      return (
        targets.has(entryPlace(owner)) && differing.every((other) => other === entry || other.pack !== pack)
      );
    return targets.concerns({ ...owner, kind, name });
  });
  const lockFile = found?.file ?? lockFileOf(project);
  return { lockFile, inSync: entries.length === 0, entries, problems, failedServers };
}
