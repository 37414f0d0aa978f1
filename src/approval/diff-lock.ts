import { isSameJson } from "../lock/canonical-json.ts";
import { ownEntry, startOf } from "../lock/compare.ts";
import { readLock } from "../lock/lock-file.ts";
import type { ServerPlace } from "../lock/recording-gate.ts";
import type { EntryChange, LockedServer, LockFile } from "../lock/types.ts";
import { failure, type Problem } from "../problems/index.ts";
import { compareInstallation } from "./compare-installation.ts";
import { type InstallationOptions, openInstallation } from "./read-installation.ts";
import { Targets } from "./targets.ts";

/** What to compare, and whether servers start. */
export interface DiffOptions extends InstallationOptions {
  /** Packs (`@acme/jira` or `acme/jira`), servers of the config by label, or items. Default: everything. */
  targets?: readonly string[];
  /** Starts no server; the lists of servers are not compared. */
  static?: boolean;
}

/** The difference between a lock and the installation. Strings of packs and servers are not trusted. */
export interface LockDifference {
  /** Absolute path. */
  lockFile: string;
  /** Whether nothing differs. Another version with the same surface is no difference. */
  inSync: boolean;
  /** By name, also those without a difference. */
  packs: EntryChange[];
  /** The servers of the config, by label. */
  servers: EntryChange[];
  /** Of packs that are broken, and of servers that failed to start. */
  problems: Problem[];
  /** Labels of the servers that failed to start, so that their lists were not compared. */
  failedServers: string[];
}

/** The entry of a server in a lock. */
export function findLockedServer(lock: LockFile, { pack, server }: ServerPlace): LockedServer | undefined {
  return pack === undefined
    ? ownEntry(lock.servers, server)
    : ownEntry(ownEntry(lock.packs, pack)?.servers, server);
}

/** Whether the lock denies a server. */
export function isServerDenied(lock: LockFile, { pack, server }: ServerPlace): boolean {
  const owner = pack === undefined ? ownEntry(lock.servers, server) : ownEntry(lock.packs, pack);
  return Array.isArray(owner?.denied) && owner.denied.includes(`server:${server}`);
}

/** Whether the lock approves how a server is launched. */
export function isLaunchApproved(lock: LockFile, place: ServerPlace, launch: LockedServer): boolean {
  const locked = findLockedServer(lock, place);
  if (locked === undefined || isServerDenied(lock, place)) return false;
  return isSameJson(startOf(locked), startOf(launch));
}

/**
 * Compares trailblaze.lock with what is installed, as models would see it.
 *
 * Trust level: execution, because it starts the servers that it compares and whose launch the lock approves; with `static`,
 * inspection. Code of packs is not loaded. Throws `TrailblazeError`: `ProjectNotFound`, `InvalidConfig`, `LockMissing`,
 * `LockMalformed`, `PackNotInstalled` and others for unknown targets; or the reason of `signal`.
 */
export async function diffLock(options: DiffOptions = {}): Promise<LockDifference> {
  const { targets: written = [], static: isStatic = false } = options;
  const opened = await openInstallation(options);
  const { lockFile, project } = opened;
  const lock = await readLock(project);
  if (lock === undefined) throw failure("LockMissing", { file: lockFile }, { file: lockFile });
  const targets = new Targets(written, written.length === 0);
  const installation = await opened.read(
    (place, launch) => !isStatic && targets.hasServer(place) && isLaunchApproved(lock, place, launch),
  );
  targets.check(lock, installation);
  const compared = compareInstallation(lock, installation);
  const select = (entries: readonly EntryChange[], isPack: boolean) =>
    entries
      .filter(({ name }) => targets.touches(name, isPack))
      .map((entry) => narrowEntry(entry, targets, isPack));
  const packs = select(compared.packs, true);
  const servers = select(compared.servers, false);
  return {
    lockFile,
    inSync: [...packs, ...servers].every(({ change }) => change === "same"),
    packs,
    servers,
    problems: installation.problems,
    failedServers: installation.failedServers,
  };
}

/** An entry with the items that are meant. */
function narrowEntry(entry: EntryChange, targets: Targets, isPack: boolean): EntryChange {
  if (targets.hasEntry(entry.name, isPack)) return entry;
  const items = entry.items.filter((item) => targets.hasItem(entry, item, isPack));
  return { ...entry, items, change: items.length === 0 ? "same" : entry.change };
}
