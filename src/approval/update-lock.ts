import { readConfig } from "../config/read-config.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import type { InspectedPack } from "../inspection/types.ts";
import { describePack, describeUserServer, lockedName, placesOf } from "../lock/describe.ts";
import { isSameJson } from "../lock/json.ts";
import { changeLock, findLock, lockFileName } from "../lock/lock-file.ts";
import { LockScope } from "../lock/lock-scope.ts";
import {
  changeParts,
  keyOf,
  type LockPart,
  type LockParts,
  type Owner,
  ownerOf,
  partsOfEntry,
  tableOf,
} from "../lock/parts.ts";
import { quoteForShell } from "../problems/text.ts";
import { type ApprovalChange, ApprovalPlan, applyApproval, planApproval, planApprovals } from "./approve.ts";
import { type InstallationOptions, narrowLock, Targets } from "./installation.ts";

/** What is to be added: packs as their tarballs have them, and servers of the config by label. */
export interface Additions {
  packs: readonly InspectedPack[];
  /** Entries of `mcpServers`, and the versions of their packages. */
  servers: readonly { label: string; entry: Readonly<Record<string, unknown>>; version: string | null }[];
}

export interface ShownAdditions {
  /** For people; empty if nothing is known. */
  text: string;
  parts: LockParts;
}

/**
 * What the lock would record of additions that are not installed, before they are agreed to; `undefined` without a lock. Left out
 * is what is known only later: definitions that are code, and what servers list. Trust level: inspection.
 */
export async function previewAdditions(
  project: string,
  { packs, servers }: Additions,
): Promise<ShownAdditions | undefined> {
  const found = await findLock(project);
  if (found === undefined) return undefined;
  const mcpServers = Object.fromEntries(servers.map(({ label, entry }) => [label, entry]));
  const config = await readConfig(createNodeInspectionPort(), { directory: project, config: { mcpServers } });
  const installed = tableOf([
    ...packs.flatMap((inspected) => describePack(inspected)),
    ...config.subprocessServers.flatMap((server) => {
      const { version } = servers.find(({ label }) => label === server.name) ?? {};
      const owner = { owner: "server", entry: server.name } as const;
      return [...partsOfEntry(owner, describeUserServer(server, version))];
    }),
  ]);
  // Definitions that are code are not among the parts, but their items are there.
  const declared = packs.flatMap(({ pack }) => placesOf(pack));
  const all = [...[...installed.values()].map(({ place }) => place), ...declared];
  const places = new Map(all.map((place) => [keyOf(place), place]));
  const skills = packs.flatMap(({ pack, items }) =>
    items.flatMap((item) => {
      const place = { owner: "pack", entry: pack.name, kind: "skill", name: lockedName(item) } as const;
      return item.skill ? [[keyOf(place), item.skill] as const] : [];
    }),
  );
  const lock = narrowLock(found.parts, places);
  const additions = { installed, places, unasked: new Set<string>(), scope: new LockScope(config) };
  const locked = {
    ...additions,
    skills: new Map(skills),
    project,
    found,
    lock,
    problems: [],
    failedServers: [],
  };
  const changes = planApprovals(locked, new Targets([], true));
  const { text } = new ApprovalPlan(changes, locked, false);
  return { text, parts: changeParts(lock, changes) };
}

/**
 * Records packs and servers of the config that were added, where there is a lock: of what is installed, only what was shown and
 * agreed to. With `starts`, the servers start, and `agree` decides about what they list. Resolves with a line for each thing to
 * know.
 */
export async function recordAdditions(
  project: string,
  names: readonly string[],
  { starts, shown, agree, ...options }: RecordOptions,
): Promise<string[]> {
  if (names.length === 0 || shown === undefined) return [];
  // A denial stays.
  const isOpen = ({ from }: ApprovalChange) => from !== null;
  const isShown = ({ place, to }: ApprovalChange) => {
    if (place.kind === "entry") return true;
    const before = shown.parts.get(keyOf(place))?.value;
    return isSameJson(before?.launch ?? before, to?.launch ?? to);
  };
  const cwd = project;
  const all = await planApproval(names, { ...options, cwd, static: true });
  const open = all.changes.filter(isOpen);
  const first = all.narrow(open.filter(isShown));
  const approved = new Set((await applyApproval(first)).approved);
  const waiting = new Set(open.filter((change) => !isShown(change)).map(({ name }) => name));
  const unlisted = new Set(first.unlistedServers);
  if (starts && unlisted.size > 0) {
    const second = await planApproval(names, { ...options, cwd });
    const listed = second.narrow(
      second.changes.filter((change) => isOpen(change) && !waiting.has(change.name)),
    );
    if (await agree(listed)) {
      for (const name of (await applyApproval(listed)).approved) approved.add(name);
      for (const { name, to } of listed.changes) if (to?.lists !== null) unlisted.delete(name);
    }
  }
  const command = (name: string) => `Run \`trailblaze approve ${quoteForShell(name)}\` to`;
  return [
    ...(approved.size === 0 ? [] : [`Recorded in ${lockFileName}: ${[...approved].join(", ")}`]),
    ...[...waiting].map((name) => `${command(name)} read and approve it.`),
    ...[...unlisted].map((name) => `${command(name)} start it and approve its tools.`),
  ];
}

interface RecordOptions extends InstallationOptions {
  starts: boolean;
  shown: ShownAdditions | undefined;
  agree: (plan: ApprovalPlan) => boolean | Promise<boolean>;
}

/** Takes the entries of removed packs (npm names) and servers (labels) out of the lock. Returns the names that it had. */
export async function recordRemovals(
  project: string,
  removed: Readonly<Record<`${Owner["owner"]}s`, readonly string[]>>,
): Promise<string[]> {
  const names = new Set<string>();
  const isKept = ({ place, value }: LockPart) => {
    if (value === null || !removed[`${place.owner}s`].includes(place.entry)) return true;
    names.add(ownerOf(place));
    return false;
  };
  await changeLock(project, (lock) => {
    const kept = [...(lock ?? [])].filter(([, part]) => isKept(part));
    return names.size === 0 ? undefined : new Map(kept);
  });
  return [...names];
}
