import type { TrailblazeConfig } from "../config/generated/config-type.ts";
import { managerIn } from "../discovery/project-manager.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { keyOfKind, kinds } from "../kinds.ts";
import { deniedIn } from "../lock/compare.ts";
import { lockFileOf } from "../lock/lock-file.ts";
import type { LockScope } from "../lock/lock-scope.ts";
import type { ServerPlace } from "../lock/parts.ts";
import { type RecordedPack, RecordingGate } from "../lock/recording-gate.ts";
import type { LockedPack, LockedServer, LockFile } from "../lock/types.ts";
import type { Problem } from "../problems/index.ts";
import { createRegistry, type Registry } from "../qualified-names/create-registry.ts";
import { prepareSession } from "../session/open-session.ts";
import type { RemoteAddress, StartedCommand } from "../session/session-options.ts";

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
  /** For names that the lock and the installation do not have. */
  registry: Registry;
  /** Of discovery, of the packs, and of servers that failed. */
  problems: Problem[];
  /** Labels of the servers that failed. */
  failedServers: string[];
}

/** What is installed, in the form of a lock. */
export const lockOf = ({ packs, servers }: Pick<Installation, "packs" | "servers">): LockFile => ({
  lockfileVersion: 1,
  packs: Object.fromEntries([...packs].map(([name, { entry }]) => [name, entry])),
  servers: Object.fromEntries(servers),
});

const declaredIn = (pack: DiscoveredPack): ReadonlySet<string> =>
  new Set(kinds.flatMap((kind) => pack[keyOfKind[kind]].map(({ name }) => `${kind}:${name}`)));

/** What a lock above a project says about what the project's sessions use, and if it is to be kept, what it denies. */
export function narrowLock(
  lock: LockFile,
  { installed, packs, servers, unused }: Installation,
  { keepsDenials }: { keepsDenials: boolean },
): LockFile {
  const only = <Entry extends LockedPack | LockedServer>(
    entries: Record<string, Entry>,
    isUsed: (name: string) => boolean,
  ): Record<string, Entry> =>
    Object.fromEntries(
      Object.entries(entries).flatMap(([name, entry]) => {
        if (isUsed(name)) return [[name, entry]];
        const denied = keepsDenials ? deniedIn(entry) : [];
        return denied.length === 0 ? [] : [[name, { surface: "", denied } as unknown as Entry]];
      }),
    );
  return {
    lockfileVersion: 1,
    packs: only(lock.packs, (name) => installed.has(name) || packs.has(name)),
    servers: only(lock.servers, (label) => servers.has(label) || unused.has(label)),
  };
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
  read(
    mayStart: (place: ServerPlace, launch: LockedServer) => boolean,
    folder?: string,
  ): Promise<Installation>;
}

/**
 * Opens a project, to read what is installed in it. No code of packs runs except for their servers, if they may start.
 * Throws `TrailblazeError` `ProjectNotFound` or `InvalidConfig`.
 */
export async function openInstallation(options: InstallationOptions): Promise<OpenedInstallation> {
  const { cwd, config: given, signal, onCommand, onConnect } = options;
  const sessionOptions = { cwd, config: given, signal, onCommand, onConnect };
  let gate: RecordingGate | undefined;
  const prepared = await prepareSession(sessionOptions, {
    userServers: "reported",
    openGate: async () => gate,
  });
  const { config } = prepared;
  return {
    project: config.project,
    lockFile: lockFileOf(config.project),
    async read(mayStart, folder) {
      const recording = new RecordingGate(config, mayStart, folder);
      gate = recording;
      const session = await prepared.open();
      try {
        const { found } = recording;
        const manager = found && managerIn(createNodeDiscoveryPort(), found.workspace);
        const packs = recording.found?.packs.map(({ pack }) => pack) ?? [];
        const failed = session.skipped.filter(({ reason }) => reason === "ServerFailed");
        const messages = new Set(failed.map(({ message }) => message));
        const ofServers = session.problems.filter(({ message }) => messages.has(message));
        return {
          packs: recording.packs,
          servers: recording.servers,
          installed: new Map(
            packs
              .toSorted((one, other) => Number(other.shadowed) - Number(one.shadowed))
              .map((pack) => [pack.name, declaredIn(pack)]),
          ),
          unused: new Set(config.unusedServers.map(({ name }) => name)),
          scope: recording.scope,
          registry: createRegistry(packs, { manager }),
          problems: [...config.problems, ...recording.problems, ...ofServers],
          failedServers: failed.map(({ name }) => name),
        };
      } finally {
        await session.close();
      }
    },
  };
}
