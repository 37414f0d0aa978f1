import type { SessionConfig, UserServer } from "../config/session-config.ts";
import { isRecord } from "../data/parse-json.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { type DiscoveredPack, isUnasked } from "../discovery/types.ts";
import { findReferences } from "../extension-schema/references.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { keyOfKind, kinds } from "../kinds.ts";
import type { ListedEntry, ListedKind } from "../mcp/client/server-lists.ts";
import { createProblem, failure, type Problem, type ProblemPlace } from "../problems/index.ts";
import type { NotApproved } from "../problems/lock-problems.ts";
import { placeOfServer, type ServerPlan } from "../runtime/server-launches.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import {
  describeInstalledServer,
  describeItem,
  describeListed,
  describeMember,
  describeNeeds,
  linesOf,
  lockedName,
  runsCode,
} from "./describe.ts";
import type { Gate, IsDenied, ListedServer, ListVerdict } from "./gate.ts";
import { findChanges, isSameJson, ownEntry } from "./json.ts";
import { deniedIn, type FoundLock, hasOnlyDenials } from "./lock-file.ts";
import { LockScope } from "./lock-scope.ts";
import { findListed, itemName, listedBy, listedKinds } from "./parts.ts";
import type { Json, LockedItem, LockedServer, LockFile } from "./types.ts";

/** A server that has started, and its entry in the lock. */
interface LockedListing {
  locked: LockedServer;
  /** The ids of what was refused. */
  deniedOf(kind: ListedKind): string[];
}

/** The items of the lock, by the entries of lists that were made from them, which need not be compared. */
const originals = new WeakMap<object, LockedItem>();

/** The text of its lines; `undefined` if there are none. */
const textOf = (lines: Json | undefined): string | undefined =>
  Array.isArray(lines) ? lines.join("\n") : undefined;

/** An entry of a list, with the description as text, the metadata as MCP names it, and what identifies the entry. */
function readListed(kind: ListedKind, id: string, item: LockedItem): ListedEntry {
  const { description, meta, ...others } = item;
  const text = textOf(description);
  // A URI has no braces.
  const isTemplate = kind === "resource" && id.includes("{");
  const key = kind !== "resource" ? "name" : isTemplate ? "uriTemplate" : "uri";
  const { inputSchema, name } = item;
  const entry = {
    ...others,
    ...(text !== undefined && { description: text }),
    ...(isRecord(meta) && { _meta: meta }),
    [key]: key === "name" && typeof name === "string" ? name : id,
    ...(kind === "tool" && { inputSchema: isRecord(inputSchema) ? inputSchema : {} }),
  };
  originals.set(entry, item);
  return { kind, list: isTemplate ? "resourceTemplates" : `${kind}s`, id, entry } as unknown as ListedEntry;
}

/** What the lock approves of a server, as the server would say it; `undefined` if it was never listed. */
function readApproved({ locked, deniedOf }: LockedListing): ListedServer | undefined {
  const { lists, instructions } = locked;
  if (lists == null) return undefined;
  const denied = deniedOf("tool").filter((name) => !Object.hasOwn(lists, name));
  return {
    entries: [
      ...[...listedBy(locked)].map(([kind, id, item]) => readListed(kind, id, item)),
      ...denied.map((name) => readListed("tool", name, {})),
    ],
    instructions: textOf(instructions),
  };
}

/** The same item without the references that its entry in the lock does not have. */
function narrowItem({ pack }: InspectedPack, item: InspectedItem, locked: LockedItem): InspectedItem {
  const approved = new Set(Array.isArray(locked.members) ? locked.members : []);
  const definition = { ...item.definition };
  const dropped = new Map<string, Set<number>>();
  for (const written of findReferences(item)) {
    if (approved.has(describeMember(written, pack))) continue;
    const [key, index] = written.path;
    dropped.set(String(key), (dropped.get(String(key)) ?? new Set()).add(Number(index)));
  }
  for (const [key, indexes] of dropped) {
    const list = definition[key];
    if (Array.isArray(list)) definition[key] = list.filter((_, index) => !indexes.has(index));
  }
  return { ...item, definition };
}

