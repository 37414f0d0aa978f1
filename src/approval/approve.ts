import { diffLocks } from "../lock/difference.ts";
import { isSameJson, ownEntry } from "../lock/json.ts";
import { changeLock, createLock, hasOnlyDenials } from "../lock/lock-file.ts";
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
  owners,
  partsOf,
  removeEntry,
  setDenied,
  setPart,
} from "../lock/parts.ts";
import type { LockedItem, LockedPack, LockedServer, LockFile } from "../lock/types.ts";
import { failure, type Problem } from "../problems/index.ts";
import { isLaunchApproved } from "./diff-lock.ts";
import {
  expectLock,
  type Installation,
  type InstallationOptions,
  narrowLock,
  openInstallation,
} from "./installation.ts";
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

type Owner = Pick<LockPlace, "owner" | "entry">;

/** One change of a lock. */
export interface ApprovalChange {
  /** `prune` removes what is no longer installed. */
  action: "approve" | "deny" | "prune";
  /** `acme/jira/createIssue`, `acme/jira/warehouse/query`, `my-tools`, `my-tools/search`; for needs and versions, the pack. */
  name: string;
  /** A part, or a whole entry: its version, or all of a removed one. */
  place: LockPlace | Owner;
  /** What is recorded, of an approved part. */
  value?: LockedItem;
  /** Only a denial is lifted, of something that is not there. */
  liftsOnly?: boolean;
  /** The installed version; `null` if the package has none, absent for a server without a package. */
  version?: string | null;
}

const isPart = (place: ApprovalChange["place"]): place is LockPlace => "kind" in place;

const entryOf = (lock: LockFile, { owner, entry }: Owner) =>
  ownEntry<LockedPack | LockedServer>(lock[`${owner}s`], entry);

