import type { TrailblazeConfig } from "../config/generated/config-type.ts";
import type { SessionConfig, UserServer } from "../config/session-config.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import { isUnasked } from "../discovery/types.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { keyOfKind, kinds } from "../kinds.ts";
import {
  describeInstalledServer,
  describeListed,
  describePack,
  linesOf,
  lockedName,
  type RecordedPack,
} from "../lock/describe.ts";
import type { ShownSkill } from "../lock/difference.ts";
import type { Gate, IsDenied, ListedServer, ListVerdict } from "../lock/gate.ts";
import { ownEntry } from "../lock/json.ts";
import { type FoundLock, findLock, lockFileOf } from "../lock/lock-file.ts";
import { LockScope } from "../lock/lock-scope.ts";
import {
  changeParts,
  entryPlace,
  isRefused,
  keyOf,
  type LockPart,
  type LockParts,
  type LockPlace,
  type Owner,
  partsOf,
  recordListed,
  serverPlace,
  withoutIdle,
} from "../lock/parts.ts";
import type { LockedItem, LockedServer } from "../lock/types.ts";
import type { ListedKind } from "../mcp/client/server-lists.ts";
import { createProblem, type Problem, type ProblemPlace } from "../problems/index.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import { placeOfServer, type ServerPlan } from "../runtime/server-launches.ts";
import { prepareSession } from "../session/open-session.ts";
import { Session } from "../session/session.ts";
import type { SessionOptions } from "../session/session-options.ts";
import { describeServerSkill } from "../session/session-skills.ts";
import { digestsOf, skillLimits } from "../skills/skill-entry.ts";
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

/** What a session of the project would use, as the lock records it. */
export interface Installation {
  /** By npm name. */
  packs: ReadonlyMap<string, RecordedPack>;
  /** The config's servers that sessions use, by label. */
  servers: ReadonlyMap<string, LockedServer>;
  /** The items that each installed pack declares, as `kind:name`, also of packs that sessions do not use. */
  installed: ReadonlyMap<string, ReadonlySet<string>>;
  /** The labels of the config's servers that sessions do not use. */
  unused: ReadonlySet<string>;
  scope: LockScope;
  /** What models would read of skills, by the keys of their places: of servers, of those that are to be shown. */
  skills: ReadonlyMap<string, ShownSkill>;
  /** Of discovery, of the packs, and of servers that failed. */
  problems: Problem[];
  /** Labels of the servers that failed. */
  failedServers: string[];
}

/** Whether a server may start, so that it says what it lists. */
type MayStart = (place: LockPlace, launch: LockedServer) => boolean;

/** How an installation is read. */
interface ReadingOptions {
  /** That of the lock; default: the project's. */
  folder?: string;
  /** Whether a part is named, so that its problems are of interest. */
  isNamed?(place: LockPlace): boolean;
  /** Whether the skill of a server with these files is to be shown. */
  showsSkill?(place: LockPlace, files: Readonly<Record<string, string>>): boolean;
}

const unused = { name: "not used", state: "new", differences: [], entry: "not used" } as const;

/** Approves nothing: records what a session would use, and lets only chosen servers start, to take their lists. */
class Recorder implements Gate {
  readonly isFrozen = false;
  readonly takesUnasked = () => true;
  readonly scope: LockScope;
  readonly packs = new Map<string, RecordedPack>();
  readonly servers = new Map<string, LockedServer>();
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

