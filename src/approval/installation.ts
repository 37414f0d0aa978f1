import type { TrailblazeConfig } from "../config/generated/config-type.ts";
import type { SessionConfig, UserServer } from "../config/session-config.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import { isUnasked } from "../discovery/types.ts";
import type { InspectedItem } from "../inspection/types.ts";
import {
  describeInstalledServer,
  describeListed,
  describePack,
  linesOf,
  lockedName,
  placesOf,
} from "../lock/describe.ts";
import type { ShownSkill } from "../lock/difference.ts";
import type { Gate, IsDenied, ListedServer, ListVerdict } from "../lock/gate.ts";
import { LockScope } from "../lock/lock-scope.ts";
import {
  entryPlace,
  isRefused,
  keyOf,
  type LockPart,
  type LockParts,
  type LockPlace,
  lockOf,
  type Owner,
  partsOf,
  partsOfEntry,
  serverPlace,
  withoutIdle,
} from "../lock/parts.ts";
import type { LockedItem } from "../lock/types.ts";
import type { ListedKind } from "../mcp/client/server-lists.ts";
import { createProblem, type Problem, type ProblemPlace } from "../problems/index.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import { placeOfServer, type ServerPlan } from "../runtime/server-launches.ts";
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
}

/** What a session of the project would use, and what is there besides. */
export interface Installation {
  /** What a session would use, as the lock records it. What a server lists is there if it has started. */
  parts: LockParts;
  /** The places of packs and servers of the config, and of what packs declare, used or not. */
  places: ReadonlyMap<string, LockPlace>;
  /** npm names of packs of which only what is approved by name is recorded. */
  unasked: ReadonlySet<string>;
  scope: LockScope;
  /** What models would read of skills, by the keys of their places: of servers, of those that are to be shown. */
  skills: ReadonlyMap<string, ShownSkill>;
  /** Of discovery, of the packs, and of servers that failed. */
  problems: Problem[];
  /** Labels of the servers that failed. */
  failedServers: string[];
}

/** Whether a server may start, so that it says what it lists. */
export type MayStart = (place: LockPlace, launch: LockedItem) => boolean;

/** How an installation is read. */
export interface ReadingOptions {
  /** That of the lock; default: the project's. */
  folder?: string | undefined;
  /** Whether a part is named, so that its problems are of interest. */
  isNamed?(place: LockPlace): boolean;
  /** Whether the skill of a server is to be shown. */
  showsSkill?(skill: LockPart): boolean;
}

const unused = { name: "not used", state: "new", differences: [], entry: "not used" } as const;

/** Approves nothing: records what a session would use, and lets only chosen servers start, to take their lists. */
class Recorder implements Gate {
  readonly isFrozen = false;
  readonly takesUnasked = () => true;
  readonly scope: LockScope;
  readonly parts = new Map<string, LockPart>();
  readonly unasked = new Set<string>();
  readonly skills = new Map<string, ShownSkill>();
  readonly problems: Problem[] = [];
  found: FoundPacks | undefined;
  readonly #project: string;
  readonly #mayStart: MayStart;
  readonly #options: ReadingOptions;
  readonly #refusal = createProblem("NotApproved", unused);

  constructor(config: SessionConfig, mayStart: MayStart, options: ReadingOptions) {
    this.scope = new LockScope(config, options.folder);
    this.#options = options;
    this.#project = config.project;
    this.#mayStart = mayStart;
  }