/** Holds what is installed against a lock. One object per state of a session; it reports each difference once. */
export class LockGate implements Gate {
  readonly #lock: LockFile;
  readonly #config: SessionConfig;
  readonly #scope: LockScope;
  /** Whether the lock is the project's: one above it may have more than a session. */
  readonly #isOwn: boolean;
  /** Whether any difference is an error. */
  readonly isFrozen: boolean;
  /** What differs, for `frozen`. */
  readonly #differences = new Set<string>();
  /** The packs and servers of the config whose packages have another version than was approved, by `pack NAME` or `config LABEL`. */
  readonly #updated = new Set<string>();
  /** Qualified names. */
  readonly #checked = new Set<string>();
  /** Qualified names of packs that are not locked because of their origin. */
  readonly #ownPacks = new Set<string>();
  readonly takesUnasked = (pack: string) => ownEntry(this.#lock.packs, pack)?.skills !== undefined;

  constructor(
    { lock, folder }: Pick<FoundLock, "lock" | "folder">,
    config: SessionConfig,
    { isFrozen }: { isFrozen: boolean },
  ) {
    this.#lock = lock;
    this.#config = config;
    this.#isOwn = folder === config.project;
    this.#scope = new LockScope(config, folder);
    this.isFrozen = isFrozen;
  }

  /** What is refused, and what to report. What packs without the field have, and a denial, is neither reported nor a difference. */
  #refuse(
    args: NotApproved,
    place: ProblemPlace,
    { isUnasked = false } = {},
  ): { refusal: Problem; problems: Problem[] } {
    const refusal = createProblem("NotApproved", args, place);
    if (args.state === "denied" || (isUnasked && args.state === "new")) return { refusal, problems: [] };
    this.#differences.add(args.name);
    return { refusal, problems: [refusal] };
  }

