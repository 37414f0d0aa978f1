import type { SessionConfig, UserServer } from "../config/session-config.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import { findReferences } from "../extension-schema/references.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { keyOfKind, kinds } from "../kinds.ts";
import type { ListedEntry, ListedKind } from "../mcp/client/server-lists.ts";
import { createProblem, failure, type Problem, type ProblemPlace } from "../problems/index.ts";
import type { NotApproved } from "../problems/lock-problems.ts";
import type { ServerPlan } from "../runtime/server-launches.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import { type ApprovedServer, findApprovedServer } from "./approved-server.ts";
import { deniedIn, findChanges, hasOnlyDenials, ownEntry } from "./compare.ts";
import { describeMember, describeUserServer } from "./describe-items.ts";
import { describeNeeds, describeRecordable, runsCode } from "./describe-pack.ts";
import type { FoundLock } from "./find-lock.ts";
import type { Gate, IsDenied, ListedServer, ListVerdict } from "./gate.ts";
import { readInstalledVersion } from "./installed.ts";
import { LockScope } from "./lock-scope.ts";
import { listedBy, listedKinds } from "./parts.ts";
import type { LockedItem, LockedServer, LockFile } from "./types.ts";

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

  /** Qualified names of packs that are not locked because of their origin. */
  readonly #ownPacks = new Set<string>();
  /** The qualified names of the items of each pack, by its qualified name. */
  readonly #items = new Map<string, ReadonlySet<string>>();

  #refuse(args: NotApproved, place: ProblemPlace): Problem {
    this.#differences.add(args.name);
    return createProblem("NotApproved", args, place);
  }

  #noteOutdated(name: string, reason: string, place: ProblemPlace, isDifference = true): Problem {
    if (isDifference) this.#differences.add(name);
    return createProblem("LockOutdated", { name, reason }, place);
  }

  checkServer(server: UserServer): { refusal?: Problem; problems: Problem[] } {
    const { name, path } = server;
    const place = { path };
    const locked = ownEntry(this.#lock.servers, name);
    const isRefused = deniedIn(locked).includes(`server:${name}`);
    if (!isRefused && this.#scope.isServerFree(name))
      return { problems: [createProblem("NotLocked", { name }, place)] };
    const now = describeUserServer(server, readInstalledVersion(this.#config.project, server));
    const refuse = (state: NotApproved["state"], differences: string[]) => {
      const refusal = this.#refuse({ name, state, differences, entry: name }, place);
      return { refusal, problems: [refusal] };
    };
    if (locked === undefined) return refuse("new", []);
    if (isRefused) {
      const args = { name, state: "denied", differences: [], entry: name } as const;
      return { refusal: createProblem("NotApproved", args, place), problems: [] };
    }
    if (locked.launch === undefined) return refuse("new", []);
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
    return [this.#noteOutdated(name, reason, place, false)];
  }

  /** Why nothing of a pack is used, or nothing that runs code. */
  #findPackRefusal(inspected: InspectedPack): { all?: Problem; code?: Problem; problems: Problem[] } {
    const { pack } = inspected;
    const { name, qualifiedName } = pack;
    const place = { pack: name };
    const locked = ownEntry(this.#lock.packs, name);
    const entry = qualifiedName;
    if (locked === undefined) {
      const differences = kinds.flatMap((kind) => pack[keyOfKind[kind]].map((item) => item.name));
      return {
        all: this.#refuse({ name: qualifiedName, state: "new", differences, entry }, place),
        problems: [],
      };
    }
    const problems = this.#compareVersions(qualifiedName, locked.version, pack.version ?? undefined, place);
    const changes = findChanges(locked.needs, describeNeeds(inspected), ["needs"]);
    if (changes.length === 0) return { problems };
    const args = { name: qualifiedName, state: "changed", differences: changes, entry } as const;
    return { code: this.#refuse(args, place), problems };
  }

  checkPack(checked: CheckedPack): CheckedPack {
    const { inspected } = checked;
    const { pack } = inspected;
    this.#items.set(pack.qualifiedName, new Set(inspected.items.map((item) => item.qualifiedName)));
    if (!this.#scope.hasPack(pack)) {
      this.#ownPacks.add(pack.qualifiedName);
      if (!this.#scope.isPackFree(pack.qualifiedName)) return checked;
      const free = createProblem("NotLocked", { name: pack.qualifiedName }, { pack: pack.name });
      return { ...checked, problems: [...checked.problems, free] };
    }
    const { all, code, problems: found } = this.#findPackRefusal(inspected);
    const problems = [...found, ...[all, code].filter((problem) => problem !== undefined)];
    const unusable = new Map<InspectedItem, Problem>();
    const items = inspected.items.map((item) => {
      const broken = checked.unusable.get(item);
      if (broken !== undefined || item.definition === null) {
        if (broken !== undefined) unusable.set(item, broken);
        return item;
      }
      const verdict = this.#checkItem(inspected, item, all ?? (runsCode(item) ? code : undefined));
      problems.push(...verdict.problems);
      if (verdict.refusal !== undefined) unusable.set(verdict.item, verdict.refusal);
      return verdict.item;
    });
    if (all === undefined) problems.push(...this.#findVanished(pack));
    return {
      inspected: { ...inspected, items },
      problems: [...checked.problems, ...problems],
      unusable,
    };
  }

  /** `refusal`: why the pack's items of this sort are not used. */
  #checkItem(
    inspected: InspectedPack,
    item: InspectedItem,
    refusal: Problem | undefined,
  ): { item: InspectedItem; refusal?: Problem; problems: Problem[] } {
    const { name: pack, qualifiedName: entry } = inspected.pack;
    const { kind, name } = item.declaration;
    const place = { pack, kind, item: name };
    const locked = ownEntry(this.#lock.packs, pack);
    if (locked?.denied?.includes(`${kind}:${name}`)) {
      const args = { name: item.qualifiedName, state: "denied", differences: [], entry } as const;
      return { item, refusal: createProblem("NotApproved", args, place), problems: [] };
    }
    if (this.#scope.isItemFree(entry, kind, name, item.definition)) {
      return { item, problems: [createProblem("NotLocked", { name: item.qualifiedName }, place)] };
    }
    if (refusal !== undefined) return { item, refusal, problems: [] };
    const refuse = (state: NotApproved["state"], differences: string[]) => {
      const problem = this.#refuse({ name: item.qualifiedName, state, differences, entry }, place);
      return { item, refusal: problem, problems: [problem] };
    };
    const before = ownEntry<LockedItem>(locked?.[keyOfKind[kind]], name);
    const now = describeRecordable(inspected, item, before);
    if (now === undefined) return refuse("unrecordable", []);
    if (before === undefined) return refuse("new", []);
    // What a server says and lists is compared when it has started.
    const isLaunched = item.shape === "subprocessServer";
    const changes = isLaunched ? findChanges(before.launch, now.launch) : findChanges(before, now);
    if (changes.length === 0) {
      if (isLaunched && (before as LockedServer).lists == null) this.#differences.add(item.qualifiedName);
      return { item, problems: [] };
    }
    if (changes.every((path) => /^members(?:\.|$)/.test(path))) {
      const { refusal: problem } = refuse("changed", ["members"]);
      return { item: narrowItem(inspected, item, before), problems: [problem] };
    }
    return refuse("changed", changes);
  }

  /** Items that the lock approves and that the pack no longer declares. */
  #findVanished(pack: DiscoveredPack): Problem[] {
    const locked = ownEntry(this.#lock.packs, pack.name);
    return kinds.flatMap((kind) => {
      const declared = new Set(pack[keyOfKind[kind]].map(({ name }) => name));
      return Object.keys(locked?.[keyOfKind[kind]] ?? {})
        .filter((name) => !declared.has(name))
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
    const { subprocessServers, unusedServers } = this.#config;
    const installed = new Set(packs.map(({ pack }) => pack.name));
    // Nothing of them is used, so they were not checked.
    const unchecked = packs.filter(
      ({ pack }) =>
        !pack.shadowed && !this.#items.has(pack.qualifiedName) && Object.hasOwn(this.#lock.packs, pack.name),
    );
    const servers = new Set([...subprocessServers, ...unusedServers].map(({ name }) => name));
    const gone = "is approved, but it is no longer";
    const problems = !this.#isOwn
      ? []
      : [
          ...Object.entries(this.#lock.packs)
            .filter(([name, entry]) => !installed.has(name) && !hasOnlyDenials(entry))
            .map(([name]) => this.#noteOutdated(name, `${gone} installed`, { pack: name })),
          ...Object.entries(this.#lock.servers)
            .filter(([name, entry]) => !servers.has(name) && !hasOnlyDenials(entry))
            .map(([name]) => this.#noteOutdated(name, `${gone} in the config`, {})),
        ];
    problems.push(...unchecked.flatMap(({ pack }) => this.#findVanished(pack)));
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
    if (server === undefined || this.#updated.has(owner)) return undefined;
    return this.#scope.mayFreeListed(plan.label, plan.pack) ? undefined : server.readListed();
  }

  checkList(plan: ServerPlan, listed: ListedServer, isDenied: IsDenied): ListVerdict {
    const verdict = this.#compareList(plan, listed, isDenied);
    this.refuseDifferences();
    return verdict;
  }

  /** The entry of a server that has started; `undefined` if it is not locked. */
  #findServer(plan: ServerPlan): ApprovedServer | undefined {
    if (plan.pack !== undefined && this.#ownPacks.has(plan.pack)) return undefined;
    return findApprovedServer(this.#lock, plan, this.#scope);
  }

  #compareList(plan: ServerPlan, { entries, instructions }: ListedServer, isDenied: IsDenied): ListVerdict {
    const refused = new Map<ListedEntry, Problem>();
    const verdict: ListVerdict = { refused, problems: [], vanished: [], instructions };
    const { problems } = verdict;
    const server = this.#findServer(plan);
    if (server === undefined) return verdict;
    const { label, locked, place, entry } = server;
    const approved = [...listedBy(locked)];
    const reserve = (kind: ListedKind) => [
      ...approved.flatMap(([one, id]) => (one === kind ? [id] : [])),
      ...server.denied(kind),
    ];
    verdict.reserved = { tool: reserve("tool"), prompt: reserve("prompt"), resource: [] };
    const isListed = locked.lists != null;
    if (!isListed) verdict.instructions = undefined;
    const said = isListed ? server.explainInstructions(instructions) : undefined;
    if (said !== undefined) return { ...verdict, refusal: this.#refuse(said, place) };
    for (const kind of listedKinds) {
      const fresh: string[] = [];
      for (const one of entries) {
        if (one.kind !== kind || isDenied(one)) continue;
        const why = server.explain(one);
        if (why === undefined) {
          const name = `${label}/${one.entry.name}`;
          if (server.isFree(one)) problems.push(createProblem("NotLocked", { name }, place));
          continue;
        }
        const problem = createProblem("NotApproved", why, place);
        refused.set(one, problem);
        if (why.state === "denied") continue;
        this.#differences.add(why.name);
        if (why.state === "new") fresh.push(one.id);
        else problems.push(problem);
      }
      if (fresh.length === 0) continue;
      // One for all of them: a new server may have hundreds.
      const isNew = kind === "tool" && isListed;
      const isOne = isNew && fresh.length === 1;
      const args = {
        name: isOne ? `${label}/${fresh[0]}` : label,
        state: isNew ? "new" : "unlisted",
        differences: isOne ? [] : fresh,
        entry,
        ...(isOne || (kind === "tool" && !isListed) ? {} : { list: `${kind}s` as const }),
      } as const;
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
