import { sep } from "node:path";
import { matchesAny, matchesName } from "../config/packs-policy.ts";
import type { SessionConfig, UserServer } from "../config/session-config.ts";
import { isRecord } from "../data/parse-json.ts";
import { type DiscoveredPack, type FoundPack, isUnasked } from "../discovery/types.ts";
import { findReferences } from "../extension-schema/references.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { allItems } from "../kinds.ts";
import type { ListedEntry, ListedKind } from "../mcp/client/server-lists.ts";
import { createProblem, failure, type Problem, type ProblemPlace } from "../problems/index.ts";
import type { NotApproved } from "../problems/lock-problems.ts";
import type { ServerPlan } from "../runtime/server-launches.ts";
import type { CheckedPack } from "../validate/finding.ts";
import {
  describeInstalledServer,
  describeListed,
  describeMember,
  describePack,
  linesOf,
  placeOfItem,
  placesOf,
  runsCode,
} from "./describe.ts";
import type { IsDenied, ListedServer, ListVerdict } from "./gate.ts";
import { findChanges, isSameJson, type Json, type LockedItem } from "./json.ts";
import type { FoundLock } from "./lock-file.ts";
import {
  entryPlace,
  isDenied,
  itemName,
  keyOf,
  type LockPart,
  type LockParts,
  type LockPlace,
  listedPlace,
  nameOf,
  type Owner,
  ownerOf,
  partsOfEntry,
  placeOfLister,
} from "./parts.ts";

/** The items of the lock, by the entries of lists that were made from them, which need no description. */
const originals = new WeakMap<object, LockedItem>();

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

function narrowItem(item: InspectedItem, locked: LockedItem): InspectedItem {
  const approved = new Set(Array.isArray(locked.members) ? locked.members : []);
  const others = findReferences(item).filter((written) => !approved.has(describeMember(written, item)));
  const dropped = new Set(others.map(({ path: [key, index] }) => `${key} ${index}`));
  const left = Object.entries(item.definition ?? {}).map(([key, value]) => [
    key,
    Array.isArray(value) ? value.filter((_, index) => !dropped.has(`${key} ${index}`)) : value,
  ]);
  return { ...item, definition: Object.fromEntries(left) };
}

const argsOf = (refusal: Problem | undefined): Partial<NotApproved> =>
  refusal?.code === "NotApproved" ? refusal.args : {};

/**
 * Holds what is installed against a lock, before a session uses any of it: checks, then `finish`; lists at any time. One object
 * per reading of the project; it reports each difference once.
 */
export class LockGate {
  readonly locked: LockParts;
  /** What is there and was checked, as the lock would record it. */
  readonly installed = new Map<string, LockPart>();
  /** The same by entry: a lock may have thousands of parts, and a session asks about each pack. */
  readonly #partsByEntry = new Map<string, LockPart[]>();
  protected readonly config: SessionConfig;
  /** Patterns of what needs no approval. */
  readonly #unlocked: readonly string[];
  /** Of the lock. */
  readonly #folder: string;
  readonly isFrozen: boolean;
  /** What differs, for `frozen`. */
  readonly #differences = new Set<string>();
  /** The keys of entries that were approved with another version of their package. */
  readonly #updated = new Set<string>();
  readonly #checked = new Set<string>();
  readonly #freePacks = new Set<string>();
  /** npm names of packs of which nothing is said while it is new. */
  readonly unasked = new Set<string>();
  readonly unrecordable: Problem[] = [];

  constructor(
    { parts, folder }: Pick<FoundLock, "parts" | "folder">,
    config: SessionConfig,
    isFrozen: boolean,
  ) {
    this.locked = parts;
    for (const part of parts.values()) {
      const key = keyOf(entryPlace(part.place));
      const ofEntry = this.#partsByEntry.get(key);
      if (ofEntry === undefined) this.#partsByEntry.set(key, [part]);
      else ofEntry.push(part);
    }
    this.config = config;
    this.#unlocked = config.lock.unlocked.map((pattern) => pattern.replace(/^(\w+:)@/, "$1"));
    this.#folder = folder;
    this.isFrozen = isFrozen;
  }

