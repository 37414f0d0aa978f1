import { diffLocks, formatSkill, type LockDifferenceEntry } from "../lock/difference.ts";
import { isSameJson, type LockedItem } from "../lock/json.ts";
import { changeLock, createLock, lockFileOf } from "../lock/lock-file.ts";
import {
  changeParts,
  compareParts,
  entryPlace,
  isDenied,
  isRefused,
  keyOf,
  type LockParts,
  type LockPlace,
  lockOf,
  nameOf,
  ownerOf,
  partsOf,
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
  /** What the lock records afterwards; `undefined` for nothing. */
  to: LockedItem | undefined;
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
    return this.#locked.installation.problems;
  }

  /** Labels of the servers that failed to start, so that their lists are unknown. */
  get failedServers(): readonly string[] {
    return this.#locked.installation.failedServers;
  }

  /**
   * All that will be written, as a unified difference of the lock, and the instructions of the skills that it approves; empty if
   * nothing changes.
   */
  get text(): string {
    const { parts, installation } = this.#locked;
    const differing = diffLocks(lockOf(parts), lockOf(changeParts(parts, this.#all)));
    const skills = this.changes.flatMap(({ place, to }) => {
      const skill = to && installation.skills.get(keyOf(place));
      return skill ? [formatSkill(place.entry, skill)] : [];
    });
    return [...differing.map(({ diff }) => diff), ...skills].join("\n");
  }

  /** The names of servers whose launch it approves before what they list: they can start only after it is applied. */
  get unlistedServers(): string[] {
    const launches = this.changes.filter(({ place, to }) => {
      const before = this.#locked.parts.get(keyOf(place))?.value;
      return to?.launch !== undefined && (to.lists === null || !isSameJson(to.launch, before?.launch));
    });
    return [...new Set(launches.map(({ name }) => name))];
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
    const { parts, installation } = this.#locked;
    const after = changeParts(parts, this.#all);
    // That a server has been listed is approved with what it lists.
    return compareParts(after, expectLock(after, installation)).filter(
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
    const { project, parts, found } = this.#locked;
    if (this.changes.length === 0 && !(this.#isWhole && found === undefined)) return this.summarize();
    const changed = await changeLock(project, (lock) => {
      // The project's own one begins with what the one above approves there.
      const before = lock === undefined && found !== undefined && found.folder !== project;
      const current = before ? parts : partsOf(lock ?? createLock());
      // What another process has denied since the plan was made stays denied.
      const allowed = this.changes.filter(
        ({ action, place }) => action === "deny" || !isRefused(current, place) || isRefused(parts, place),
      );
      return lockOf(changeParts(current, this.narrow(allowed).#all));
    });
    return this.summarize(changed);
  }
}

/** What differs and is meant. With something of it, the needs of a pack and the version of an entry are approved. */
function planApprovals(lock: LockParts, expected: LockParts, targets: Targets): ApprovalChange[] {
  const isGone = (place: LockPlace) => lock.has(ownerKey(place)) && !expected.has(ownerKey(place));
  const isMeant = (place: LockPlace) =>
    isGone(place) ? targets.has(entryPlace(place)) : targets.concerns(place);
  const comesAlong = ({ kind }: LockPlace) => kind === "needs" || kind === "entry";
  const differing = compareParts(lock, expected);
  const items = differing.filter(({ place }) => !comesAlong(place) && isMeant(place));
  const touched = new Set(items.map(({ place }) => ownerKey(place)));
  return differing
    .filter(({ place }) => isMeant(place) || (comesAlong(place) && touched.has(ownerKey(place))))
    .map(({ place, to }) => {
      const isPruned = isGone(place) || (to === undefined && place.kind !== "needs");
      const name = isGone(place) ? ownerOf(place) : nameOf(place);
      return { action: isPruned ? "prune" : "approve", name, place, to };
    });
}

/** What is denied: with names, also what is approved; otherwise what differs. */
function planDenials(
  lock: LockParts,
  expected: LockParts,
  targets: Targets,
  now: LockParts,
): ApprovalChange[] {
  const places = targets.isEverything
    ? compareParts(lock, expected).flatMap(({ place, to }) => (to === undefined ? [] : [place]))
    : [...new Map([...expected, ...lock]).values()]
        .map(({ place }) => place)
        .filter((place) => (place.server === undefined ? targets.has(place) : targets.isNamed(place)));
  return places
    .filter(
      (place) =>
        !place.isDenial &&
        place.kind !== "needs" &&
        place.kind !== "entry" &&
        now.has(ownerKey(place)) &&
        !isDenied(lock, place),
    )
    .flatMap((place) => {
      const change = { action: "deny", name: nameOf(place) } as const;
      return [
        { ...change, place: { ...place, isDenial: true }, to: {} },
        { ...change, place, to: undefined },
      ];
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
export const planApproval = (
  written: readonly string[],
  options: ApprovalOptions = {},
): Promise<ApprovalPlan> => planChanges(written, options, true);

/** The same; `lifts`: whether names lift denials, or only say what has changed. */
export async function planChanges(
  written: readonly string[],
  options: ApprovalOptions,
  lifts: boolean,
): Promise<ApprovalPlan> {
  const { all = false, deny = false } = options;
  const targets = new Targets(written, all);
  const locked = await readLockedProject(targets, options, deny ? "deny" : "approve");
  const { parts, installation } = locked;
  // What is named is decided anew.
  const denials = [...parts.values()].filter(({ place }) => place.isDenial && targets.isNamed(place));
  const lifted = lifts && !deny ? denials.map(({ place }) => ({ place, to: undefined })) : [];
  const lock = changeParts(parts, lifted);
  const expected = expectLock(lock, installation, targets.isWritten);
  const changes = deny
    ? planDenials(lock, expected, targets, installation.parts)
    : planApprovals(lock, expected, targets);
  if (deny && written.length > 0 && changes.length === 0 && denials.length === 0) {
    const reason = "Nothing that is named can be denied";
    const hint = "What a server lists can be denied when it has started: approve its launch first.";
    throw failure("InvalidArguments", { reason, hint });
  }
  const planned = new Set(changes.map(({ name }) => name));
  const lifting = lifted.map(({ place, to }): ApprovalChange => {
    const name = nameOf(place);
    return { action: planned.has(name) ? "approve" : "prune", name, place, to };
  });
  return new ApprovalPlan([...changes, ...lifting], locked, all && !deny);
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
    return { result: plan.summarize(), plan, isDeclined: true };
  }
  const result = await applyApproval(first);
  if (options.static || first.unlistedServers.length === 0) return { result, plan: first, isDeclined: false };
  const second = await planApproval(names, options);
  const plan = (await agree(second)) ? second : second.narrow([]);
  const listed = await applyApproval(plan);
  const both = {
    ...result,
    changed: result.changed || listed.changed,
    approved: [...new Set([...result.approved, ...listed.approved])],
    pruned: [...result.pruned, ...listed.pruned],
  };
  return { result: both, plan, isDeclined: false };
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
  problems: Problem[];
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
  const { project, found, parts, installation } = await readLockedProject(targets, options, "compare");
  const expected = expectLock(parts, installation);
  // Another version is no difference.
  const versions = [...parts].filter(([key, { place }]) => place.kind === "entry" && expected.has(key));
  const differing = diffLocks(lockOf(parts), lockOf(new Map([...expected, ...versions])));
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
  const { problems, failedServers } = installation;
  const lockFile = found?.file ?? lockFileOf(project);
  return { lockFile, inSync: entries.length === 0, entries, problems, failedServers };
}
