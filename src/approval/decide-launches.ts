import { findFieldChanges, ownEntry, startOf } from "../lock/compare.ts";
import type { ServerPlace } from "../lock/recording-gate.ts";
import type { LockedServer, LockFile } from "../lock/types.ts";
import type { ApprovalChange } from "./apply-changes.ts";
import { compareInstallation } from "./compare-installation.ts";
import { isLaunchApproved, isServerDenied } from "./diff-lock.ts";
import { isNeeds, type Planning } from "./planning.ts";
import type { Installation } from "./read-installation.ts";
import type { Targets } from "./targets.ts";

/** Every server of an installation that is launched. */
export function* serversOf({ packs, servers }: Installation): Generator<[ServerPlace, LockedServer]> {
  for (const [server, launch] of servers) yield [{ pack: undefined, server }, launch];
  for (const [pack, { entry }] of packs) {
    for (const [server, launch] of Object.entries(entry.servers ?? {})) {
      if ("lists" in launch) yield [{ pack, server }, launch];
    }
  }
}

export const findInstalledServer = ({ packs, servers }: Installation, { pack, server }: ServerPlace) =>
  pack === undefined ? servers.get(server) : ownEntry(packs.get(pack)?.entry.servers, server);

export const isSameLaunch = (a: LockedServer, b: LockedServer) =>
  findFieldChanges(startOf(a), startOf(b)).length === 0;

/** Adds what servers said to an installation that was read without starting them. */
export function addLists(installation: Installation, started: Installation): Installation {
  for (const [place, launch] of serversOf(started)) {
    const server = findInstalledServer(installation, place);
    if (launch.lists == null || server === undefined || !isSameLaunch(server, launch)) continue;
    const { lists, prompts, resources } = launch;
    server.lists = lists;
    if (prompts !== undefined) server.prompts = prompts;
    if (resources !== undefined) server.resources = resources;
    if (launch.instructions !== undefined) server.instructions = launch.instructions;
  }
  return { ...installation, problems: started.problems, failedServers: started.failedServers };
}

export const isSameItem = (a: ApprovalChange, b: ApprovalChange) =>
  a.owner === b.owner &&
  a.entry.name === b.entry.name &&
  a.entry.items[0]?.kind === b.entry.items[0]?.kind &&
  a.entry.items[0]?.name === b.entry.items[0]?.name;

/** Asks about the launches that differ among the targets, each after what its pack needs. */
export async function decideLaunches(
  planning: Planning,
  { targets, lock, read }: { targets: Targets; lock: LockFile; read: Installation },
  agree: (change: ApprovalChange) => boolean | Promise<boolean>,
): Promise<{ agreed: ApprovalChange[]; declined: ApprovalChange[] }> {
  const { packs, servers } = compareInstallation(lock, read);
  const agreed: ApprovalChange[] = [];
  const declined: ApprovalChange[] = [];
  const decide = async (change: ApprovalChange) => {
    const known = [...agreed, ...declined].find((one) => isSameItem(one, change));
    if (known !== undefined) return agreed.includes(known);
    const isAgreed = await agree(change);
    (isAgreed ? agreed : declined).push(change);
    return isAgreed;
  };
  for (const [place, launch] of serversOf(read)) {
    if (!targets.hasServer(place) || isServerDenied(lock, place)) continue;
    if (isLaunchApproved(lock, place, launch)) continue;
    const owner = place.pack === undefined ? "server" : "pack";
    const entry = (owner === "pack" ? packs : servers).find(
      ({ name }) => name === (place.pack ?? place.server),
    );
    const item = entry?.items.find(({ kind, name }) => kind === "server" && name === place.server);
    if (entry === undefined || item === undefined) continue;
    const needs = owner === "pack" ? entry.items.find(isNeeds) : undefined;
    const change = planning.create(owner, entry, item);
    if (needs === undefined || (await decide(planning.create(owner, entry, needs)))) await decide(change);
    else declined.push(change);
  }
  return { agreed, declined };
}