  isServerFree(label: string): boolean {
    return matchesAny(this.#unlocked, [`server:${label}`]);
  }

  isPackFree(qualifiedName: string): boolean {
    return matchesAny(this.#unlocked, [`pack:${qualifiedName}`]);
  }

  /** Whether a pack is locked. The project's own packs are free only inside the lock's folder. */
  hasPack({ origin, qualifiedName, location }: DiscoveredPack): boolean {
    const isInside = `${location}${sep}`.startsWith(`${this.#folder}${sep}`);
    const isOwn = (origin === "self" || origin === "workspace") && isInside;
    return (!isOwn || this.config.lock.workspace) && !this.isPackFree(qualifiedName);
  }

  /** Whether an item of a pack needs no approval. `pack`: a qualified name. */
  isItemFree(pack: string, { declaration: { kind, name }, definition }: InspectedItem): boolean {
    if (kind === "server") return this.isServerFree(`${pack}/${name}`);
    if (kind === "toolset") return false;
    const own = kind === "resource" ? (definition?.uri ?? definition?.uriTemplate) : name;
    return typeof own === "string" && this.isListedFree(kind, pack, own, pack);
  }

  /** Whether what a server lists needs none. `id`: its name, or its URI. `pack`: the qualified name of the server's pack. */
  isListedFree(kind: ListedKind, label: string, id: string, pack: string | undefined): boolean {
    // A pattern with the name of a server and of a pack means the server.
    if (pack !== undefined && this.config.labels.includes(pack)) return false;
    return matchesAny(this.#unlocked, [`${kind}:${pack ?? label}/${itemName(kind, id)}`]);
  }

  /** Whether something that a server may list needs none. */
  #mayFreeListed({ label, pack: owner = label }: ServerPlan): boolean {
    const { length } = owner.split("/");
    return this.#unlocked.some((pattern) => {
      const [kind = "", name = ""] = pattern.split(/:(.*)/s);
      return (
        !["pack", "server"].includes(kind) && matchesName(name.split("/").slice(0, length).join("/"), owner)
      );
    });
  }

