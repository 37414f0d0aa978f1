import { readConfig } from "../config/read-config.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import type { InspectedPack } from "../inspection/types.ts";
import { describeUserServer } from "../lock/describe.ts";
import { isSameJson } from "../lock/json.ts";
import { changeLock, findLock, lockFileName } from "../lock/lock-file.ts";
import { changeParts, keyOf, type LockPart, type LockParts, type Owner, ownerOf } from "../lock/parts.ts";
import { quoteForShell } from "../problems/text.ts";
import { type ApprovalChange, ApprovalPlan, approve, planApprovals } from "./approve.ts";
import { type InstallationOptions, Recorder, Targets } from "./installation.ts";

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
  const everything = new Targets([], true);
  const recorder = new Recorder({ ...found, folder: project }, config, everything, () => false);
  for (const server of config.subprocessServers) {
    const { version } = servers.find(({ label }) => label === server.name) ?? {};
    recorder.checkServer(server, describeUserServer(server, version));
  }
  for (const inspected of packs) recorder.checkPack({ inspected, problems: [], unusable: new Map() });
  recorder.finish({ packs });
  const locked = recorder.result(found, true);
  const changes = planApprovals(locked, everything);
  const { text } = new ApprovalPlan(changes, locked, false);
  return { text, parts: changeParts(locked.lock, changes) };
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
  const isShown = ({ place, to }: ApprovalChange) =>
    place.kind === "entry" || isSameJson(shown.parts.get(keyOf(place))?.value, to);
  let waiting: ReadonlySet<string> | undefined;
  const select = (plan: ApprovalPlan) => {
    // A denial stays.
    const open = plan.changes.filter(({ from }) => from !== null);
    if (waiting !== undefined) return plan.narrow(open.filter(({ name }) => !waiting?.has(name)));
    waiting = new Set(open.filter((change) => !isShown(change)).map(({ name }) => name));
    return plan.narrow(open.filter(isShown));
  };
  const { result, unlisted } = await approve(
    names,
    { ...options, cwd: project, static: !starts },
    (plan) => plan.changes.every(isShown) || agree(plan),
    select,
  );
  const command = (name: string) => `Run \`trailblaze approve ${quoteForShell(name)}\` to`;
  return [
    ...(result.approved.length === 0 ? [] : [`Recorded in ${lockFileName}: ${result.approved.join(", ")}`]),
    ...[...(waiting ?? [])].map((name) => `${command(name)} read and approve it.`),
    ...unlisted.map((name) => `${command(name)} start it and approve its tools.`),
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
