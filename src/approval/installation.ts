import type { TrailblazeConfig } from "../config/generated/config-type.ts";
import type { SessionConfig, UserServer } from "../config/session-config.ts";
import { type FoundPack, isUnasked } from "../discovery/types.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { linesOf, lockedName, placesOf } from "../lock/describe.ts";
import type { ShownSkill } from "../lock/difference.ts";
import type { IsDenied, ListedServer, ListVerdict } from "../lock/gate.ts";
import { isSameJson, type LockedItem } from "../lock/json.ts";
import { type FoundLock, findLock, lockFileOf } from "../lock/lock-file.ts";
import { LockGate } from "../lock/lock-gate.ts";
import type { LockScope } from "../lock/lock-scope.ts";
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
import { findNearestNames } from "../qualified-names/index.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import type { ServerPlan } from "../runtime/server-launches.ts";
import { prepareSession } from "../session/open-session.ts";
import { Session } from "../session/session.ts";
import type { SessionOptions } from "../session/session-options.ts";
import { describeServerSkill } from "../session/session-skills.ts";
import { skillLimits } from "../skills/skill-entry.ts";
import { instructionsFile } from "../skills/skill-folders.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";

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

/** What a session of a project would use, what is there besides, and the lock. */
export interface LockedProject {
  /** What a session would use, as the lock records it. What a server lists is there if it has started. */
  installed: LockParts;
  /** The places of packs and servers of the config, and of what packs declare, used or not. */
  places: ReadonlyMap<string, LockPlace>;
  /** npm names of packs of which only what is approved by name is recorded. */
  unasked: ReadonlySet<string>;
  scope: LockScope;
  /** What models would read of skills, by the keys of their places: of servers, of those that are to be shown. */
  skills: ReadonlyMap<string, ShownSkill>;
  project: string;
  /** The project's lock, or the nearest one above it up to the root of its workspace. */
  found: FoundLock | undefined;
  /** What that lock has; of one above the project, what is about the project. */
  lock: LockParts;
  /** Of discovery, of the packs, and of servers. */
  problems: readonly Problem[];
  failedServers: string[];
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
    const owner = ownerOf(place);
    if (this.isNamed(place) || this.#names.has(owner)) return true;
    // A server of the config that has a tool with its own name is not meant with that tool.
    return (
      place.owner === "pack" && place.server !== undefined && this.#names.has(`${owner}/${place.server}`)
    );
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
  check({ lock, installed, places }: Pick<LockedProject, "lock" | "installed" | "places">): void {
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
        throw failure("ToolNotFound", { name: written, otherKind: undefined, nearest, isAnyKind: true });
      throw failure("PackNotInstalled", { name: written, nearest, isWord: true }, { pack: written });
    }
  }
}

const unused = { name: "not used", state: "new", differences: [], entry: "not used" } as const;

/** Approves nothing: records what a session would use, and lets only chosen servers start, to take their lists. */
export class Recorder extends LockGate {
  readonly skills = new Map<string, ShownSkill>();
  readonly places = new Map<string, LockPlace>();
  readonly #targets: Targets;
  readonly #mayStart: (place: LockPlace) => boolean;
  readonly #refusal = createProblem("NotApproved", unused);

  constructor(
    locked: Pick<FoundLock, "parts" | "folder">,
    config: SessionConfig,
    targets: Targets,
    mayStart: (place: LockPlace) => boolean,
  ) {
    super(locked, config, false);
    this.#targets = targets;
    this.#mayStart = mayStart;
  }

  /** What it has recorded, with the lock, or the `isPart` of it that is about that. */
  result(found: FoundLock | undefined, isPart: boolean): LockedProject {
    const { locked, places, unasked, scope, skills } = this;
    return {
      project: this.config.project,
      found,
      lock: isPart ? narrowLock(locked, places) : locked,
      // In the order of the file.
      installed: partsOf(lockOf(this.installed)),
      places,
      unasked,
      scope,
      skills,
      problems: this.unrecordable,
      failedServers: [],
    };
  }

  override takesUnasked(): boolean {
    return true;
  }

