import { diffLocks, formatSkill } from "../lock/difference.ts";
import { isSameJson } from "../lock/json.ts";
import { changeLock, createLock } from "../lock/lock-file.ts";
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
  type Owner,
  ownerOf,
  partsOf,
} from "../lock/parts.ts";
import type { LockedItem } from "../lock/types.ts";
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

/** One change of a lock: of an item, a launch, what a server lists, needs, the version of an entry, or a denial. */
export interface ApprovalChange {
  /** `prune` removes what is no longer installed. */
  action: "approve" | "deny" | "prune";
  /** `acme/jira/createIssue`, `acme/jira/warehouse/query`, `my-tools`, `my-tools/search`; for needs and versions, the pack. */
  name: string;
  place: LockPlace;
  /** Whether it is the denial of the part that changes. */
  isDenial: boolean;
  /** What the lock records afterwards; `undefined` for nothing. */
  to: LockedItem | undefined;
}

const isOf = ({ owner, entry }: Owner, other: Owner) => owner === other.owner && entry === other.entry;

/** Whether a change is that of a version, beside others of the same entry. */
const comesWith = ({ place }: ApprovalChange, changes: readonly ApprovalChange[]) =>
  place.kind === "entry" && changes.some((one) => one.place.kind !== "entry" && isOf(one.place, place));

/** Changes of trailblaze.lock that were not made yet. Strings of packs and servers are not trusted. */
export class ApprovalPlan {
  /** What changes. The version of an entry changes with anything else of it. */
  readonly changes: readonly ApprovalChange[];
  readonly #all: readonly ApprovalChange[];
  readonly #context: PlanContext;

  /** Not for callers: `planApproval` creates plans. */
  constructor(all: readonly ApprovalChange[], context: PlanContext) {
    this.changes = all.filter((change) => !comesWith(change, all));
    this.#all = all;
    this.#context = context;
  }

  static contextOf(plan: ApprovalPlan): PlanContext {
    return plan.#context;
  }

