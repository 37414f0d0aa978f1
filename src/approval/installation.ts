import type { TrailblazeConfig } from "../config/generated/config-type.ts";
import type { SessionConfig, UserServer } from "../config/session-config.ts";
import { type FoundPack, isUnasked } from "../discovery/types.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { linesOf, placeOfItem, placesOf } from "../lock/describe.ts";
import type { ShownSkill } from "../lock/difference.ts";
import type { IsDenied, ListedServer, ListVerdict } from "../lock/gate.ts";
import { isSameJson, type LockedItem } from "../lock/json.ts";
import { type FoundLock, findLock, lockFileOf } from "../lock/lock-file.ts";
import { LockGate } from "../lock/lock-gate.ts";
import {
  entryPlace,
  isRefused,
  keyOf,
  type LockPart,
  type LockParts,
  type LockPlace,
  listedPlace,
  lockOf,
  nameOf,
  ownerOf,
  partsOf,
  placeOfLister,
  serverPlace,
  withoutIdle,
} from "../lock/parts.ts";
import type { ListedKind } from "../mcp/client/server-lists.ts";
import { createProblem, failure, type Problem } from "../problems/index.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import type { ServerPlan } from "../runtime/server-launches.ts";
import { prepareSession } from "../session/open-session.ts";
import { Session } from "../session/session.ts";
import type { SessionOptions } from "../session/session-options.ts";
import { describeServerSkill } from "../session/session-skills.ts";
import { skillLimits } from "../skills/skill-entry.ts";
import { instructionsFile } from "../skills/skill-folders.ts";
import type { CheckedPack } from "../validate/finding.ts";

/** Where to read what is installed, and what to report meanwhile. */
export interface InstallationOptions extends Pick<SessionOptions, "onCommand" | "onConnect" | "onWait"> {
  /** The folder whose project is read. Default: the current folder. */
  cwd?: string;
  /** Path of a config file, or the parsed config. Default: trailblaze.config.yaml or .json next to package.json. */
  config?: string | TrailblazeConfig;
  /** Aborts the reading and ends the servers that it started. */
  signal?: AbortSignal;
  /** Starts no server: what servers list is neither compared nor approved. */
  static?: boolean;
}

/** What a command is about: everything, or packs, servers and items by name. */
export class Targets {
  readonly #names: ReadonlySet<string>;
  readonly #written: readonly string[];
  readonly isEverything: boolean;

  constructor(written: readonly string[], isEverything: boolean) {
    this.#written = written;
    this.#names = new Set(written.map((name) => name.replace(/^@/, "")));
    this.isEverything = isEverything;
  }

  isNamed(place: LockPlace): boolean {
    return this.#names.has(nameOf(place));
  }

  /** Whether the part, what lists it, or its entry is named, not only meant with everything. */
  readonly isWritten = (place: LockPlace): boolean => {
    const isOfNamed = place.server !== undefined && this.isNamed(serverPlace(place));
    return isOfNamed || this.isNamed(place) || this.#names.has(ownerOf(place));
  };

  has(place: LockPlace): boolean {
    return this.isEverything || this.isWritten(place);
  }

  /** The same, or for a server something that it may list. */
  concerns(place: LockPlace): boolean {
    return this.has(place) || (place.kind === "server" && this.namesInside(place));
  }

  namesInside(place: LockPlace): boolean {
    return [...this.#names].some((name) => name.startsWith(`${nameOf(place)}/`));
  }

  /**
   * Throws `TrailblazeError` for a name that neither the lock nor the installation has: `PackNotInstalled`, or
   * `ToolNotFound` inside a pack or a server, with similar names.
   */
  check({ lock, installed, places }: Installation): void {
    const all = [...[...lock.values(), ...installed.values()].map(({ place }) => place), ...places.values()];
    const names = new Set(all.flatMap((place) => [ownerOf(place), nameOf(place)]));
    // Their tools are known only after they have started.
    const unlisted = [...installed].flatMap(([key, { place, value }]) =>
      value?.lists === null && lock.get(key)?.value?.lists == null ? [`${nameOf(place)}/`] : [],
    );
    for (const written of this.#written) {
      const name = written.replace(/^@/, "");
      if (names.has(name) || unlisted.some((prefix) => name.startsWith(prefix))) continue;
      const nearest = findNearestNames(name, [...names]);
      if ([...names].some((owner) => name.startsWith(`${owner}/`)))
        throw failure("ToolNotFound", { name: written, nearest, isAnyKind: true });
      throw failure("PackNotInstalled", { name: written, nearest, isWord: true }, { pack: written });
    }
  }
}

const unused = { name: "not used", state: "new", differences: [], entry: "not used" } as const;

/** How an installation is read. */
interface ReadingRules {
  targets: Targets;
  mayStart(place: LockPlace): boolean;
  /** The folder in which the project's own packs are free. */
  folder: string;
  /** Whether the lock is about nothing else, so that what is not there is gone. */
  isWhole: boolean;
}

/**
 * What a session of a project would use, as the lock would record it, beside that lock. As the gate of a session, it approves
 * nothing, and lets only chosen servers start, to take their lists.
 */
export class Installation extends LockGate {
  /** The project's lock, or the nearest one above it up to the root of its workspace. */
  readonly found: FoundLock | undefined;
  readonly project: string;
  /** The places of packs and servers of the config, and of what packs declare, used or not. */
  readonly places = new Map<string, LockPlace>();
  /** What models would read of skills, by the keys of their places: of servers, of those that are to be shown. */
  readonly skills = new Map<string, ShownSkill>();
  /** Of discovery, of the packs, and of servers. */
  problems: readonly Problem[] = [];
  failedServers: string[] = [];
  readonly #rules: ReadingRules;
  readonly #refusal = createProblem("NotApproved", unused);

