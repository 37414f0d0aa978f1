import { isSameJson } from "../lock/canonical-json.ts";
import { hasOnlyDenials, ownEntry } from "../lock/compare.ts";
import { diffLocks } from "../lock/difference.ts";
import { findLock } from "../lock/find-lock.ts";
import { createLock } from "../lock/lock-file.ts";
import {
  compareParts,
  denialOf,
  denialsOf,
  findServer,
  isDenied,
  keyOf,
  type LockPlace,
  nameOf,
  ownerOf,
  type PartChange,
  partsOf,
  removeEntry,
  setDenied,
  setPart,
} from "../lock/parts.ts";
import type { LockedItem, LockedPack, LockedServer, LockFile } from "../lock/types.ts";
import { failure, type Problem } from "../problems/index.ts";
import { isLaunchApproved } from "./diff-lock.ts";
import { expectLock } from "./expect-lock.ts";
import {
  type Installation,
  type InstallationOptions,
  narrowLock,
  openInstallation,
} from "./read-installation.ts";
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

/** One change of a lock. */
export interface ApprovalChange {
  /** `prune` removes what is no longer installed. */
  action: "approve" | "deny" | "prune";
  /** `acme/jira/createIssue`, `acme/jira/warehouse/query`, `my-tools`, `my-tools/search`; for needs and versions, the pack. */
  name: string;
  /** A part, or a whole entry: its version, or all of a removed one. */
  place: LockPlace | Pick<LockPlace, "owner" | "entry">;
  /** What is recorded, of an approved part. */
  value?: LockedItem;
  /** Only a denial is lifted, of something that is not there. */
  liftsOnly?: boolean;
  /** The installed version; `null` if the package has none, absent for a server without a package. */
  version?: string | null;
}

const isPart = (place: ApprovalChange["place"]): place is LockPlace => "kind" in place;

const entryOf = (lock: LockFile, { owner, entry }: Pick<LockPlace, "owner" | "entry">) =>
  ownEntry<LockedPack | LockedServer>(lock[`${owner}s`], entry);

/** The lock after changes; the given one stays as it is. Pure. */
export function applyChanges(lock: LockFile | undefined, changes: readonly ApprovalChange[]): LockFile {
  const changed = structuredClone(lock ?? createLock());
  for (const { action, place, value, version, liftsOnly } of changes) {
    const isNew = entryOf(changed, place) === undefined;
    if (!isPart(place)) {
      if (action === "prune") removeEntry(changed, place);
      else if (place.owner === "pack" && isNew) changed.packs[place.entry] = { surface: "" };
    } else {
      if (!liftsOnly) setPart(changed, place, action === "approve" ? value : undefined);
      setDenied(changed, place, action === "deny");
    }
    const entry = entryOf(changed, place);
    if (entry === undefined) continue;
    if (action !== "approve") {
      if (Object.keys(entry).every((key) => key === "surface")) removeEntry(changed, place);
    } else if (hasOnlyDenials(entry)) continue;
    else if (version === null && place.owner === "pack") delete entry.version;
    else if (version !== undefined) Object.assign(entry, { version });
  }
  return changed;
}

/** Whether a lock denies a part, or the server that lists it. */
function isRefused(lock: LockFile, place: LockPlace): boolean {
  const { server } = place;
  return (
    isDenied(lock, place) ||
    (server !== undefined && isDenied(lock, { ...place, kind: "server", name: server }))
  );
}

/**
 * The changes of a plan that a lock still allows: what another process has denied since the plan was made stays denied.
 * `known`: the lock of the plan.
 */
export const keepDenials = (lock: LockFile, known: LockFile, changes: readonly ApprovalChange[]) =>
  changes.filter(
    ({ action, place }) =>
      action === "deny" || !isPart(place) || !isRefused(lock, place) || isRefused(known, place),
  );

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

  /** All that will be written, as a unified difference of the lock; empty if nothing changes. */
  get text(): string {
    const { lock = createLock() } = this.#context;
    return diffLocks(lock, applyChanges(lock, this.changes))
      .map(({ diff }) => diff)
      .join("\n");
  }

  /** The names of servers whose launch it approves before what they list: they can start only after it is applied. */
  get unlistedServers(): string[] {
    const { lock = createLock() } = this.#context;
    const launches = this.changes.filter(({ action, place, value }) => {
      if (action !== "approve" || value?.launch === undefined || !isPart(place)) return false;
      return value.lists === null || !isSameJson(value.launch, findServer(lock, place)?.launch);
    });
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
    const after = applyChanges(lock, this.changes);
    const differing = compareParts(after, expectLock(after, installation));
    // That a server has been listed is approved with what it lists.
    const isListing = ({ from, to }: PartChange) =>
      from !== undefined && isSameJson({ ...from, lists: {} }, to);
    return differing.filter((change) => change.to !== undefined && !isListing(change)).length;
  }
}

/** The parts of a plan that callers need not know. */
interface PlanContext {
  /** Absolute path of the project's folder. */
  project: string;
  /** The lock when the plan was made, also one above the project; `undefined` if there was none. */
  lock: LockFile | undefined;
  /** Whether that lock is above the project, whose own one begins with it. */
  isAbove: boolean;
  installation: Installation;
  /** Whether everything is approved, so that a lock is begun even with nothing in it. */
  isWhole: boolean;
}

/** The installed version of a pack or of a server's package, for a change. */
function versionOf({ packs, servers }: Installation, { owner, entry }: Pick<LockPlace, "owner" | "entry">) {
  if (owner === "pack") return { version: packs.get(entry)?.entry.version ?? null };
  const version = servers.get(entry)?.version;
  // A server without a package has no version, not even an unknown one.
  return version === undefined ? {} : { version: typeof version === "string" ? version : null };
}

