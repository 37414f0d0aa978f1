import type { TrailblazeConfig } from "../config/generated/config-type.ts";
import type { SessionConfig, UserServer } from "../config/session-config.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { keyOfKind, kinds } from "../kinds.ts";
import {
  describeInstalledServer,
  describeListed,
  describePack,
  linesOf,
  type RecordedPack,
} from "../lock/describe.ts";
import type { Gate, IsDenied, ListedServer, ListVerdict } from "../lock/gate.ts";
import { ownEntry } from "../lock/json.ts";
import { deniedIn, type FoundLock, findLock, hasOnlyDenials, lockFileOf } from "../lock/lock-file.ts";
import { LockScope } from "../lock/lock-scope.ts";
import {
  findServer,
  isDenied,
  keyOf,
  keyOfListed,
  type LockPlace,
  listedKinds,
  owners,
  partsOf,
  removeEntry,
  type ServerPlace,
  setPart,
} from "../lock/parts.ts";
import type { LockedItem, LockedPack, LockedServer, LockFile } from "../lock/types.ts";
import type { ListedKind } from "../mcp/client/server-lists.ts";
import { createProblem, type Problem, type ProblemPlace } from "../problems/index.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import { placeOfServer, type ServerPlan } from "../runtime/server-launches.ts";
import { prepareSession } from "../session/open-session.ts";
import type { RemoteAddress, StartedCommand } from "../session/session-options.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";

/** Where to read what is installed, and what to report meanwhile. */
export interface InstallationOptions {
  /** The folder whose project is read. Default: the current folder. */
  cwd?: string;
  /** Path of a config file, or the parsed config. Default: trailblaze.config.yaml or .json next to package.json. */
  config?: string | TrailblazeConfig;
  /** Aborts the reading and ends the servers that it started. */
  signal?: AbortSignal;
  /** Called with each command before it is started. */
  onCommand?: (command: StartedCommand) => void;
  /** Called with each remote server before the first request to it. */
  onConnect?: (server: RemoteAddress) => void;
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
  /** Of discovery, of the packs, and of servers that failed. */
  problems: Problem[];
  /** Labels of the servers that failed. */
  failedServers: string[];
}

/** Whether a server may start, so that it says what it lists. */
type MayStart = (place: ServerPlace, launch: LockedServer) => boolean;

const unused = { name: "not used", state: "new", differences: [], entry: "not used" } as const;

/** Approves nothing: records what a session would use, and lets only chosen servers start, to take their lists. */
class Recorder implements Gate {
  readonly isFrozen = false;
  readonly scope: LockScope;
  readonly packs = new Map<string, RecordedPack>();
  readonly servers = new Map<string, LockedServer>();
  readonly problems: Problem[] = [];
  found: FoundPacks | undefined;
  readonly #project: string;
  readonly #mayStart: MayStart;
  readonly #refusal = createProblem("NotApproved", unused);

