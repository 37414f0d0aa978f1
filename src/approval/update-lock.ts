import { readConfig } from "../config/read-config.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import type { InspectedPack } from "../inspection/types.ts";
import { describePack, describeUserServer } from "../lock/describe.ts";
import { diffLocks, formatSkill } from "../lock/difference.ts";
import { isSameJson } from "../lock/json.ts";
import { findLock, lockFileName, readLock } from "../lock/lock-file.ts";
import { LockScope } from "../lock/lock-scope.ts";
import { keyOf, type LockParts, lockOf, type Owner, partsOf } from "../lock/parts.ts";
import { quoteForShell } from "../problems/text.ts";
import { type ApprovalChange, type ApprovalPlan, applyApproval, planChanges } from "./approve.ts";
import { expectLock, type InstallationOptions } from "./installation.ts";

/** What is to be added: packs as their tarballs have them, and servers of the config by label. */
export interface Additions {
  packs: readonly InspectedPack[];
  /** Entries of `mcpServers`, and the versions of their packages. */
  servers: readonly { label: string; entry: Readonly<Record<string, unknown>>; version: string | null }[];
}

/** What a lock would record of additions. */
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
  const known = (await findLock(project))?.lock;
  if (known === undefined) return undefined;
  const mcpServers = Object.fromEntries(servers.map(({ label, entry }) => [label, entry]));
  const config = await readConfig(createNodeInspectionPort(), { directory: project, config: { mcpServers } });
  const versions = new Map(servers.map(({ label, version }) => [label, version]));
  const described = config.subprocessServers.map((server) => {
    return [server.name, describeUserServer(server, versions.get(server.name))] as const;
  });
  const recorded = packs.map((inspected) => [inspected.pack.name, describePack(inspected)] as const);
  const added = { packs: new Map(recorded), servers: new Map(described) };
  const isAdded = ({ owner, entry }: Owner) => added[`${owner}s`].has(entry);
  const before: LockParts = new Map([...partsOf(known)].filter(([, { place }]) => isAdded(place)));
  const parts = expectLock(before, {
    ...added,
    installed: new Map(),
    unused: new Set(),
    scope: new LockScope(config),
  });
  const text = diffLocks(lockOf(before), lockOf(parts)).map(({ diff }) => diff);
  const skills = packs.flatMap(({ pack, items }) =>
    items.flatMap(({ skill }) => (skill === undefined ? [] : formatSkill(pack.name, skill))),
  );
  return { text: [...text, ...skills].join("\n"), parts };
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
  const isShown = ({ place, isDenial, to }: ApprovalChange) => {
    if (place.kind === "entry") return true;
    const before = shown.parts.get(keyOf(place, isDenial))?.value;
    return isSameJson(before?.launch ?? before, to?.launch ?? to);
  };
  const cwd = project;
  const first = await planChanges(names, { ...options, cwd, static: true }, false);
  const plans: ApprovalPlan[] = [first.narrow(first.changes.filter(isShown))];
  const results = [await applyApproval(plans[0] as ApprovalPlan)];
  const waiting = new Set(first.changes.filter((change) => !isShown(change)).map(({ name }) => name));
  const unlisted = new Set(plans[0]?.unlistedServers);
  if (starts && unlisted.size > 0) {
    const second = await planChanges(names, { ...options, cwd }, false);
    const listed = second.narrow(second.changes.filter(({ name }) => !waiting.has(name)));
    if (await agree(listed)) {
      results.push(await applyApproval(listed));
      for (const { name, to } of listed.changes) if (to?.lists !== null) unlisted.delete(name);
    }
  }
  const approved = [...new Set(results.flatMap((result) => result.approved))];
  const command = (name: string) => `Run \`trailblaze approve ${quoteForShell(name)}\` to`;
  return [
    ...(approved.length === 0 ? [] : [`Recorded in ${lockFileName}: ${approved.join(", ")}`]),
    ...[...waiting].map((name) => `${command(name)} read and approve it.`),
    ...[...unlisted].map((name) => `${command(name)} start it and approve its tools.`),
  ];
}

interface RecordOptions extends InstallationOptions {
  starts: boolean;
  /** What was shown before it was agreed to; `undefined` without a lock. */
  shown: ShownAdditions | undefined;
  /** Whether what the servers list is approved. */
  agree: (plan: ApprovalPlan) => boolean | Promise<boolean>;
}

/** Takes the entries of removed packs (npm names) and servers (labels) out of the lock. Returns the names that it had. */
export async function recordRemovals(
  project: string,
  { packs, servers }: { packs: readonly string[]; servers: readonly string[] },
): Promise<string[]> {
  const lock = await readLock(project);
  if (lock === undefined) return [];
  const known = [
    ...packs.filter((name) => Object.hasOwn(lock.packs, name)),
    ...servers.filter((label) => Object.hasOwn(lock.servers, label)),
  ];
  if (known.length === 0) return [];
  const plan = await planChanges(known, { cwd: project, static: true }, false);
  const pruned = plan.narrow(plan.changes.filter(({ action }) => action === "prune"));
  return (await applyApproval(pruned)).pruned;
}
