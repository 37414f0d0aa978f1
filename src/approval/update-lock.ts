import { readConfig } from "../config/read-config.ts";
import { inspectionPort } from "../files/node-inspection-port.ts";
import type { InspectedPack } from "../inspection/types.ts";
import { describeUserServer } from "../lock/describe.ts";
import { isSameJson } from "../lock/json.ts";
import { changeLock, findLock, lockFileName } from "../lock/lock-file.ts";
import { changeParts, keyOf, type LockPlace, type Owner, ownerOf } from "../lock/parts.ts";
import { quoteForShell } from "../problems/text.ts";
import {
  type ApprovalChange,
  type ApprovalPlan,
  applyApproval,
  planApproval,
  planApprovals,
} from "./approve.ts";
import { Installation, type InstallationOptions, Targets } from "./installation.ts";

/** What is to be added: packs as their tarballs have them, and servers of the config by label. */
export interface Additions {
  packs: readonly InspectedPack[];
  /** Entries of `mcpServers`, and the versions of their packages. */
  servers: readonly { label: string; entry: Readonly<Record<string, unknown>>; version: string | null }[];
}

/** A plan of them: its text, empty if nothing is known, and what the lock would have. */
export type ShownAdditions = Pick<ApprovalPlan, "text" | "after">;

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
  const config = await readConfig(inspectionPort, { directory: project, config: { mcpServers } });
  const targets = new Targets([], true);
  const rules = { targets, mayStart: () => false, folder: project, isWhole: false };
  const installation = new Installation(found, config, rules);
  for (const server of config.subprocessServers) {
    const { version } = servers.find(({ label }) => label === server.name) ?? {};
    installation.checkServer(server, describeUserServer(server, version));
  }
  for (const inspected of packs) installation.checkPack({ inspected, problems: [], unusable: new Map() });
  installation.finish({ packs });
  return planApprovals(installation, targets);
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
  const { after } = shown;
  const isShown = ({ place, to }: ApprovalChange) =>
    place.kind === "entry" || isSameJson(after.get(keyOf(place))?.value, to);
  const plan = () => planApproval(names, { ...options, cwd: project, static: !starts });
  const everything = await plan();
  // A denial stays.
  const open = everything.changes.filter(({ from }) => from !== null);
  const waiting = new Set(open.filter((change) => !isShown(change)).map(({ name }) => name));
  const first = everything.narrow(open.filter(isShown));
  const approved = new Set((await applyApproval(first)).approved);
  const unlisted = new Set(first.unlistedServers);
  if (starts && unlisted.size > 0) {
    const again = await plan();
    const second = again.narrow(
      again.changes.filter(({ from, name }) => from !== null && !waiting.has(name)),
    );
    if (second.changes.every(isShown) || (await agree(second))) {
      for (const name of (await applyApproval(second)).approved) approved.add(name);
      for (const { name, to } of second.changes) if (to?.lists !== null) unlisted.delete(name);
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
  let gone: LockPlace[] = [];
  await changeLock(project, (lock = new Map()) => {
    const places = [...lock.values()].flatMap(({ place, value }) => (value === null ? [] : place));
    gone = places.filter(({ owner, entry }) => removed[`${owner}s`].includes(entry));
    const changes = gone.map((place) => ({ place, to: undefined }));
    return gone.length === 0 ? undefined : changeParts(lock, changes);
  });
  return [...new Set(gone.map(ownerOf))];
}