  /** The parts of a lock after a plan. */
  static apply(plan: ApprovalPlan, parts: LockParts): LockParts {
    return changeParts(parts, plan.#all);
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

  /**
   * All that will be written, as a unified difference of the lock, and the instructions of the skills that it approves; empty if
   * nothing changes.
   */
  get text(): string {
    const { parts, installation } = this.#context;
    const differing = diffLocks(lockOf(parts), lockOf(ApprovalPlan.apply(this, parts)));
    const skills = this.changes.flatMap(({ place, to, isDenial }) => {
      const skill = isDenial || to === undefined ? undefined : installation.skills.get(keyOf(place));
      return skill === undefined ? [] : formatSkill(place.entry, skill);
    });
    return [...differing.map(({ diff }) => diff), ...skills].join("\n");
  }

  /** The names of servers whose launch it approves before what they list: they can start only after it is applied. */
  get unlistedServers(): string[] {
    const { parts } = this.#context;
    const launches = this.changes.filter(({ action, place, to }) => {
      if (action !== "approve" || to?.launch === undefined) return false;
      return to.lists === null || !isSameJson(to.launch, parts.get(keyOf(place))?.value.launch);
    });
    return [...new Set(launches.map(({ name }) => name))];
  }

  /** The same plan with some of its changes. */
  narrow(changes: readonly ApprovalChange[]): ApprovalPlan {
    const versions = this.#all.filter((change) => comesWith(change, changes) && !changes.includes(change));
    return new ApprovalPlan([...changes, ...versions], this.#context);
  }

  /** How many items and launches stay without approval after this plan; servers that were not listed count once. */
  countUnapproved(): number {
    const { parts, installation } = this.#context;
    const after = ApprovalPlan.apply(this, parts);
    // That a server has been listed is approved with what it lists.
    return compareParts(after, expectLock(after, installation)).filter(
      ({ place, from, to }) =>
        place.kind !== "entry" && to !== undefined && !(from && isSameJson({ ...from, lists: {} }, to)),
    ).length;
  }
}

/** The parts of a plan that callers need not know. */
interface PlanContext {
  /** Absolute path of the project's folder. */
  project: string;
  lockFile: string;
  /** What the lock had when the plan was made, also one above the project, whose own one begins with it. */
  parts: LockParts;
  /** Whether that lock is the project's own, one above it, or none. */
  origin: "own" | "above" | "none";
  installation: Installation;
  /** Whether everything is approved, so that a lock is begun even with nothing in it. */
  isWhole: boolean;
}

/** What differs and is meant. With something of it, the needs of a pack and the version of an entry are approved. */
function planApprovals(lock: LockParts, installation: Installation, targets: Targets): ApprovalChange[] {
  const expected = expectLock(lock, installation, targets.isWritten);
  const isGone = (owner: Owner) => {
    const key = keyOf(entryPlace(owner));
    return lock.has(key) && !expected.has(key);
  };
  const isMeant = (place: LockPlace) => (isGone(place) ? targets.hasEntry(place) : targets.concerns(place));
  const comesAlong = ({ kind }: LockPlace) => kind === "needs" || kind === "entry";
  const differing = compareParts(lock, expected);
  const items = differing.filter(({ place }) => !comesAlong(place) && isMeant(place));
  return differing.flatMap(({ place, isDenial, to }): ApprovalChange[] => {
    const isChosen = isMeant(place) || (comesAlong(place) && items.some((item) => isOf(item.place, place)));
    if (!isChosen) return [];
    if (isGone(place)) return [{ action: "prune", name: ownerOf(place), place, isDenial, to }];
    const action = to === undefined && place.kind !== "needs" ? "prune" : "approve";
    return [{ action, name: nameOf(place), place, isDenial, to }];
  });
}

/** What is denied: with names, also what is approved; otherwise what differs. */
function planDenials(lock: LockParts, installation: Installation, targets: Targets): ApprovalChange[] {
  const expected = expectLock(lock, installation, targets.isWritten);
  const parts = targets.isEverything
    ? compareParts(lock, expected).filter(({ to }) => to !== undefined)
    : [...new Map([...expected, ...lock]).values()].filter(({ place }) =>
        place.server === undefined ? targets.hasPart(place) : targets.isNamed(place),
      );
  return parts.flatMap(({ place, isDenial }): ApprovalChange[] => {
    const isPossible =
      place.kind !== "needs" && place.kind !== "entry" && installation[`${place.owner}s`].has(place.entry);
    if (isDenial || !isPossible || isDenied(lock, place)) return [];
    const change = { action: "deny", name: nameOf(place), place } as const;
    return [
      { ...change, isDenial: true, to: {} },
      { ...change, isDenial: false, to: undefined },
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
  const opened = await openInstallation(options);
  const { project, lockFile } = opened;
  const found = await opened.findLock();
  const approved = partsOf(found?.lock ?? createLock());
  const targets = new Targets(written, all);
  const installation = await opened.read(
    (place, launch) =>
      options.static !== true &&
      (deny ? targets.namesInside(place) : targets.concerns(place)) &&
      isLaunchApproved(approved, place, launch),
    {
      isNamed: targets.isWritten,
      showsSkill: (place, files) =>
        !deny && targets.hasPart(place) && !isSameJson(approved.get(keyOf(place))?.value.files, files),
    },
  );
  const origin = found === undefined ? "none" : found.folder === project ? "own" : "above";
  const parts = origin === "above" ? narrowLock(approved, installation) : approved;
  targets.check(parts, installation);
  // What is named is decided anew.
  const denials = [...parts.values()].filter(({ isDenial, place }) => isDenial && targets.isNamed(place));
  const lifted = lifts && !deny ? denials : [];
  const lock = changeParts(
    parts,
    lifted.map(({ place, isDenial }) => ({ place, isDenial, to: undefined })),
  );
  const changes = deny
    ? planDenials(lock, installation, targets)
    : planApprovals(lock, installation, targets);
  if (deny && written.length > 0 && changes.length === 0 && denials.length === 0) {
    const reason = "Nothing that is named can be denied";
    const hint = "What a server lists can be denied when it has started: approve its launch first.";
    throw failure("InvalidArguments", { reason, hint });
  }
  const planned = new Set(changes.map(({ place }) => keyOf(place)));
  const lifting = lifted.map(({ place, isDenial }): ApprovalChange => {
    const action = planned.has(keyOf(place)) ? "approve" : "prune";
    return { action, name: nameOf(place), place, isDenial, to: undefined };
  });
  const context = { project, lockFile, parts, origin, installation, isWhole: all && !deny } as const;
  return new ApprovalPlan([...changes, ...lifting], context);
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
  const { project, parts, origin, isWhole } = ApprovalPlan.contextOf(plan);
  const writes = plan.changes.length > 0 || (isWhole && origin === "none");
  const changed =
    writes &&
    (await changeLock(project, (lock) => {
      const current = lock === undefined && origin === "above" ? parts : partsOf(lock ?? createLock());
      // What another process has denied since the plan was made stays denied.
      const allowed = plan.changes.filter(
        ({ action, place }) => action === "deny" || !isRefused(current, place) || isRefused(parts, place),
      );
      return lockOf(ApprovalPlan.apply(plan.narrow(allowed), current));
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