/** The lock after changes; the given one stays as it is. Pure. */
function applyChanges(lock: LockFile | undefined, changes: readonly ApprovalChange[]): LockFile {
  const changed = structuredClone(lock ?? createLock());
  for (const { action, place, value, version, liftsOnly } of changes) {
    if (isPart(place)) {
      if (!liftsOnly) setPart(changed, place, action === "approve" ? value : undefined);
      setDenied(changed, place, action === "deny");
    } else if (action === "prune") removeEntry(changed, place);
    else if (place.owner === "pack" && entryOf(changed, place) === undefined)
      changed.packs[place.entry] = { surface: "" };
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
const isRefused = (lock: LockFile, place: LockPlace): boolean =>
  isDenied(lock, place) ||
  (place.server !== undefined &&
    isDenied(lock, { ...place, kind: "server", name: place.server, server: undefined }));

/** Changes of trailblaze.lock that were not made yet. Strings of packs and servers are not trusted. */
export class ApprovalPlan {
  readonly changes: readonly ApprovalChange[];
  readonly #context: PlanContext;

  /** Not for callers: `planApproval` creates plans. */
  constructor(changes: readonly ApprovalChange[], context: PlanContext) {
    this.changes = changes;
    this.#context = context;
  }

  static contextOf(plan: ApprovalPlan): PlanContext {
    return plan.#context;
  }

  /** Absolute path of the lock, which may not exist yet. */
  get lockFile(): string {
    return this.#context.lockFile;
  }

  /** Of packs that are broken, and of servers that failed to start. */
  get problems(): readonly Problem[] {
    return this.#context.installation.problems;
  }

  /** Labels of the servers that failed to start, so that their lists are unknown. */
  get failedServers(): readonly string[] {
    return this.#context.installation.failedServers;
  }

  /** All that will be written, as a unified difference of the lock; empty if nothing changes. */
  get text(): string {
    const { lock = createLock() } = this.#context;
    const differing = diffLocks(lock, applyChanges(lock, this.changes));
    return differing.map(({ diff }) => diff).join("\n");
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

  /** The same plan with some of its changes. */
  narrow(changes: readonly ApprovalChange[]): ApprovalPlan {
    return new ApprovalPlan(changes, this.#context);
  }

  /** How many items and launches stay without approval after this plan; servers that were not listed count once. */
  countUnapproved(): number {
    const { lock, installation } = this.#context;
    const after = applyChanges(lock, this.changes);
    // That a server has been listed is approved with what it lists.
    return compareParts(after, expectLock(after, installation)).filter(
      ({ from, to }) => to !== undefined && !(from !== undefined && isSameJson({ ...from, lists: {} }, to)),
    ).length;
  }
}

/** The parts of a plan that callers need not know. */
interface PlanContext {
  /** Absolute path of the project's folder. */
  project: string;
  lockFile: string;
  /** The lock when the plan was made, also one above the project; `undefined` if there was none. */
  lock: LockFile | undefined;
  /** Whether that lock is above the project, whose own one begins with it. */
  isAbove: boolean;
  installation: Installation;
  /** Whether everything is approved, so that a lock is begun even with nothing in it. */
  isWhole: boolean;
}

/** The installed version of a pack or of a server's package, for a change; absent for a server without a package. */
function versionOf({ packs, servers }: Installation, { owner, entry }: Owner): { version?: string | null } {
  if (owner === "pack") return { version: packs.get(entry)?.entry.version ?? null };
  const version = servers.get(entry)?.version;
  return version === undefined ? {} : { version: typeof version === "string" ? version : null };
}

const isInstalled = ({ packs, servers }: Installation, { owner, entry }: Owner) =>
  (owner === "pack" ? packs : servers).has(entry);

/** What differs and is meant, with the needs of its packs. */
function planApprovals(lock: LockFile, installation: Installation, targets: Targets): ApprovalChange[] {
  const expected = expectLock(lock, installation);
  const differing = compareParts(lock, expected);
  const places = owners.flatMap((owner) => {
    const names = [...Object.keys(lock[`${owner}s`]), ...Object.keys(expected[`${owner}s`])];
    return [...new Set(names)].sort().map((entry) => ({ owner, entry }));
  });
  return places.flatMap((place): ApprovalChange[] => {
    const name = ownerOf(place);
    const [before, after] = [entryOf(lock, place), entryOf(expected, place)];
    const isMeant = targets.hasEntry(place);
    if (before && !hasOnlyDenials(before) && (after === undefined || hasOnlyDenials(after)))
      return isMeant ? [{ action: "prune", name, place }] : [];
    const version = versionOf(installation, place);
    const parts = differing.filter(
      (part) => part.place.owner === place.owner && part.place.entry === place.entry,
    );
    const meant = new Set(parts.filter((part) => targets.concerns(part.place)));
    const hasItem = [...meant].some((part) => part.place.kind !== "needs");
    const chosen = parts.filter((part) => meant.has(part) || (part.place.kind === "needs" && hasItem));
    if (chosen.length > 0)
      return chosen.map((part) => {
        const change = { name: nameOf(part.place), place: part.place, ...version };
        return part.to === undefined && part.place.kind !== "needs"
          ? { action: "prune", ...change }
          : { action: "approve", ...change, ...(part.to && { value: part.to }) };
      });
    if (!isMeant || !isInstalled(installation, place)) return [];
    const isOutdated =
      before === undefined || (version.version !== undefined && (before.version ?? null) !== version.version);
    return isOutdated ? [{ action: "approve", name, place, ...version }] : [];
  });
}

/** What is denied: with names, also what is approved; otherwise what differs. */
function planDenials(lock: LockFile, installation: Installation, targets: Targets): ApprovalChange[] {
  const expected = expectLock(lock, installation);
  const places = targets.isEverything
    ? compareParts(lock, expected).flatMap(({ place, to }) => (to === undefined ? [] : [place]))
    : [...partsOf(expected), ...partsOf(lock)]
        .map(([place]) => place)
        .filter((place) => (place.server === undefined ? targets.hasPart(place) : targets.isNamed(place)));
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
  const found = await opened.findLock();
  const targets = new Targets(written, all);
  const installation = await opened.read(
    (place, launch) =>
      options.static !== true &&
      (deny ? targets.namesInside(place) : targets.concerns({ ...place, kind: "server" })) &&
      isLaunchApproved(found?.lock ?? createLock(), place, launch),
  );
  // A lock above the project is where the project's own one begins.
  const isAbove = found !== undefined && found.folder !== project;
  const known = isAbove ? narrowLock(found.lock, installation) : found?.lock;
  targets.check(known ?? createLock(), installation);
  // What is named is decided anew.
  const lock = structuredClone(known ?? createLock());
  const isNamed = (place: LockPlace) => targets.isNamed(place);
  const lifted = lifts && !deny ? [...denialsOf(lock)].filter(isNamed) : [];
  for (const place of lifted) setDenied(lock, place, false);
  const changes = deny
    ? planDenials(lock, installation, targets)
    : planApprovals(lock, installation, targets);
  if (deny && written.length > 0 && changes.length === 0 && ![...denialsOf(lock)].some(isNamed)) {
    const reason = "Nothing that is named can be denied";
    const hint = "What a server lists can be denied when it has started: approve its launch first.";
    throw failure("InvalidArguments", { reason, hint });
  }
  const keyOfDenial = (place: LockPlace) => `${ownerOf(place)} ${denialOf(place)}`;
  const planned = new Set(changes.map(({ place }) => (isPart(place) ? keyOfDenial(place) : "")));
  const vanished = lifted.filter((place) => !planned.has(keyOfDenial(place)));
  const prunes = vanished.map((place): ApprovalChange => {
    return { action: "prune", name: nameOf(place), place, liftsOnly: true };
  });
  const context = { project, lockFile, lock: known, isAbove, installation, isWhole: all && !deny };
  return new ApprovalPlan([...changes, ...prunes], context);
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

/** Names of the changes of a plan, without repetitions. */
export function summarizePlan({ changes, lockFile }: ApprovalPlan, changed = false): ApprovalResult {
  const named = (action: ApprovalChange["action"]) => [
    ...new Set(changes.filter((change) => change.action === action).map(({ name }) => name)),
  ];
  return { lockFile, changed, approved: named("approve"), denied: named("deny"), pruned: named("prune") };
}

/**
 * Writes the changes of a plan to trailblaze.lock, and keeps those that other processes made meanwhile. Without changes, a file
 * is created only by a plan of everything.
 *
 * Trust level: inspection; nothing starts. Replaces the file atomically. Throws `TrailblazeError`: `LockMalformed`, and
 * `InvalidArguments` if the file cannot be written.
 */
export async function applyApproval(plan: ApprovalPlan): Promise<ApprovalResult> {
  const { project, lock, isAbove, isWhole } = ApprovalPlan.contextOf(plan);
  const known = lock ?? createLock();
  const writes = plan.changes.length > 0 || (isWhole && lock === undefined);
  const changed =
    writes &&
    (await changeLock(project, (current = isAbove ? known : createLock()) => {
      // What another process has denied since the plan was made stays denied.
      const allowed = plan.changes.filter(
        ({ action, place }) =>
          action === "deny" || !isPart(place) || !isRefused(current, place) || isRefused(known, place),
      );
      return applyChanges(current, allowed);
    }));
  return summarizePlan(plan, changed);
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
    return { result: summarizePlan(plan), plan, isDeclined: true };
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
