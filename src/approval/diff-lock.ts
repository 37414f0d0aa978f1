import { diffLocks, type LockDifferenceEntry } from "../lock/difference.ts";
import { isSameJson } from "../lock/json.ts";
import { isDenied, keyOf, type LockParts, type LockPlace, lockOf, partsOf } from "../lock/parts.ts";
import type { LockedServer } from "../lock/types.ts";
import { failure, type Problem } from "../problems/index.ts";
import { expectLock, type InstallationOptions, narrowLock, openInstallation } from "./installation.ts";
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

/** Whether the lock approves how a server is launched. */
export const isLaunchApproved = (lock: LockParts, place: LockPlace, { launch }: LockedServer): boolean =>
  launch !== undefined && !isDenied(lock, place) && isSameJson(launch, lock.get(keyOf(place))?.value.launch);

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
  const found = await opened.findLock();
  if (found === undefined) throw failure("LockMissing", { file: lockFile }, { file: lockFile });
  const targets = new Targets(written, written.length === 0);
  const approved = partsOf(found.lock);
  const installation = await opened.read(
    (place, launch) => !isStatic && targets.concerns(place) && isLaunchApproved(approved, place, launch),
    { folder: found.folder },
  );
  const lock = found.folder === project ? approved : narrowLock(approved, installation);
  targets.check(lock, installation);
  const expected = expectLock(lock, installation);
  // Another version is no difference.
  const versions = [...lock].filter(([key, { place }]) => place.kind === "entry" && expected.has(key));
  const differing = diffLocks(lockOf(lock), lockOf(new Map([...expected, ...versions])));
  const entries = differing.filter((entry) => {
    const { pack, server = "", kind, name } = entry;
    const owner = { owner: pack === undefined ? "server" : "pack", entry: pack ?? server } as const;
    // A pack as a whole differs only if it has nothing else.
    if (kind === "pack")
      return targets.hasEntry(owner) && differing.every((other) => other === entry || other.pack !== pack);
    return targets.concerns({ ...owner, kind, name });
  });
  const { problems, failedServers } = installation;
  return { lockFile: found.file, inSync: entries.length === 0, entries, problems, failedServers };
}