  /** Whether a recorded server starts: only as the lock approves it. */
  #starts(place: LockPlace): boolean {
    const [launch, approved] = [this.installed, this.locked].map(
      (parts) => parts.get(keyOf(place))?.value?.launch,
    );
    return launch !== undefined && isSameJson(launch, approved) && this.#mayStart(place);
  }

  override checkServer(server: UserServer, now?: LockedItem) {
    super.checkServer(server, now);
    const starts = this.#starts({ owner: "server", entry: server.name, kind: "server", name: server.name });
    return { refusal: starts ? undefined : this.#refusal, problems: [] };
  }

  override checkPack(checked: CheckedPack): CheckedPack {
    super.checkPack(checked);
    const { inspected, problems } = checked;
    const placeOf = (kind: LockPlace["kind"], name: string) =>
      ({ owner: "pack", entry: inspected.pack.name, kind, name }) as const;
    const isNamed = (name: string) => this.#targets.isWritten(placeOf("skill", name));
    const told = problems.filter(({ item = "" }) => !isUnasked(inspected) || isNamed(item));
    const unusable = new Map<InspectedItem, Problem>();
    for (const item of inspected.items) {
      const place = placeOf(item.declaration.kind, lockedName(item));
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
}

/** Adds SKILL.md of the recorded skills that servers list and that are to be shown. */
async function readServerSkills(
  session: Session,
  { installed, skills }: Recorder,
  isShown: (skill: LockPart) => boolean,
): Promise<void> {
  const frame = Session.frameOf(session);
  const state = frame.state();
  let left: number = skillLimits.bytes;
  for (const from of state.resourceServers)
    for (const { kind, id, entry } of from.offer?.entries ?? []) {
      const part = installed.get(keyOf(listedPlace(placeOfLister(from.plan), kind, id)));
      if (kind !== "skill" || part === undefined || !isShown(part)) continue;
      const skill = describeServerSkill(from, entry);
      const { name, files } = skill.shown;
      left -= files.find(({ path }) => path === instructionsFile)?.size ?? 0;
      const read = () =>
        frame.calls.readSkillFile(skill, instructionsFile, { scope: frame.calls.own, state });
      const text = left < 0 ? undefined : await read().catch(() => undefined);
      const missing = "Not shown: it cannot be read, is not what the server lists, or is too large.";
      skills.set(keyOf(part.place), { name, files, text: typeof text === "string" ? text : missing });
    }
}

/**
 * Reads the lock of a project and what is installed, with the lists of the servers that are meant and whose launch the lock
 * approves; these are ended before it resolves. No code of packs runs except for them. Throws `TrailblazeError`
 * `ProjectNotFound`, `InvalidConfig`, `LockMissing` to compare with no lock, `LockMalformed`, or that of an unknown target.
 */
export async function readLockedProject(
  targets: Targets,
  options: InstallationOptions,
  purpose: "approve" | "deny" | "compare",
): Promise<LockedProject> {
  const openGate = async () => recorder;
  const { config, open } = await prepareSession(options, { userServers: "reported", openGate });
  const { project } = config;
  const found = await findLock(project);
  const file = lockFileOf(project);
  if (found === undefined && purpose === "compare") throw failure("LockMissing", { file }, { file });
  const folder = (purpose === "compare" && found?.folder) || project;
  const mayStart = (place: LockPlace) =>
    !options.static && (purpose === "deny" ? targets.namesInside(place) : targets.concerns(place));
  const recorder = new Recorder({ parts: found?.parts ?? new Map(), folder }, config, targets, mayStart);
  const session = await open();
  try {
    const isShown = ({ place, value }: LockPart) =>
      targets.has(place) && !isSameJson(recorder.locked.get(keyOf(place))?.value, value);
    if (purpose === "approve") await readServerSkills(session, recorder, isShown);
    const recorded = recorder.result(found, found !== undefined && found.folder !== project);
    targets.check(recorded);
    const failedServers = session.skipped.flatMap(({ reason, name }) =>
      reason === "ServerFailed" ? name : [],
    );
    return { ...recorded, problems: [...session.problems, ...recorded.problems], failedServers };
  } finally {
    await session.close();
  }
}

/** What a lock above a project says about what the project's sessions use, and what it denies. */
const narrowLock = (lock: LockParts, places: LockedProject["places"]): LockParts =>
  new Map([...lock].filter(([, { place, value }]) => value === null || places.has(keyOf(entryPlace(place)))));

/** What a server would say that has not started is what it said before. */
function complete({ place, value }: LockPart, before: LockedItem | null = {}): LockPart {
  if (value?.lists !== null) return { place, value };
  const { lists = null, instructions } = before ?? {};
  return { place, value: { ...value, ...(instructions && { instructions }), lists } };
}

/**
 * The lock with everything approved that a session would use, and without what is gone. Of packs without the field, it has
 * only what `lock` has and what is `named`. Pure.
 */
export function expectLock(
  lock: LockParts,
  { installed, places, unasked, scope }: LockedProject,
  isNamed: (place: LockPlace) => boolean = () => false,
): LockParts {
  const isPassedOver = ({ place }: LockPart): boolean => {
    const { owner, entry, kind } = place;
    if (owner === "server" || !unasked.has(entry)) return false;
    if (kind !== "entry") return !lock.has(keyOf(place)) && !isNamed(place);
    return ![...installed.values()].some(
      (part) => part.place.entry === entry && part.place.kind === "skill" && !isPassedOver(part),
    );
  };
  /** Whether the lock stays as it is about a part that sessions do not use. */
  const isKept = (key: string, { place, value }: LockPart): boolean => {
    const { owner, entry, kind, name, server } = place;
    if (value === null || !places.has(keyOf(entryPlace(place)))) return value === null;
    if (kind === "needs" || kind === "entry") return !installed.has(keyOf(entryPlace(place)));
    if (server === undefined) return places.has(key);
    const lister = keyOf(serverPlace(place));
    const statement = installed.get(lister)?.value;
    if (statement == null) return places.has(lister);
    const pack = owner === "pack" ? qualifyPackageName(entry) : undefined;
    return statement.lists === null || scope.isListedFree(kind as ListedKind, entry, name, pack);
  };
  const expected = new Map<string, LockPart>();
  for (const key of new Set([...lock.keys(), ...installed.keys()])) {
    const [before, after] = [lock.get(key), installed.get(key)];
    if (after !== undefined && !isRefused(lock, after.place) && !isPassedOver(after))
      expected.set(key, complete(after, before?.value));
    else if (before !== undefined && isKept(key, before)) expected.set(key, before);
  }
  return withoutIdle(expected);
}