  constructor(config: SessionConfig, mayStart: MayStart, folder: string | undefined) {
    this.scope = new LockScope(config, folder);
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
    const mayStart = entry !== undefined && this.#mayStart({ owner: "server", entry: name, name }, entry);
    return { ...(!mayStart && { refusal: this.#refusal }), problems: [] };
  }

  checkPack({ inspected, problems, unusable: broken }: CheckedPack): CheckedPack {
    const { pack, items } = inspected;
    this.problems.push(...problems);
    const servers = this.scope.hasPack(pack) ? this.#record(inspected).entry.servers : undefined;
    const mayStart = ({ shape, declaration: { name } }: InspectedItem) => {
      const launch = shape === "subprocessServer" ? ownEntry(servers, name) : undefined;
      return launch !== undefined && this.#mayStart({ owner: "pack", entry: pack.name, name }, launch);
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
    const listed: Record<ListedKind, [string, LockedItem][]> = { tool: [], prompt: [], resource: [] };
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
      for (const kind of listedKinds)
        if (kind === "tool" || listed[kind].length > 0)
          server[keyOfListed[kind]] = Object.fromEntries(listed[kind]);
    }
    // Nothing is registered, so no names collide.
    return { refused: new Map(entries.map((one) => [one, this.#refusal])), problems: [], vanished: [] };
  }
}

/** A project whose config is valid. */
export interface OpenedInstallation {
  /** Absolute path of the project's folder. */
  project: string;
  /** Absolute path of the project's lock, which may not exist. */
  lockFile: string;
  /**
   * Reads the installation, and takes the lists of the servers that may start. They are ended before it resolves. `folder`: that
   * of the lock, by default the project's.
   */
  read(mayStart: MayStart, folder?: string): Promise<Installation>;
  /** The project's lock, or the nearest one above it. Throws `TrailblazeError` `LockMalformed`. */
  findLock(): Promise<FoundLock | undefined>;
}

/**
 * Opens a project, to read what is installed in it. No code of packs runs except for their servers, if they may start.
 * Throws `TrailblazeError` `ProjectNotFound` or `InvalidConfig`.
 */
export async function openInstallation(options: InstallationOptions): Promise<OpenedInstallation> {
  const { cwd, config: given, signal, onCommand, onConnect } = options;
  let recorder: Recorder | undefined;
  const prepared = await prepareSession(
    { cwd, config: given, signal, onCommand, onConnect },
    { userServers: "reported", openGate: async () => recorder },
  );
  const { config } = prepared;
  return {
    project: config.project,
    lockFile: lockFileOf(config.project),
    findLock: () => findLock(config.project),
    async read(mayStart, folder) {
      const recording = new Recorder(config, mayStart, folder);
      recorder = recording;
      const session = await prepared.open();
      try {
        const { found, packs, servers, scope, problems } = recording;
        const all = found?.packs.map(({ pack }) => pack) ?? [];
        const failed = session.skipped.filter(({ reason }) => reason === "ServerFailed");
        const messages = new Set(failed.map(({ message }) => message));
        const ofServers = session.problems.filter(({ message }) => messages.has(message));
        const installed = all
          .toSorted((one, other) => Number(other.shadowed) - Number(one.shadowed))
          .map((pack) => {
            const items = kinds.flatMap((kind) => pack[keyOfKind[kind]].map(({ name }) => `${kind}:${name}`));
            return [pack.name, new Set(items)] as const;
          });
        return {
          packs,
          servers,
          installed: new Map(installed),
          unused: new Set(config.unusedServers.map(({ name }) => name)),
          scope,
          problems: [...config.problems, ...problems, ...ofServers],
          failedServers: failed.map(({ name }) => name),
        };
      } finally {
        await session.close();
      }
    },
  };
}

type UsedParts = Pick<Installation, "packs" | "servers" | "installed" | "unused" | "scope">;

/** What is installed, in the form of a lock. */
export const lockOf = ({ packs, servers }: Pick<Installation, "packs" | "servers">): LockFile => ({
  lockfileVersion: 1,
  packs: Object.fromEntries([...packs].map(([name, { entry }]) => [name, entry])),
  servers: Object.fromEntries(servers),
});

/** What a lock above a project says about what the project's sessions use, and what it denies. */
export function narrowLock(lock: LockFile, { installed, packs, servers, unused }: UsedParts): LockFile {
  const only = <Entry extends LockedPack | LockedServer>(
    entries: Record<string, Entry>,
    isUsed: (name: string) => boolean,
  ): Record<string, Entry> =>
    Object.fromEntries(
      Object.entries(entries).flatMap(([name, entry]) => {
        const denied = deniedIn(entry);
        if (isUsed(name)) return [[name, entry]];
        return denied.length === 0 ? [] : [[name, { surface: "", denied } as unknown as Entry]];
      }),
    );
  return {
    lockfileVersion: 1,
    packs: only(lock.packs, (name) => installed.has(name) || packs.has(name)),
    servers: only(lock.servers, (label) => servers.has(label) || unused.has(label)),
  };
}

/** Whether an entry of the lock is about nothing that is there. */
const isGone = (
  { packs, servers, installed, unused, scope }: UsedParts,
  owner: LockPlace["owner"],
  entry: string,
) =>
  owner === "pack"
    ? !packs.has(entry) && !installed.has(entry)
    : !servers.has(entry) && !unused.has(entry) && !scope.isServerFree(entry);

/** Whether the lock stays as it is about a part: it is denied, free, or not used although it is installed. */
function isLeftOut(lock: LockFile, parts: UsedParts, place: LockPlace, value: LockedItem): boolean {
  const { packs, servers, installed, scope } = parts;
  const { owner, entry, kind, name, server } = place;
  const isFree = (label: string, pack?: string) =>
    server !== undefined && scope.isListedFree(kind as ListedKind, label, name, pack);
  if (kind !== "needs" && isDenied(lock, place)) return true;
  if (owner === "server") {
    if (isDenied(lock, { owner, entry, kind: "server", name: entry })) return true;
    return isFree(entry) || (!servers.has(entry) && !isGone(parts, owner, entry));
  }
  const recorded = packs.get(entry);
  const item = server === undefined ? `${kind}:${name}` : `server:${server}`;
  // What an installed pack no longer declares is gone, also if sessions do not use the pack.
  if (recorded === undefined) return kind === "needs" || installed.get(entry)?.has(item) === true;
  if (kind === "needs") return false;
  const pack = qualifyPackageName(entry);
  if (recorded.unknown.has(item) || isDenied(lock, { owner, entry, kind: "server", name: server ?? "" }))
    return true;
  if (server === undefined) return scope.isItemFree(pack, kind, name, value);
  return scope.isItemFree(pack, "server", server, null) || isFree(`${pack}/${server}`, pack);
}

/** What a server would say that has not started is what it said before. */
function complete(statement: LockedItem, { lists, instructions }: Partial<LockedServer>): LockedItem {
  if (statement.lists !== null) return statement;
  return { ...statement, ...(instructions && { instructions }), lists: lists == null ? null : {} };
}

/**
 * The lock with everything approved that a session would use, and without what is gone. Versions of known entries stay, because
 * another version is no difference. Pure.
 */
export function expectLock(lock: LockFile, installation: UsedParts): LockFile {
  const { packs, servers } = installation;
  const expected = structuredClone(lock);
  for (const owner of owners)
    for (const [entry, locked] of Object.entries<LockedPack | LockedServer>(lock[`${owner}s`]))
      if (isGone(installation, owner, entry) && !hasOnlyDenials(locked))
        removeEntry(expected, { owner, entry });
  const now = lockOf(installation);
  const known = new Set([...partsOf(now)].map(([place]) => keyOf(place)));
  for (const [place, value] of partsOf(lock)) {
    const server = place.server === undefined ? undefined : findServer(now, { ...place, name: place.server });
    const isUnlisted = server?.lists === null;
    if (known.has(keyOf(place)) || isUnlisted || isLeftOut(lock, installation, place, value)) continue;
    setPart(expected, place, undefined);
  }
  for (const [name, { entry }] of packs)
    if (!Object.hasOwn(expected.packs, name)) {
      const { version } = entry;
      expected.packs[name] = { surface: "", ...(version !== undefined && { version }) };
    }
  for (const [place, value] of partsOf(now)) {
    if (isLeftOut(lock, installation, place, value)) continue;
    const isServer = place.kind === "server";
    setPart(expected, place, isServer ? complete(value, findServer(lock, place) ?? {}) : value);
  }
  for (const [label, { version }] of servers) {
    const server = Object.hasOwn(lock.servers, label) ? undefined : ownEntry(expected.servers, label);
    if (version !== undefined && server !== undefined) Object.assign(server, { version });
  }
  return expected;
}