  checkServer(server: UserServer): { refusal?: Problem; problems: Problem[] } {
    const { name } = server;
    const entry = this.scope.isServerFree(name) ? undefined : describeInstalledServer(this.#project, server);
    if (entry !== undefined) this.servers.set(name, entry);
    const mayStart =
      entry !== undefined && this.#mayStart({ owner: "server", entry: name, kind: "server", name }, entry);
    return { ...(!mayStart && { refusal: this.#refusal }), problems: [] };
  }

  checkPack({ inspected, problems, unusable: broken }: CheckedPack): CheckedPack {
    const { pack, items } = inspected;
    const isNamed = (name: string) =>
      this.#options.isNamed?.({ owner: "pack", entry: pack.name, kind: "skill", name });
    this.problems.push(...problems.filter(({ item = "" }) => !isUnasked(inspected) || isNamed(item)));
    const servers = this.scope.hasPack(pack) ? this.#record(inspected).entry.servers : undefined;
    const mayStart = ({ shape, declaration: { name } }: InspectedItem) => {
      const launch = shape === "subprocessServer" ? ownEntry(servers, name) : undefined;
      return (
        launch !== undefined &&
        this.#mayStart({ owner: "pack", entry: pack.name, kind: "server", name }, launch)
      );
    };
    const left = items.filter((item) => broken.has(item) || !mayStart(item));
    const unusable = new Map(left.map((item) => [item, broken.get(item) ?? this.#refusal]));
    return { inspected, problems, unusable };
  }

  #record(inspected: InspectedPack): RecordedPack {
    const { pack, items } = inspected;
    const isWanted = ({ declaration: { kind, name }, definition }: InspectedItem) =>
      !this.scope.isItemFree(pack.qualifiedName, kind, name, definition);
    const recorded = describePack(inspected, isWanted);
    this.packs.set(pack.name, recorded);
    for (const item of items) {
      const { kind, name } = item.declaration;
      const place = { owner: "pack", entry: pack.name, kind, name: lockedName(item) } as const;
      if (item.skill !== undefined) this.skills.set(keyOf(place), item.skill);
      if (item.definition === null || item.shape === undefined || !isWanted(item)) continue;
      if (recorded.unknown.has(`${kind}:${name}`))
        this.#noteUnrecordable(item.qualifiedName, pack.qualifiedName, { pack: pack.name, kind, item: name });
    }
    return recorded;
  }

  finish(found: FoundPacks): Problem[] {
    this.found = found;
    this.problems.unshift(...found.problems, ...found.packs.flatMap(({ pack }) => pack.problems));
    return [];
  }

  findApproved(): undefined {}

  checkList(plan: ServerPlan, { entries, instructions }: ListedServer, isExcluded: IsDenied): ListVerdict {
    const { label, source, pack } = plan;
    const listed: Record<ListedKind, [string, LockedItem][]> = {
      tool: [],
      prompt: [],
      resource: [],
      skill: [],
    };
    for (const one of entries) {
      const { kind, id } = one;
      if (isExcluded(one) || this.scope.isListedFree(kind, label, id, pack)) continue;
      const described = describeListed(one);
      if (described !== undefined) listed[kind].push([id, described]);
      else this.#noteUnrecordable(`${label}/${id}`, pack ?? label, placeOfServer(plan));
    }
    const server =
      source.pack === undefined
        ? this.servers.get(label)
        : ownEntry(this.packs.get(source.pack)?.entry.servers, source.item ?? "");
    if (server !== undefined) {
      const said = linesOf(instructions);
      if (said !== undefined) server.instructions = said;
      recordListed(server, listed);
    }
    // What is not registered has no names that collide. Skills are read, to show them.
    const refused = entries
      .filter(({ kind }) => kind !== "skill")
      .map((one) => [one, this.#refusal] as const);
    return { refused: new Map(refused), problems: [], vanished: [] };
  }
}

/** Reads SKILL.md of skills that servers list and that are to be shown. */
async function readServerSkills(
  session: Session,
  shows: NonNullable<ReadingOptions["showsSkill"]>,
): Promise<ReadonlyMap<string, ShownSkill>> {
  const skills = new Map<string, ShownSkill>();
  const { calls, frame } = Session.partsOf(session);
  const state = frame.state();
  let left: number = skillLimits.bytes;
  for (const from of state.resourceServers) {
    const { label, source } = from.plan;
    const { pack, item } = source;
    const lister = { owner: pack ? "pack" : "server", entry: pack ?? label, server: item ?? label } as const;
    for (const { kind, id, entry } of from.offer?.entries ?? []) {
      if (kind !== "skill" || entry.resources === "dynamic") continue;
      const skill = describeServerSkill(from, entry);
      const { name, files } = skill.shown;
      const place = { ...lister, kind, name: id };
      if (!shows(place, digestsOf(files))) continue;
      left -= files.find(({ path }) => path === instructionsFile)?.size ?? 0;
      const read = () => calls.readSkill(skill, instructionsFile, { scope: calls.own, state });
      const text = left < 0 ? undefined : await read().catch(() => undefined);
      const missing = "Not shown: it cannot be read, is not what the server lists, or is too large.";
      skills.set(keyOf(place), { name, files, text: typeof text === "string" ? text : missing });
    }
  }
  return skills;
}

/** A project whose config is valid. */
export interface OpenedInstallation {
  /** Absolute path of the project's folder. */
  project: string;
  /** Absolute path of the project's lock, which may not exist. */
  lockFile: string;
  /** Reads the installation, and takes the lists of the servers that may start. They are ended before it resolves. */
  read(mayStart: MayStart, options?: ReadingOptions): Promise<Installation>;
  /** The project's lock, or the nearest one above it. Throws `TrailblazeError` `LockMalformed`. */
  findLock(): Promise<FoundLock | undefined>;
}

/**
 * Opens a project, to read what is installed in it. No code of packs runs except for their servers, if they may start.
 * Throws `TrailblazeError` `ProjectNotFound` or `InvalidConfig`.
 */
export async function openInstallation(options: InstallationOptions): Promise<OpenedInstallation> {
  const { cwd, config: given, signal, onCommand, onConnect, onWait } = options;
  let recorder: Recorder | undefined;
  const prepared = await prepareSession(
    { cwd, config: given, signal, onCommand, onConnect, onWait },
    { userServers: "reported", openGate: async () => recorder },
  );
  const { config } = prepared;
  return {
    project: config.project,
    lockFile: lockFileOf(config.project),
    findLock: () => findLock(config.project),
    async read(mayStart, options = {}) {
      const recording = new Recorder(config, mayStart, options);
      recorder = recording;
      const session = await prepared.open();
      try {
        const { found, packs, servers, scope, problems } = recording;
        const ofServers = options.showsSkill ? await readServerSkills(session, options.showsSkill) : [];
        const all = found?.packs.map(({ pack }) => pack) ?? [];
        const failed = session.skipped.filter(({ reason }) => reason === "ServerFailed");
        const messages = new Set(failed.map(({ message }) => message));
        const ofFailed = session.problems.filter(({ message }) => messages.has(message));
        const installed = all
          .toSorted((one, other) => Number(other.shadowed) - Number(one.shadowed))
          .map((pack) => {
            const items = kinds.flatMap((kind) =>
              pack[keyOfKind[kind]].map(({ name, path = name }) => `${kind}:${path}`),
            );
            return [pack.name, new Set(items)] as const;
          });
        return {
          packs,
          servers,
          installed: new Map(installed),
          unused: new Set(config.unusedServers.map(({ name }) => name)),
          scope,
          skills: new Map([...recording.skills, ...ofServers]),
          problems: [...config.problems, ...problems, ...ofFailed],
          failedServers: failed.map(({ name }) => name),
        };
      } finally {
        await session.close();
      }
    },
  };
}

type UsedParts = Pick<Installation, "packs" | "servers" | "installed" | "unused" | "scope">;

/** The parts of what is installed. */
export const installedParts = ({ packs, servers }: Pick<Installation, "packs" | "servers">): LockParts =>
  partsOf({
    lockfileVersion: 1,
    packs: Object.fromEntries([...packs].map(([name, { entry }]) => [name, entry])),
    servers: Object.fromEntries(servers),
  });

/** Whether sessions use an entry, or leave it out although it is there. */
const isThere = ({ packs, servers, installed, unused }: UsedParts, { owner, entry }: Owner) =>
  owner === "pack" ? packs.has(entry) || installed.has(entry) : servers.has(entry) || unused.has(entry);

/** What a lock above a project says about what the project's sessions use, and what it denies. */
export const narrowLock = (lock: LockParts, installation: UsedParts): LockParts =>
  new Map([...lock].filter(([, { place, isDenial }]) => isDenial || isThere(installation, place)));

/** Whether the lock stays as it is about a part: it is denied, free, or not used although it is installed. */
function isLeftOut(lock: LockParts, installation: UsedParts, { place, value }: LockPart): boolean {
  const { packs, servers, installed, scope } = installation;
  const { owner, entry, kind, name, server } = place;
  const isFree = (label: string, pack?: string) =>
    server !== undefined && scope.isListedFree(kind as ListedKind, label, name, pack);
  if (isRefused(lock, place)) return true;
  if (owner === "server") return isFree(entry) || !servers.has(entry);
  const recorded = packs.get(entry);
  const item = server === undefined ? `${kind}:${name}` : `server:${server}`;
  const isOfPack = kind === "needs" || kind === "entry";
  // What an installed pack no longer declares is gone, also if sessions do not use the pack.
  if (recorded === undefined) return isOfPack || installed.get(entry)?.has(item) === true;
  if (isOfPack) return false;
  const pack = qualifyPackageName(entry);
  if (recorded.unknown.has(item)) return true;
  if (server === undefined) return scope.isItemFree(pack, kind, name, value);
  return scope.isItemFree(pack, "server", server, null) || isFree(`${pack}/${server}`, pack);
}

/** What a server would say that has not started is what it said before. */
function complete(statement: LockedItem, { lists, instructions }: LockedItem = {}): LockedItem {
  if (statement.lists !== null) return statement;
  return { ...statement, ...(instructions && { instructions }), lists: lists ?? null };
}

/**
 * The lock with everything approved that a session would use, and without what is gone. Of packs without the field, it has
 * only what `lock` has and what is `named`. Pure.
 */
export function expectLock(
  lock: LockParts,
  installation: UsedParts,
  isNamed: (place: LockPlace) => boolean = () => false,
): LockParts {
  const { scope, packs } = installation;
  const now = installedParts(installation);
  const isUnasked = ({ owner, entry }: Owner) => owner === "pack" && packs.get(entry)?.isUnasked === true;
  const isWanted = ({ place }: LockPart) => lock.has(keyOf(place)) || isNamed(place);
  const wanted = [...now.values()].filter((part) => part.place.kind === "skill" && isWanted(part));
  const entries = new Set(wanted.map(({ place }) => keyOf(entryPlace(place))));
  const isPassedOver = (part: LockPart) =>
    isUnasked(part.place) && !(part.place.kind === "entry" ? entries.has(keyOf(part.place)) : isWanted(part));
  const isGone = ({ owner, entry }: Owner) =>
    !isThere(installation, { owner, entry }) && !(owner === "server" && scope.isServerFree(entry));
  const isKept = (part: LockPart): boolean => {
    const { place, isDenial } = part;
    if (isDenial || isGone(place)) return isDenial;
    const isUnlisted = now.get(keyOf(serverPlace(place)))?.value.lists === null;
    return (place.server !== undefined && isUnlisted) || isLeftOut(lock, installation, part);
  };
  const used = [...now.values()].filter(
    (part) => !isPassedOver(part) && !isLeftOut(lock, installation, part),
  );
  const changes = used.map(({ place, isDenial, value }) => {
    const to = place.kind === "server" ? complete(value, lock.get(keyOf(place))?.value) : value;
    return { place, isDenial, to };
  });
  return withoutIdle(changeParts(new Map([...lock].filter(([, part]) => isKept(part))), changes));
}