  #record(parts: Iterable<LockPart>): void {
    for (const part of parts) this.installed.set(keyOf(part.place), part);
  }

  #valueOf(place: LockPlace): LockedItem | undefined {
    return this.locked.get(keyOf(place))?.value ?? undefined;
  }

  #partsOf(owner: Owner, server?: string): LockPart[] {
    const parts = this.#partsByEntry.get(keyOf(entryPlace(owner))) ?? [];
    return parts.filter(({ place }) => place.server === server);
  }

  #skillsOf(pack: string): ReadonlySet<string> {
    const parts = this.#partsOf({ owner: "pack", entry: pack });
    const skills = parts.filter(({ place, value }) => place.kind === "skill" && value !== null);
    return new Set(skills.map(({ place: { kind, name } }) => itemName(kind, name)));
  }

  /** Whether it is shown the skills of a pack without the field. */
  takesUnasked(pack: string): boolean {
    return this.#skillsOf(pack).size > 0;
  }

  #problemAt({ owner, entry, kind, name, server }: LockPlace): ProblemPlace {
    const path = this.config.subprocessServers.find((one) => one.name === entry)?.path;
    if (owner === "server") return path === undefined ? {} : { path };
    if (kind === "entry" || kind === "needs") return { pack: entry };
    return server === undefined
      ? { pack: entry, kind, item: itemName(kind, name) }
      : { pack: entry, kind: "server", item: server };
  }

  /** Why a part is not used. A denial, and what is new without having been asked for, is neither reported nor a difference. */
  #refuse(
    place: LockPlace,
    state: NotApproved["state"],
    differences: readonly string[],
    reported: Problem[],
  ) {
    const args = { name: nameOf(place), state, differences, entry: ownerOf(place) };
    const refusal = createProblem("NotApproved", args, this.#problemAt(place));
    if (state === "unrecordable") this.unrecordable.push(refusal);
    const isUnasked = place.owner === "pack" && this.unasked.has(place.entry);
    if (state === "denied" || (state === "new" && isUnasked)) return refusal;
    this.#differences.add(args.name);
    reported.push(refusal);
    return refusal;
  }

  /** Why a part that is there is not used. What a server says and lists is compared when it has started. */
  #judge(place: LockPlace, now: LockedItem | null | undefined, isFree: boolean, reported: Problem[]) {
    if (isDenied(this.locked, place)) return this.#refuse(place, "denied", [], reported);
    if (isFree) {
      reported.push(this.#noteFree(place));
      return undefined;
    }
    const before = this.#valueOf(place);
    if (now == null) return this.#refuse(place, "unrecordable", [], reported);
    if (before === undefined) return this.#refuse(place, "new", [], reported);
    const isLaunched = place.kind === "server" && now.launch !== undefined;
    const changes = isLaunched ? findChanges(before.launch, now.launch) : findChanges(before, now);
    if (changes.length > 0) return this.#refuse(place, "changed", changes, reported);
    if (isLaunched && before.lists === null) this.#differences.add(nameOf(place));
    return undefined;
  }

  #noteFree(place: LockPlace): Problem {
    return createProblem("NotLocked", { name: nameOf(place) }, this.#problemAt(place));
  }

  #noteVanished(place: LockPlace, reason: string): Problem {
    const name = nameOf(place);
    this.#differences.add(name);
    return createProblem(
      "LockOutdated",
      { name, reason: `is approved, but ${reason}` },
      this.#problemAt(place),
    );
  }

  /** Another version of a pack, or of the package of a server, alone is no difference. */
  #compareVersions(owner: Owner, version: unknown): Problem[] {
    const place = entryPlace(owner);
    const locked = this.#valueOf(place);
    if (locked === undefined || locked.version === version || typeof version !== "string") return [];
    this.#updated.add(keyOf(place));
    const was = typeof locked.version === "string" ? `version ${locked.version}` : "another version";
    const reason = `was approved as ${was}; ${version} is installed`;
    return [createProblem("LockOutdated", { name: ownerOf(owner), reason }, this.#problemAt(place))];
  }

  /** `now`: as the lock would record it. */
  checkServer(
    server: UserServer,
    now = describeInstalledServer(this.config.project, server),
  ): { refusal: Problem | undefined; problems: Problem[] } {
    const { name } = server;
    const place = { owner: "server", entry: name, kind: "server", name } as const;
    const isFree = this.isServerFree(name);
    if (!isFree) this.#record(partsOfEntry(place, now));
    const problems: Problem[] = [];
    const refusal = this.#judge(place, now, isFree, problems);
    if (refusal === undefined && !isFree) problems.push(...this.#compareVersions(place, now.version));
    return { refusal, problems };
  }

  /** The same pack, with the items that may not be used as unusable ones. */
  checkPack(checked: CheckedPack): CheckedPack {
    const { inspected } = checked;
    const { pack } = inspected;
    const entry = entryPlace({ owner: "pack", entry: pack.name });
    this.#checked.add(pack.name);
    if (!this.hasPack(pack)) {
      this.#freePacks.add(pack.name);
      const isNamed = this.isPackFree(pack.qualifiedName);
      return isNamed ? { ...checked, problems: [...checked.problems, this.#noteFree(entry)] } : checked;
    }
    const locked = inspected.items.filter((item) => !this.isItemFree(pack.qualifiedName, item));
    this.#record(describePack(inspected, locked));
    const approved = this.#skillsOf(pack.name);
    if (isUnasked(inspected)) this.unasked.add(pack.name);
    // Nobody asked for the others.
    const problems = checked.problems.filter(({ item = "" }) => !isUnasked(inspected) || approved.has(item));
    const declared = allItems(pack).map((item) => item.name);
    problems.push(...this.#compareVersions(entry, pack.version));
    const isNew = this.#partsOf(entry).length === 0;
    const all = isNew ? this.#refuse(entry, "new", declared, problems) : undefined;
    const needs = { ...entry, kind: "needs", name: "needs" } as const;
    const changes = isNew
      ? []
      : findChanges(this.#valueOf(needs), this.installed.get(keyOf(needs))?.value ?? undefined, ["needs"]);
    const code = changes.length > 0 ? this.#refuse(needs, "changed", changes, problems) : all;
    const unusable = new Map<InspectedItem, Problem>();
    const items = inspected.items.map((item) => {
      const broken = checked.unusable.get(item);
      if (broken !== undefined) unusable.set(item, broken);
      if (broken !== undefined || item.definition === null) return item;
      const place = placeOfItem(item);
      const isFree = this.isItemFree(pack.qualifiedName, item);
      const now = this.installed.get(keyOf(place))?.value;
      const ofSort = runsCode(item) ? code : all;
      const isLeft = ofSort === undefined || !now || isFree || isDenied(this.locked, place);
      const refusal = isLeft ? this.#judge(place, now, isFree, problems) : ofSort;
      const locked = this.#valueOf(place);
      const { state, differences } = argsOf(refusal);
      if (locked && state === "changed" && differences?.join() === "members") return narrowItem(item, locked);
      if (refusal !== undefined) unusable.set(item, refusal);
      return item;
    });
    problems.push(...this.#findVanished(pack));
    return { inspected: { ...inspected, items }, problems, unusable };
  }

  #findVanished(pack: DiscoveredPack): Problem[] {
    const declared = new Set(placesOf(pack).map(keyOf));
    return this.#partsOf({ owner: "pack", entry: pack.name })
      .filter(({ place, value }) => value && !declared.has(keyOf(place)))
      .map(({ place }) => this.#noteVanished(place, "the pack no longer declares it"));
  }

  /** What is left to report after all packs. Throws `TrailblazeError` `LockMismatch` if nothing may differ. */
  finish({ packs }: { packs: readonly FoundPack[] }): Problem[] {
    const { project, labels } = this.config;
    const there = {
      pack: new Set(packs.map(({ pack }) => pack.name)),
      server: new Set(labels),
    };
    const problems: Problem[] = [];
    // A lock above the project may have more than a session.
    for (const { place } of this.#folder === project ? this.locked.values() : []) {
      if (place.kind !== "entry" || there[place.owner].has(place.entry)) continue;
      const was = place.owner === "server" ? "in the config" : "an installed pack";
      problems.push(this.#noteVanished(place, `it is no longer ${was}`));
    }
    // Nothing of the others is used, so they were not checked.
    for (const { pack } of packs)
      if (!pack.shadowed && !this.#checked.has(pack.name)) problems.push(...this.#findVanished(pack));
    this.refuseDifferences();
    return problems;
  }

  /** Throws `LockMismatch` if the lock is frozen and anything differs so far. */
  refuseDifferences(): void {
    if (!this.isFrozen || this.#differences.size === 0) return;
    throw failure("LockMismatch", { names: [...this.#differences].sort() });
  }

  /** What the lock has of a server that has started; `undefined` if it is not locked. */
  #findServer(plan: ServerPlan) {
    const place = placeOfLister(plan);
    const server = this.#valueOf(place);
    const isFree = this.isServerFree(plan.label) || this.#freePacks.has(plan.source.pack ?? "");
    // The launch was compared before: a server without an entry is not locked.
    if (server === undefined || isFree) return undefined;
    const parts = this.#partsOf(place, place.name);
    const listed = parts.filter(({ value }) => value !== null);
    return { place, server, listed, denied: parts.filter(({ value }) => value === null) };
  }

  /** What the lock approves of a server, after it was checked; `undefined` if it must start to know its lists. */
  findApproved(plan: ServerPlan): ListedServer | undefined {
    const found = this.#findServer(plan);
    if (found?.server.lists == null || this.#updated.has(keyOf(entryPlace(found.place)))) return undefined;
    const { server, listed, denied } = found;
    // The lock has no sizes of a skill's files, which clients want to know.
    const hasSkills = listed.some((part) => part.place.kind === "skill");
    if (hasSkills || this.#mayFreeListed(plan)) return undefined;
    const refused = denied.filter((part) => part.place.kind === "tool");
    const entries = [...refused, ...listed].map(({ place: { kind, name }, value }) =>
      readListed(kind as ListedKind, name, value ?? {}),
    );
    return { entries, instructions: textOf(server.instructions) };
  }

  /** Checks what a server that has started says. Throws `LockMismatch`. */
  checkList(plan: ServerPlan, { entries, instructions }: ListedServer, isExcluded: IsDenied): ListVerdict {
    const { label, pack } = plan;
    const verdict: ListVerdict = { refused: new Map(), problems: [], vanished: [], instructions };
    const { problems } = verdict;
    const found = this.#findServer(plan);
    if (found === undefined) return verdict;
    const { place, server, listed, denied } = found;
    const idsOf = (kind: ListedKind, parts: readonly LockPart[]) =>
      parts
        .filter((part) => part.place.kind === kind)
        .map((part) => String((kind === "tool" && part.value?.name) || part.place.name));
    verdict.reserved = {
      tool: idsOf("tool", [...listed, ...denied]),
      prompt: idsOf("prompt", [...listed, ...denied]),
      resource: idsOf("resource", denied),
      skill: [],
    };
    const isListed = server.lists !== null;
    if (!isListed) verdict.instructions = undefined;
    else if (!isSameJson(linesOf(instructions), server.instructions)) {
      verdict.refusal = this.#refuse(place, "changed", ["instructions"], []);
    }
    const fresh: string[] = [];
    const ofFresh: Problem[] = [];
    const gone = new Map(listed.map((part) => [keyOf(part.place), part.place]));
    for (const one of entries) {
      const listedAt = listedPlace(place, one.kind, one.id);
      gone.delete(keyOf(listedAt));
      if (isExcluded(one)) continue;
      const isFree = this.isListedFree(one.kind, label, one.id, pack);
      const value = originals.get(one.entry) ?? describeListed(one);
      if (value !== undefined && !isFree) this.#record([{ place: listedAt, value }]);
      const told: Problem[] = [];
      const refusal = this.#judge(listedAt, value, isFree, told);
      if (refusal !== undefined) verdict.refused.set(one, refusal);
      const isNew = argsOf(refusal).state === "new";
      if (isNew) fresh.push(one.id);
      (isNew ? ofFresh : problems).push(...told);
    }
    // One for all that is new: a server may list hundreds.
    if (isListed && fresh.length === 1) problems.push(...ofFresh);
    else if (fresh.length > 0) this.#refuse(place, "unlisted", fresh, problems);
    for (const listedAt of gone.values()) {
      const problem = this.#noteVanished(listedAt, "the server no longer lists it");
      problems.push(problem);
      verdict.vanished.push({ kind: listedAt.kind as ListedKind, id: listedAt.name, problem });
    }
    this.refuseDifferences();
    return verdict;
  }
}