/** What differs and is meant, with the needs of its packs. */
function planApprovals(lock: LockFile, installation: Installation, targets: Targets): ApprovalChange[] {
  const expected = expectLock(lock, installation);
  const isMeant = (place: LockPlace) =>
    targets.hasPart(place) || (place.kind === "server" && targets.hasServer(place));
  const differing = compareParts(lock, expected);
  const entries = new Map(
    (["pack", "server"] as const).flatMap((owner) => {
      const names = [...Object.keys(lock[`${owner}s`]), ...Object.keys(expected[`${owner}s`])];
      return [...new Set(names)].sort().map((entry) => [`${owner} ${entry}`, { owner, entry }] as const);
    }),
  );
  return [...entries.values()].flatMap((owner): ApprovalChange[] => {
    const name = ownerOf(owner);
    const [before, after] = [entryOf(lock, owner), entryOf(expected, owner)];
    const parts = differing.filter(({ place }) => place.owner === owner.owner && place.entry === owner.entry);
    const isGone =
      before !== undefined && !hasOnlyDenials(before) && (after === undefined || hasOnlyDenials(after));
    if (isGone) return targets.hasEntry(owner) ? [{ action: "prune", name, place: owner }] : [];
    const version = versionOf(installation, owner);
    const hasItem = parts.some(({ place }) => place.kind !== "needs" && isMeant(place));
    const chosen = parts.filter(({ place }) => isMeant(place) || (place.kind === "needs" && hasItem));
    if (chosen.length > 0)
      return chosen.map(({ place, to }) =>
        to === undefined && place.kind !== "needs"
          ? { action: "prune", name: nameOf(place), place, ...version }
          : {
              action: "approve",
              name: nameOf(place),
              place,
              ...version,
              ...(to === undefined ? {} : { value: to }),
            },
      );
    if (!targets.hasEntry(owner) || !isInstalled(installation, owner)) return [];
    const isOutdated =
      before === undefined || (version.version !== undefined && (before.version ?? null) !== version.version);
    return isOutdated ? [{ action: "approve", name, place: owner, ...version }] : [];
  });
}

const isInstalled = (
  { packs, servers }: Installation,
  { owner, entry }: Pick<LockPlace, "owner" | "entry">,
) => (owner === "pack" ? packs : servers).has(entry);

/** What is denied: with names, also what is approved; otherwise what differs. */
function planDenials(lock: LockFile, installation: Installation, targets: Targets): ApprovalChange[] {
  const expected = expectLock(lock, installation);
  const differing = compareParts(lock, expected).filter(({ to }) => to !== undefined);
  const known = [...partsOf(expected), ...partsOf(lock)].map(([place]) => place);
  const places = targets.isEverything
    ? differing.map(({ place }) => place)
    : known.filter((place) => (place.server === undefined ? targets.hasPart(place) : targets.isNamed(place)));
  const unique = new Map(places.map((place) => [keyOf(place), place]));
  return [...unique.values()]
    .filter((place) => place.kind !== "needs" && isInstalled(installation, place) && !isDenied(lock, place))
    .map((place) => ({ action: "deny", name: nameOf(place), place, ...versionOf(installation, place) }));
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
  const opened = await openInstallation(options);
  const { project, lockFile } = opened;
  const read = await findLock(project);
  const targets = new Targets(written, all);
  const isNamedDenial = (place: LockPlace) => lifts && !deny && targets.isNamed(place);
  /** Where what is named is decided anew. */
  const lift = (known: LockFile | undefined) => {
    const lifted = structuredClone(known ?? createLock());
    for (const place of [...denialsOf(lifted)].filter(isNamedDenial)) setDenied(lifted, place, false);
    return lifted;
  };
  const installation = await opened.read(
    (place, launch) =>
      options.static !== true &&
      (deny ? targets.namesInside(place) : targets.hasServer(place)) &&
      isLaunchApproved(read?.lock ?? createLock(), place, launch),
  );
  // A lock above the project is where the project's own one begins.
  const isAbove = read !== undefined && read.folder !== project;
  const found = isAbove ? narrowLock(read.lock, installation, { keepsDenials: true }) : read?.lock;
  const lock = lift(found);
  targets.check(found ?? createLock(), installation);
  const changes = deny
    ? planDenials(lock, installation, targets)
    : planApprovals(lock, installation, targets);
  const isDenialKnown = [...denialsOf(lock)].some((place) => targets.isNamed(place));
  if (deny && written.length > 0 && changes.length === 0 && !isDenialKnown) {
    const reason = "Nothing that is named can be denied";
    const hint = "What a server lists can be denied when it has started: approve its launch first.";
    throw failure("InvalidArguments", { reason, hint });
  }
  const planned = new Set(
    changes.map(({ place }) => (isPart(place) ? `${ownerOf(place)} ${denialOf(place)}` : "")),
  );
  const lifted = [...denialsOf(found ?? createLock())].filter(isNamedDenial);
  const vanished = lifted.filter((place) => !planned.has(`${ownerOf(place)} ${denialOf(place)}`));
  const prunes = vanished.map((place) => {
    return { action: "prune", name: nameOf(place), place, liftsOnly: true } as const;
  });
  const context = { project, lock: found, isAbove, installation, isWhole: all && !deny };
  return new ApprovalPlan(lockFile, [...changes, ...prunes], installation.problems, context);
}
