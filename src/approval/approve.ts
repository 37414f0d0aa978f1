import { diffLocks, formatSkill, type LockDifferenceEntry } from "../lock/difference.ts";
import { isSameJson } from "../lock/json.ts";
import { changeLock, lockFileOf } from "../lock/lock-file.ts";
import {
  changeParts,
  compareParts,
  entryPlace,
  isRefused,
  keyOf,
  type LockParts,
  type LockPlace,
  lockOf,
  nameOf,
  ownerOf,
  type PartChange,
} from "../lock/parts.ts";
import { failure, type Problem } from "../problems/index.ts";
import { type Installation, type InstallationOptions, readInstallation, Targets } from "./installation.ts";

/** What to approve, and whether servers start. */
export interface ApprovalOptions extends InstallationOptions {
  /** Approves everything. Denials are lifted only for items among the targets. */
  all?: boolean;
  /** Records the targets, which need names, as denied instead. */
  deny?: boolean;
}

/** One change of a lock: of an item, a launch, what a server lists, needs, the version of an entry, or a denial. */
export interface ApprovalChange extends PartChange {
  /** `prune` removes what is no longer installed. */
  action: "approve" | "deny" | "prune";
  /** `acme/jira/createIssue`, `acme/jira/warehouse/query`, `my-tools`, `my-tools/search`; for needs and versions, the pack. */
  name: string;
}

const ownerKey = (place: LockPlace) => keyOf(entryPlace(place));

const comesAlong = ({ kind }: LockPlace) => kind === "needs" || kind === "entry";

/** Changes of trailblaze.lock that were not made yet. Strings of packs and servers are not trusted. */
export class ApprovalPlan {
  /** What changes. The version of an entry changes with anything else of it. */
  readonly changes: readonly ApprovalChange[];
  readonly #all: readonly ApprovalChange[];
  readonly #installation: Installation;
  /** Whether everything is approved, so that a lock is begun even with nothing in it. */
  readonly #isWhole: boolean;
  /** Absolute path of the lock, which may not exist yet. */
  readonly lockFile: string;
  /** Of packs that are broken, and of servers that failed to start. */
  readonly problems: readonly Problem[];
  /** Labels of the servers that failed to start, so that their lists are unknown. */
  readonly failedServers: readonly string[];

  /** @internal `planApproval` creates plans. */
  constructor(all: readonly ApprovalChange[], installation: Installation, isWhole = false) {
    const others = new Set(all.flatMap(({ place }) => (place.kind === "entry" ? [] : ownerKey(place))));
    this.changes = all.filter(({ place }) => place.kind !== "entry" || !others.has(ownerKey(place)));
    this.#all = all;
    this.#installation = installation;
    this.#isWhole = isWhole;
    this.lockFile = lockFileOf(installation.project);
    this.problems = installation.problems;
    this.failedServers = installation.failedServers;
  }

