import { diffLocks, type LockDifferenceEntry } from "../lock/difference.ts";
import { lockFileOf } from "../lock/lock-file.ts";
import { entryPlace, lockOf } from "../lock/parts.ts";
import type { Problem } from "../problems/index.ts";
import { expectLock, type InstallationOptions, readLockedProject, Targets } from "./installation.ts";

/** What to compare, and whether servers start. */
export interface DiffOptions extends InstallationOptions {
  /** Packs (`@acme/jira` or `acme/jira`), servers of the config by label, or items. Default: everything. */
  targets?: readonly string[];
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

/**
 * Compares trailblaze.lock with what is installed, as models would see it.
 *
 * Trust level: execution, because it starts the servers that it compares and whose launch the lock approves; with `static`,
 * inspection. Code of packs is not loaded. Throws `TrailblazeError`: `ProjectNotFound`, `InvalidConfig`, `LockMissing`,
 * `LockMalformed`, `PackNotInstalled` and others for unknown targets; or the reason of `signal`.
 */
export async function diffLock(options: DiffOptions = {}): Promise<LockDifference> {
  const { targets: written = [] } = options;
  const targets = new Targets(written, written.length === 0);
  const { project, found, parts, installation } = await readLockedProject(targets, options, "compare");
  const expected = expectLock(parts, installation);
  // Another version is no difference.
  const versions = [...parts].filter(([key, { place }]) => place.kind === "entry" && expected.has(key));
  const differing = diffLocks(lockOf(parts), lockOf(new Map([...expected, ...versions])));
  const entries = differing.filter((entry) => {
    const { pack, server = "", kind, name } = entry;
    const owner = { owner: pack === undefined ? "server" : "pack", entry: pack ?? server } as const;
    // A pack as a whole differs only if it has nothing else.
    if (kind === "pack")
      return (
        targets.has(entryPlace(owner)) && differing.every((other) => other === entry || other.pack !== pack)
      );
    return targets.concerns({ ...owner, kind, name });
  });
  const { problems, failedServers } = installation;
  const lockFile = found?.file ?? lockFileOf(project);
  return { lockFile, inSync: entries.length === 0, entries, problems, failedServers };
}