  #noteOutdated(name: string, reason: string, place: ProblemPlace): Problem {
    this.#differences.add(name);
    return createProblem("LockOutdated", { name, reason }, place);
  }

  checkServer(server: UserServer): { refusal?: Problem; problems: Problem[] } {
    const { name, path } = server;
    const place = { path };
    const locked = ownEntry(this.#lock.servers, name);
    const refuse = (state: NotApproved["state"], differences: string[] = []) =>
      this.#refuse({ name, state, differences, entry: name }, place);
    if (deniedIn(locked).includes(`server:${name}`)) return refuse("denied");
    if (this.#scope.isServerFree(name)) return { problems: [createProblem("NotLocked", { name }, place)] };
    if (locked?.launch === undefined) return refuse("new");
    const now = describeInstalledServer(this.#config.project, server);
    const changes = findChanges(locked.launch, now.launch);
    if (changes.length > 0) return refuse("changed", changes);
    if (locked.lists == null) this.#differences.add(name);
    return { problems: this.#compareVersions(name, locked.version, now.version, place) };
  }

  /** Compares the versions of a pack, or of the package of a server. Another version alone is no difference. */
  #compareVersions(name: string, locked: unknown, version: unknown, place: ProblemPlace): Problem[] {
    if (locked === version || typeof version !== "string") return [];
    this.#updated.add(`${place.pack === undefined ? "config" : "pack"} ${name}`);
    const was = typeof locked === "string" ? `version ${locked}` : "another version";
    const reason = `was approved as ${was}; ${version} is installed`;
    return [createProblem("LockOutdated", { name, reason }, place)];
  }

  checkPack(checked: CheckedPack): CheckedPack {
    const { inspected } = checked;
    const { pack } = inspected;
    const { qualifiedName: name } = pack;
    const place = { pack: pack.name };
    this.#checked.add(name);
    if (!this.#scope.hasPack(pack)) {
      this.#ownPacks.add(name);
      if (!this.#scope.isPackFree(name)) return checked;
      return { ...checked, problems: [...checked.problems, createProblem("NotLocked", { name }, place)] };
    }
    const locked = ownEntry(this.#lock.packs, pack.name);
    const unasked = { isUnasked: isUnasked(inspected) };
    const approved = new Set(Object.keys(locked?.skills ?? {}).map((key) => itemName("skill", key)));
    // Nobody asked for the others.
    const problems = checked.problems.filter(({ item = "" }) => !unasked.isUnasked || approved.has(item));
    /** Refuses all of the pack, or all that runs code. */
    const refuse = (state: NotApproved["state"], differences: string[]) => {
      const refused = this.#refuse({ name, state, differences, entry: name }, place, unasked);
      problems.push(...refused.problems);
      return refused.refusal;
    };
    let all: Problem | undefined;
    let code: Problem | undefined;
    if (locked === undefined) {
      const declared = kinds.flatMap((kind) => pack[keyOfKind[kind]].map((item) => item.name));
      all = refuse("new", declared);
    } else {
      if (!hasOnlyDenials(locked))
        problems.push(...this.#compareVersions(name, locked.version, pack.version ?? undefined, place));
      const changes = findChanges(locked.needs, describeNeeds(inspected), ["needs"]);
      if (changes.length > 0) code = refuse("changed", changes);
    }
    const unusable = new Map<InspectedItem, Problem>();
    const items = inspected.items.map((item) => {
      const broken = checked.unusable.get(item);
      if (broken !== undefined || item.definition === null) {
        if (broken !== undefined) unusable.set(item, broken);
        return item;
      }
      const verdict = this.#checkItem(inspected, item, all ?? (runsCode(item) ? code : undefined));
      problems.push(...verdict.problems);
      const { item: left = item, refusal } = verdict;
      if (refusal !== undefined) unusable.set(left, refusal);
      return left;
    });
    if (all === undefined) problems.push(...this.#findVanished(pack));
    return { inspected: { ...inspected, items }, problems, unusable };
  }

  /** `refusal`: why the pack's items of this sort are not used. `item`: what is left of it. */
  #checkItem(
    inspected: InspectedPack,
    item: InspectedItem,
    refusal: Problem | undefined,
  ): { item?: InspectedItem; refusal?: Problem | undefined; problems: Problem[] } {
    const { name: pack, qualifiedName: entry } = inspected.pack;
    const { qualifiedName } = item;
    const { kind, name } = item.declaration;
    const place = { pack, kind, item: name };
    const locked = ownEntry(this.#lock.packs, pack);
    const unasked = { isUnasked: isUnasked(inspected) };
    const refuse = (state: NotApproved["state"], differences: string[] = []) =>
      this.#refuse({ name: qualifiedName, state, differences, entry }, place, unasked);
    if (deniedIn(locked).includes(`${kind}:${lockedName(item)}`)) return refuse("denied");
    if (this.#scope.isItemFree(entry, kind, name, item.definition))
      return { problems: [createProblem("NotLocked", { name: qualifiedName }, place)] };
    if (refusal !== undefined) return { refusal, problems: [] };
    const before = ownEntry<LockedItem>(locked?.[keyOfKind[kind]], lockedName(item));
    const now = describeItem(inspected, item);
    if (now === undefined) return refuse("unrecordable");
    if (before === undefined) return refuse("new");
    // What a server says and lists is compared when it has started.
    const isLaunched = item.shape === "subprocessServer";
    const changes = isLaunched ? findChanges(before.launch, now.launch) : findChanges(before, now);
    if (changes.length === 0) {
      if (isLaunched && before.lists == null) this.#differences.add(qualifiedName);
      return { problems: [] };
    }
    if (!changes.every((path) => /^members(?:\.|$)/.test(path))) return refuse("changed", changes);
    const { problems } = refuse("changed", ["members"]);
    return { item: narrowItem(inspected, item, before), problems };
  }

  /** Items that the lock approves and that the pack no longer declares. */
  #findVanished(pack: DiscoveredPack): Problem[] {
    const locked = ownEntry(this.#lock.packs, pack.name);
    return kinds.flatMap((kind) => {
      const declared = new Set(pack[keyOfKind[kind]].map(({ name, path = name }) => path));
      return Object.keys(locked?.[keyOfKind[kind]] ?? {})
        .filter((key) => !declared.has(key))
        .map((key) => itemName(kind, key))
        .map((name) =>
          this.#noteOutdated(
            `${pack.qualifiedName}/${name}`,
            "is approved, but the pack no longer declares it",
            { pack: pack.name, kind, item: name },
          ),
        );
    });
  }

  finish({ packs }: FoundPacks): Problem[] {
    const { project, subprocessServers, unusedServers } = this.#config;
    const installed = new Set(packs.map(({ pack }) => pack.name));
    const servers = new Set([...subprocessServers, ...unusedServers].map(({ name }) => name));
    const problems: Problem[] = [];
    const noteGone = (names: ReadonlySet<string>, key: "packs" | "servers", as: (name: string) => string) => {
      for (const [name, entry] of Object.entries(this.#isOwn ? this.#lock[key] : {})) {
        if (names.has(name) || hasOnlyDenials(entry)) continue;
        const place = key === "packs" ? { pack: name } : {};
        problems.push(this.#noteOutdated(name, `is approved, but it is no longer ${as(name)}`, place));
      }
    };
    // A package without the field is a pack only while it has skills.
    noteGone(installed, "packs", (name) =>
      resolveFrom(createNodeInspectionPort(), project, name) ? "a pack" : "installed",
    );
    noteGone(servers, "servers", () => "in the config");
    // Nothing of the others is used, so they were not checked.
    for (const { pack } of packs)
      if (!pack.shadowed && !this.#checked.has(pack.qualifiedName))
        problems.push(...this.#findVanished(pack));
    this.refuseDifferences();
    return problems;
  }

  /** Throws `LockMismatch` if the lock is frozen and anything differs so far. */
  refuseDifferences(): void {
    if (!this.isFrozen || this.#differences.size === 0) return;
    throw failure("LockMismatch", { names: [...this.#differences].sort() });
  }

  findApproved(plan: ServerPlan): ListedServer | undefined {
    const server = this.#findServer(plan);
    const owner = plan.pack === undefined ? `config ${plan.label}` : `pack ${plan.pack}`;
    // The lock has no sizes of a skill's files, which clients want to know.
    const hasSkills = server?.locked.skills !== undefined;
    if (server === undefined || this.#updated.has(owner) || hasSkills) return undefined;
    return this.#scope.mayFreeListed(plan.label, plan.pack) ? undefined : readApproved(server);
  }

  checkList(plan: ServerPlan, listed: ListedServer, isDenied: IsDenied): ListVerdict {
    const verdict = this.#compareList(plan, listed, isDenied);
    this.refuseDifferences();
    return verdict;
  }

  /** A server that has started; `undefined` if it is not locked. */
  #findServer({ label, pack, source }: ServerPlan): LockedListing | undefined {
    if (pack !== undefined && (this.#ownPacks.has(pack) || this.#scope.isPackFree(pack))) return undefined;
    const { item = "" } = source;
    const ofPack = source.pack === undefined ? undefined : ownEntry(this.#lock.packs, source.pack);
    const locked =
      source.pack === undefined ? ownEntry(this.#lock.servers, label) : ownEntry(ofPack?.servers, item);
    // The launch was compared before: a server without an entry is not locked.
    if (locked === undefined || this.#scope.isServerFree(label)) return undefined;
    const deniedOf = (kind: ListedKind) => {
      const prefix = source.pack === undefined ? `${kind}:` : `${kind}:${item}/`;
      return deniedIn(ofPack ?? locked).flatMap((one) =>
        one.startsWith(prefix) ? [one.slice(prefix.length)] : [],
      );
    };
    return { locked, deniedOf };
  }

  #compareList(plan: ServerPlan, { entries, instructions }: ListedServer, isDenied: IsDenied): ListVerdict {
    const { label, pack } = plan;
    const refused = new Map<ListedEntry, Problem>();
    const problems: Problem[] = [];
    const verdict: ListVerdict = { refused, problems, vanished: [], instructions };
    const server = this.#findServer(plan);
    if (server === undefined) return verdict;
    const { locked, deniedOf } = server;
    const place = placeOfServer(plan);
    const entry = pack ?? label;
    const approved = [...listedBy(locked)];
    const reserve = (kind: ListedKind) => [
      ...approved.flatMap(([one, id, { name }]) =>
        one !== kind ? [] : [one === "tool" && typeof name === "string" ? name : id],
      ),
      ...deniedOf(kind),
    ];
    const resource = deniedOf("resource");
    verdict.reserved = { tool: reserve("tool"), prompt: reserve("prompt"), resource, skill: [] };
    const isListed = locked.lists != null;
    if (!isListed) verdict.instructions = undefined;
    else if (!isSameJson(linesOf(instructions), locked.instructions)) {
      const args = { name: label, state: "changed", differences: ["instructions"], entry } as const;
      return { ...verdict, refusal: this.#refuse(args, place).refusal };
    }
    for (const kind of listedKinds) {
      const denied = new Set(deniedOf(kind));
      const fresh: string[] = [];
      for (const one of entries) {
        if (one.kind !== kind || isDenied(one)) continue;
        const { id } = one;
        const refuse = (state: NotApproved["state"], differences: string[] = []) => {
          const { refusal } = this.#refuse({ name: `${label}/${id}`, state, differences, entry }, place);
          refused.set(one, refusal);
          return refusal;
        };
        if (denied.has(id)) {
          refuse("denied");
          continue;
        }
        if (this.#scope.isListedFree(kind, label, id, pack)) {
          problems.push(createProblem("NotLocked", { name: `${label}/${one.entry.name}` }, place));
          continue;
        }
        const before = findListed(locked, kind, id);
        if (before !== undefined && originals.get(one.entry) === before) continue;
        const now = describeListed(one);
        const changes = findChanges(before, now);
        if (now === undefined) problems.push(refuse("unrecordable"));
        else if (before === undefined) {
          refuse("new");
          fresh.push(id);
        } else if (changes.length > 0) problems.push(refuse("changed", changes));
      }
      if (fresh.length === 0) continue;
      // One for all of them: a new server may have hundreds.
      const isNew = kind === "tool" && isListed;
      const isOne = isNew && fresh.length === 1;
      const args: NotApproved = {
        name: isOne ? `${label}/${fresh[0]}` : label,
        state: isNew ? "new" : "unlisted",
        differences: isOne ? [] : fresh,
        entry,
        ...(!isOne && (isListed || kind !== "tool") && { list: `${kind}s` as const }),
      };
      problems.push(createProblem("NotApproved", args, place));
    }
    const listed = new Set(entries.map(({ kind, id }) => `${kind} ${id}`));
    for (const [kind, id] of approved) {
      if (listed.has(`${kind} ${id}`)) continue;
      const reason = "is approved, but the server no longer lists it";
      const problem = this.#noteOutdated(`${label}/${id}`, reason, place);
      problems.push(problem);
      verdict.vanished.push({ kind, id, problem });
    }
    return verdict;
  }
}