  /** @internal What the lock has after it. */
  get after(): LockParts {
    return changeParts(this.#installation.lock, this.#all);
  }

  /**
   * All that will be written, as a unified difference of the lock, and the instructions of the skills that it approves; empty if
   * nothing changes.
   */
  get text(): string {
    const { lock, skills: shown } = this.#installation;
    const differing = diffLocks(lockOf(lock), lockOf(this.after));
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
    return new ApprovalPlan(kept, this.#installation);
  }

  /** How many items and launches stay without approval after this plan; servers that were not listed count once. */
  countUnapproved(): number {
    const { after } = this;
    // That a server has been listed is approved with what it lists.
    return compareParts(after, this.#installation.expect(after)).filter(
      ({ place, from, to }) =>
        place.kind !== "entry" && to !== undefined && !(from && isSameJson({ ...from, lists: {} }, to)),
    ).length;
  }

  /** @internal Resolves with whether the file was written. */
  async apply(): Promise<boolean> {
    const { project, lock: planned, found } = this.#installation;
    if (this.changes.length === 0 && !(this.#isWhole && found === undefined)) return false;
    return changeLock(project, (lock) => {
      // The project's own one begins with what the one above approves there.
      const current = lock ?? (found?.folder === project ? new Map() : planned);
      // What another process has denied since the plan was made stays denied.
      const allowed = this.changes.filter(
        ({ action, place }) => action === "deny" || !isRefused(current, place) || isRefused(planned, place),
      );
      return changeParts(current, this.narrow(allowed).#all);
    });
  }
}

/** What differs and is meant. With something of it, the needs of a pack and the version of an entry are approved. */
export function planApprovals(installation: Installation, targets: Targets, isWhole = false): ApprovalPlan {
  const { lock } = installation;
  // What is named is decided anew.
  const undecided = [...lock].filter(([, { place, value }]) => value !== null || !targets.isNamed(place));
  const expected = installation.expect(new Map(undecided), targets.isWritten);
  const isGone = ({ place, from }: PartChange) =>
    from !== null && lock.has(ownerKey(place)) && !expected.has(ownerKey(place));
  const isMeant = (change: PartChange) =>
    targets.concerns(isGone(change) ? entryPlace(change.place) : change.place);
  const differing = compareParts(lock, expected);
  const items = differing.filter((change) => !comesAlong(change.place) && isMeant(change));
  const touched = new Set(items.map(({ place }) => ownerKey(place)));
  const all = differing
    .filter((change) => isMeant(change) || (comesAlong(change.place) && touched.has(ownerKey(change.place))))
    .map((change): ApprovalChange => {
      const { place, to } = change;
      const isPruned = isGone(change) || (to === undefined && place.kind !== "needs");
      const name = isGone(change) ? ownerOf(place) : nameOf(place);
      return { action: isPruned ? "prune" : "approve", name, ...change };
    });
  return new ApprovalPlan(all, installation, isWhole);
}

/** What is denied, approved or not. */
function planDenials(installation: Installation, targets: Targets): ApprovalPlan {
  const { lock, installed } = installation;
  const expected = installation.expect(lock, targets.isWritten);
  const changes = [...new Map([...expected, ...lock]).values()].flatMap(({ place }): ApprovalChange | [] => {
    const isMeant = place.server === undefined ? targets.isWritten(place) : targets.isNamed(place);
    const from = lock.get(keyOf(place))?.value;
    if (!isMeant || comesAlong(place) || from === null || !installed.has(ownerKey(place))) return [];
    return { action: "deny", name: nameOf(place), place, from, to: null };
  });
  return new ApprovalPlan(changes, installation);
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
  const targets = new Targets(written, all && !deny);
  const installation = await readInstallation(targets, options, deny ? "deny" : "approve");
  if (!deny) return planApprovals(installation, targets, all);
  const plan = planDenials(installation, targets);
  const isDenied = [...installation.lock.values()].some(
    ({ place, value }) => !value && targets.isNamed(place),
  );
  if (plan.changes.length === 0 && !isDenied) {
    const isNamed = written.length > 0;
    const reason = isNamed ? "Nothing that is named can be denied" : "Nothing is named to deny";
    const ofNamed = "What a server lists can be denied when it has started: approve its launch first.";
    const hint = isNamed ? ofNamed : "Name packs, servers or items.";
    throw failure("InvalidArguments", { reason, hint });
  }
  return plan;
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
export const applyApproval = async (plan: ApprovalPlan): Promise<ApprovalResult> =>
  summarize(plan, plan.changes, await plan.apply());

function summarize(
  { lockFile }: ApprovalPlan,
  changes: readonly ApprovalChange[],
  changed: boolean,
): ApprovalResult {
  const named = (action: ApprovalChange["action"]) => [
    ...new Set(changes.filter((change) => change.action === action).map(({ name }) => name)),
  ];
  const [approved, denied, pruned] = [named("approve"), named("deny"), named("prune")];
  return { lockFile, changed, approved, denied, pruned };
}

/** What `approve` has done. */
export interface Approval {
  result: ApprovalResult;
  /** The plan that was applied last, without the changes that were declined. */
  plan: ApprovalPlan;
  isDeclined: boolean;
}

/**
 * Plans what `agree` is asked about, and applies what it accepts, unless `isDryRun`. Servers whose launch it approves start
 * afterwards, and `agree` decides again about what they list; if it declines that, their launches stay approved.
 */
export async function approve(
  names: readonly string[],
  options: ApprovalOptions & { isDryRun?: boolean },
  agree: (plan: ApprovalPlan) => boolean | Promise<boolean>,
): Promise<Approval> {
  const applied: ApprovalChange[] = [];
  let changed = false;
  for (let isFirst = true; ; isFirst = false) {
    const planned = await planApproval(names, options);
    const isAgreed = await agree(planned);
    const plan = isAgreed ? planned : planned.narrow([]);
    applied.push(...plan.changes);
    if (!options.isDryRun && (await plan.apply())) changed = true;
    const areStarted = isFirst && !options.isDryRun && !options.static && plan.unlistedServers.length > 0;
    if (!areStarted)
      return { plan, isDeclined: isFirst && !isAgreed, result: summarize(plan, applied, changed) };
  }
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
  const installation = await readInstallation(targets, options, "compare");
  const { project, found, lock, problems, failedServers } = installation;
  const expected = installation.expect(lock);
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
  const lockFile = lockFileOf(found?.folder ?? project);
  return { lockFile, inSync: entries.length === 0, entries, problems, failedServers };
}