  #noteUnrecordable(name: string, entry: string, place: ProblemPlace): void {
    const args = { name, state: "unrecordable", differences: [], entry } as const;
    this.problems.push(createProblem("NotApproved", args, place));
  }

  #add(parts: Iterable<LockPart>): void {
    for (const part of parts) this.parts.set(keyOf(part.place), part);
  }

  /** Whether a recorded server may start. */
  #starts(place: LockPlace): boolean {
    const launch = this.parts.get(keyOf(place))?.value.launch as LockedItem | undefined;
    return launch !== undefined && this.#mayStart(place, launch);
  }

  checkServer(server: UserServer): { refusal?: Problem; problems: Problem[] } {
    const owner = { owner: "server", entry: server.name } as const;
    if (!this.scope.isServerFree(server.name))
      this.#add(partsOfEntry(owner, describeInstalledServer(this.#project, server)));
    const starts = this.#starts({ ...owner, kind: "server", name: server.name });
    return { ...(!starts && { refusal: this.#refusal }), problems: [] };
  }

  checkPack({ inspected, problems, unusable: broken }: CheckedPack): CheckedPack {
    const { pack, items } = inspected;
    const { qualifiedName } = pack;
    const owner = { owner: "pack", entry: pack.name } as const;
    const isNamed = (name: string) => this.#options.isNamed?.({ ...owner, kind: "skill", name });
    this.problems.push(...problems.filter(({ item = "" }) => !isUnasked(inspected) || isNamed(item)));
    if (isUnasked(inspected)) this.unasked.add(pack.name);
    const isLocked = ({ declaration: { kind, name }, definition }: InspectedItem) =>
      this.scope.hasPack(pack) && !this.scope.isItemFree(qualifiedName, kind, name, definition);
    if (this.scope.hasPack(pack)) this.#add(describePack(inspected, isLocked));
    const unusable = new Map<InspectedItem, Problem>();
    for (const item of items) {
      const { kind, name } = item.declaration;
      const place = { ...owner, kind, name: lockedName(item) };
      if (item.skill !== undefined) this.skills.set(keyOf(place), item.skill);
      else if (
        item.definition !== null &&
        item.shape !== undefined &&
        isLocked(item) &&
        !this.parts.has(keyOf(place))
      )
        this.#noteUnrecordable(item.qualifiedName, qualifiedName, { pack: pack.name, kind, item: name });
      const refusal = broken.get(item) ?? (this.#starts(place) ? undefined : this.#refusal);
      if (refusal !== undefined) unusable.set(item, refusal);
    }
    return { inspected, problems, unusable };
  }

  finish(found: FoundPacks): Problem[] {
    this.found = found;
    this.problems.unshift(...found.problems, ...found.packs.flatMap(({ pack }) => pack.problems));
    return [];
  }

  findApproved(): undefined {}

  checkList(plan: ServerPlan, { entries, instructions }: ListedServer, isExcluded: IsDenied): ListVerdict {
    const { label, pack } = plan;
    const lister = listerOf(plan);
    const said = linesOf(instructions);
    const server = this.parts.get(keyOf(serverPlace(lister)));
    if (server !== undefined)
      server.value = { ...server.value, ...(said && { instructions: said }), lists: {} };
    for (const one of entries) {
      const { kind, id } = one;
      if (isExcluded(one) || this.scope.isListedFree(kind, label, id, pack)) continue;
      const value = describeListed(one);
      if (value === undefined) this.#noteUnrecordable(`${label}/${id}`, pack ?? label, placeOfServer(plan));
      else if (server !== undefined) this.#add([{ place: { ...lister, kind, name: id }, value }]);
    }
    // What is not registered has no names that collide. Skills are read, to show them.
    const refused = entries
      .filter(({ kind }) => kind !== "skill")
      .map((one) => [one, this.#refusal] as const);
    return { refused: new Map(refused), problems: [], vanished: [] };
  }
}

/** Who lists what a server lists. */
function listerOf({ label, source: { pack, item } }: ServerPlan) {
  const owner = pack === undefined ? "server" : "pack";
  return { owner, entry: pack ?? label, server: item ?? label, kind: "server", name: "" } as const;
}

/** Adds SKILL.md of the recorded skills that servers list and that are to be shown. */
async function readServerSkills(
  session: Session,
  { parts, skills }: Recorder,
  shows: NonNullable<ReadingOptions["showsSkill"]>,
): Promise<void> {
  const frame = Session.frameOf(session);
  const state = frame.state();
  let left: number = skillLimits.bytes;
  for (const from of state.resourceServers)
    for (const { kind, id, entry } of from.offer?.entries ?? []) {
      const part = parts.get(keyOf({ ...listerOf(from.plan), kind, name: id }));
      if (kind !== "skill" || part === undefined || !shows(part)) continue;
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
 * Opens a project, to read what is installed in it: takes the lists of the servers that may start, which are ended before it
 * resolves. No code of packs runs except for them. Throws `TrailblazeError` `ProjectNotFound` or `InvalidConfig`.
 */
export async function openInstallation({
  cwd,
  config: given,
  signal,
  onCommand,
  onConnect,
  onWait,
}: InstallationOptions) {
  let recorder: Recorder | undefined;
  const prepared = await prepareSession(
    { cwd, config: given, signal, onCommand, onConnect, onWait },
    { userServers: "reported", openGate: async () => recorder },
  );
  const { config } = prepared;
  const { project, subprocessServers, unusedServers } = config;

  async function read(mayStart: MayStart, options: ReadingOptions = {}): Promise<Installation> {
    const recording = new Recorder(config, mayStart, options);
    recorder = recording;
    const session = await prepared.open();
    try {
      const { found, parts, unasked, scope, skills, problems } = recording;
      if (options.showsSkill) await readServerSkills(session, recording, options.showsSkill);
      const failed = session.skipped.filter(({ reason }) => reason === "ServerFailed");
      const messages = new Set(failed.map(({ message }) => message));
      const ofFailed = session.problems.filter(({ message }) => messages.has(message));
      const places = [
        ...(found?.packs ?? []).flatMap(({ pack }) => (pack.shadowed ? [] : placesOf(pack))),
        ...[...subprocessServers, ...unusedServers].flatMap(({ name }): LockPlace[] => {
          const owner = { owner: "server", entry: name } as const;
          return [entryPlace(owner), { ...owner, kind: "server", name }];
        }),
      ];
      return {
        // In the order of the file.
        parts: partsOf(lockOf(parts)),
        places: new Map(places.map((place) => [keyOf(place), place])),
        unasked,
        scope,
        skills,
        problems: [...config.problems, ...problems, ...ofFailed],
        failedServers: failed.map(({ name }) => name),
      };
    } finally {
      await session.close();
    }
  }
  return { project, read };
}

type KnownParts = Pick<Installation, "parts" | "places" | "unasked" | "scope">;

/** Whether sessions use an entry, or leave it out although it is there. */
const isThere = ({ places }: KnownParts, owner: Owner) => places.has(keyOf(entryPlace(owner)));

/** What a lock above a project says about what the project's sessions use, and what it denies. */
export const narrowLock = (lock: LockParts, installation: KnownParts): LockParts =>
  new Map([...lock].filter(([, { place }]) => place.isDenial || isThere(installation, place)));

/** What a server would say that has not started is what it said before. */
function complete({ place, value }: LockPart, { lists, instructions }: LockedItem = {}): LockPart {
  if (value.lists !== null) return { place, value };
  return { place, value: { ...value, ...(instructions && { instructions }), lists: lists ?? null } };
}

/**
 * The lock with everything approved that a session would use, and without what is gone. Of packs without the field, it has
 * only what `lock` has and what is `named`. Pure.
 */
export function expectLock(
  lock: LockParts,
  installation: KnownParts,
  isNamed: (place: LockPlace) => boolean = () => false,
): LockParts {
  const { parts: now, places, unasked, scope } = installation;
  const isPassedOver = ({ place }: LockPart): boolean => {
    const { owner, entry, kind } = place;
    if (owner === "server" || !unasked.has(entry)) return false;
    if (kind !== "entry") return !lock.has(keyOf(place)) && !isNamed(place);
    return ![...now.values()].some(
      (part) => part.place.entry === entry && part.place.kind === "skill" && !isPassedOver(part),
    );
  };
  /** Whether the lock stays as it is about a part that sessions do not use. */
  const isKept = (key: string, { place }: LockPart): boolean => {
    const { owner, entry, kind, name, server } = place;
    if (place.isDenial || !isThere(installation, place)) return place.isDenial === true;
    if (isRefused(lock, place)) return true;
    if (kind === "needs" || kind === "entry") return !now.has(keyOf(entryPlace(place)));
    if (server === undefined) return places.has(key);
    const lister = keyOf(serverPlace(place));
    const statement = now.get(lister)?.value;
    if (statement === undefined) return places.has(lister);
    const pack = owner === "pack" ? qualifyPackageName(entry) : undefined;
    return statement.lists === null || scope.isListedFree(kind as ListedKind, entry, name, pack);
  };
  const expected = new Map<string, LockPart>();
  for (const key of new Set([...lock.keys(), ...now.keys()])) {
    const [before, after] = [lock.get(key), now.get(key)];
    if (after !== undefined && !isRefused(lock, after.place) && !isPassedOver(after))
      expected.set(key, complete(after, before?.value));
    else if (before !== undefined && isKept(key, before)) expected.set(key, before);
  }
  return withoutIdle(expected);
}