  constructor(found: FoundLock | undefined, config: SessionConfig, rules: ReadingRules) {
    super({ parts: found?.parts ?? new Map(), folder: rules.folder }, config, false);
    this.found = found;
    this.project = config.project;
    this.#rules = rules;
  }

  /** The lock; of one that is about more, what is about this installation, and what it denies. */
  get lock(): LockParts {
    if (this.#rules.isWhole) return this.locked;
    const isAboutThis = ({ place, value }: LockPart) =>
      value === null || this.places.has(keyOf(entryPlace(place)));
    return new Map([...this.locked].filter(([, part]) => isAboutThis(part)));
  }

  override takesUnasked(): boolean {
    return true;
  }

  /** Whether a recorded server starts: only as the lock approves it. */
  #starts(place: LockPlace): boolean {
    const [launch, approved] = [this.installed, this.locked].map(
      (parts) => parts.get(keyOf(place))?.value?.launch,
    );
    return launch !== undefined && isSameJson(launch, approved) && this.#rules.mayStart(place);
  }

  override checkServer(server: UserServer, now?: LockedItem) {
    super.checkServer(server, now);
    const starts = this.#starts({ owner: "server", entry: server.name, kind: "server", name: server.name });
    return { refusal: starts ? undefined : this.#refusal, problems: [] };
  }

  override checkPack(checked: CheckedPack): CheckedPack {
    super.checkPack(checked);
    const { inspected, problems } = checked;
    const skillPlace = { owner: "pack", entry: inspected.pack.name, kind: "skill" } as const;
    const isNamed = (name: string) => this.#rules.targets.isWritten({ ...skillPlace, name });
    const told = problems.filter(({ item = "" }) => !isUnasked(inspected) || isNamed(item));
    const unusable = new Map<InspectedItem, Problem>();
    for (const item of inspected.items) {
      const place = placeOfItem(item);
      if (item.skill !== undefined) this.skills.set(keyOf(place), item.skill);
      const refusal = checked.unusable.get(item) ?? (this.#starts(place) ? undefined : this.#refusal);
      if (refusal !== undefined) unusable.set(item, refusal);
    }
    return { inspected, problems: told, unusable };
  }

  override finish({ packs }: { packs: readonly FoundPack[] }): Problem[] {
    const ofPacks = packs.flatMap(({ pack }) => (pack.shadowed ? [] : placesOf(pack)));
    const ofServers = this.config.labels.flatMap((name): LockPlace[] => {
      const owner = { owner: "server", entry: name } as const;
      return [entryPlace(owner), { ...owner, kind: "server", name }];
    });
    for (const place of [...ofPacks, ...ofServers]) this.places.set(keyOf(place), place);
    return [];
  }

  override findApproved(): undefined {}

  override checkList(plan: ServerPlan, listed: ListedServer, isExcluded: IsDenied): ListVerdict {
    const server = this.installed.get(keyOf(placeOfLister(plan)));
    const instructions = linesOf(listed.instructions);
    if (server !== undefined)
      server.value = { ...server.value, ...(instructions && { instructions }), lists: {} };
    super.checkList(plan, listed, isExcluded);
    // What is not registered has no names that collide. Skills are read, to show them.
    const refused = listed.entries
      .filter(({ kind }) => kind !== "skill")
      .map((one) => [one, this.#refusal] as const);
    return { refused: new Map(refused), problems: [], vanished: [] };
  }

  /** Whether a part of a lock is about what is no longer there. What sessions do not use is there. */
  #isGone(place: LockPlace): boolean {
    const { installed, places } = this;
    const { owner, entry, kind, name, server } = place;
    const entryKey = keyOf(entryPlace(place));
    if (!places.has(entryKey)) return true;
    if (kind === "needs") return installed.has(entryKey) && !installed.has(keyOf(place));
    if (server === undefined) return !places.has(keyOf(place));
    const lister = keyOf(serverPlace(place));
    const statement = installed.get(lister)?.value;
    if (!statement) return !places.has(lister);
    const pack = owner === "pack" ? qualifyPackageName(entry) : undefined;
    return statement.lists !== null && !this.isListedFree(kind as ListedKind, entry, name, pack);
  }

  /**
   * A lock with everything approved that a session would use, and without what is gone. Of packs without the field, it has only
   * what `lock` has and what is `named`.
   */
  expect(lock: LockParts, isNamed: (place: LockPlace) => boolean = () => false): LockParts {
    const expected = new Map(
      [...lock].filter(([, { place, value }]) => value === null || !this.#isGone(place)),
    );
    // In the order of the file.
    for (const [key, part] of partsOf(lockOf(this.installed))) {
      const { owner, entry, kind } = part.place;
      const isUnasked = owner === "pack" && kind === "skill" && this.unasked.has(entry);
      const isPassedOver = isUnasked && !lock.has(key) && !isNamed(part.place);
      if (!isPassedOver && !isRefused(lock, part.place))
        expected.set(key, complete(part, lock.get(key)?.value));
    }
    return withoutIdle(expected, this.unasked);
  }
}

/** What a server would say that has not started is what it said before. */
function complete({ place, value }: LockPart, before: LockedItem | null = {}): LockPart {
  if (value?.lists !== null) return { place, value };
  const { lists = null, instructions } = before ?? {};
  return { place, value: { ...value, ...(instructions && { instructions }), lists } };
}

/** Adds SKILL.md of the recorded skills that servers list, and that are to be shown. */
async function readServerSkills(
  session: Session,
  { installed, locked, skills }: Installation,
  targets: Targets,
): Promise<void> {
  const frame = Session.frameOf(session);
  const state = frame.state();
  let left: number = skillLimits.bytes;
  for (const from of state.resourceServers)
    for (const { kind, id, entry } of from.offer?.entries ?? []) {
      if (kind !== "skill") continue;
      const place = listedPlace(placeOfLister(from.plan), kind, id);
      const key = keyOf(place);
      const value = installed.get(key)?.value;
      if (!value || !targets.has(place) || isSameJson(locked.get(key)?.value, value)) continue;
      const skill = describeServerSkill(from, entry);
      const { name, files } = skill.shown;
      left -= files.find(({ path }) => path === instructionsFile)?.size ?? 0;
      const read = () =>
        frame.calls.readSkillFile(skill, instructionsFile, { scope: frame.calls.own, state });
      const text = left < 0 ? undefined : await read().catch(() => undefined);
      const missing = "Not shown: it cannot be read, is not what the server lists, or is too large.";
      skills.set(key, { name, files, text: typeof text === "string" ? text : missing });
    }
}

/**
 * Reads the lock of a project and what is installed, with the lists of the servers that are meant and whose launch the lock
 * approves; these are ended before it resolves. No code of packs runs except for them. Throws `TrailblazeError`
 * `ProjectNotFound`, `InvalidConfig`, `LockMissing` to compare with no lock, `LockMalformed`, or that of an unknown target.
 */
export async function readInstallation(
  targets: Targets,
  options: InstallationOptions,
  purpose: "approve" | "deny" | "compare",
): Promise<Installation> {
  const openGate = async () => installation;
  const { config, open } = await prepareSession(options, { mode: "check", openGate });
  const { project } = config;
  const found = await findLock(project);
  const file = lockFileOf(project);
  if (found === undefined && purpose === "compare") throw failure("LockMissing", { file }, { file });
  const installation = new Installation(found, config, {
    targets,
    mayStart: (place) =>
      !options.static && (purpose === "deny" ? targets.namesInside(place) : targets.concerns(place)),
    folder: (purpose === "compare" && found?.folder) || project,
    isWhole: found === undefined || found.folder === project,
  });
  const session = await open();
  try {
    if (purpose === "approve") await readServerSkills(session, installation, targets);
    targets.check(installation);
    installation.problems = [...session.problems, ...installation.unrecordable];
    installation.failedServers = session.skipped.flatMap(({ reason, name }) =>
      reason === "ServerFailed" ? name : [],
    );
    return installation;
  } finally {
    await session.close();
  }
}
