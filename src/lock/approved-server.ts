import { isRecord } from "../data/parse-json.ts";
import type { ListedEntry, ListedKind } from "../mcp/client/server-lists.ts";
import type { ProblemPlace } from "../problems/index.ts";
import type { NotApproved } from "../problems/lock-problems.ts";
import { placeOfServer, type ServerPlan } from "../runtime/server-launches.ts";
import { isSameJson, UnrecordableError } from "./canonical-json.ts";
import { deniedIn, findChanges, ownEntry } from "./compare.ts";
import { describeListed, linesOf } from "./describe-items.ts";
import type { ListedServer } from "./gate.ts";
import type { LockScope } from "./lock-scope.ts";
import { findListed, listedBy } from "./parts.ts";
import type { Json, LockedItem, LockedServer, LockFile } from "./types.ts";

function recordOf(describe: () => LockedItem): LockedItem | undefined {
  try {
    return describe();
  } catch (error) {
    if (error instanceof UnrecordableError) return undefined;
    throw error;
  }
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
  const { inputSchema } = item;
  const entry = {
    ...others,
    ...(text === undefined ? {} : { description: text }),
    ...(isRecord(meta) ? { _meta: meta } : {}),
    [key]: id,
    ...(kind === "tool" ? { inputSchema: isRecord(inputSchema) ? inputSchema : {} } : {}),
  };
  originals.set(entry, item);
  return { kind, list: isTemplate ? "resourceTemplates" : `${kind}s`, id, entry } as unknown as ListedEntry;
}

/** A server that has started, its entry in the lock, and the place of its problems. */
export class ApprovedServer {
  readonly label: string;
  readonly locked: LockedServer;
  readonly place: ProblemPlace;
  /** What `trailblaze diff` shows it by. */
  readonly entry: string;
  readonly #pack: string | undefined;
  readonly #denied: readonly string[];
  readonly #scope: LockScope;

  constructor(plan: ServerPlan, locked: LockedServer, denied: readonly string[], scope: LockScope) {
    const { label, pack } = plan;
    this.label = label;
    this.locked = locked;
    this.place = placeOfServer(plan);
    this.entry = pack ?? label;
    this.#pack = pack;
    this.#denied = denied;
    this.#scope = scope;
  }

  /** What the lock approves of the server, as it would say it; `undefined` if it was never listed. */
  readListed(): ListedServer | undefined {
    const { lists, instructions } = this.locked;
    if (lists == null) return undefined;
    const denied = this.denied("tool").filter((name) => !Object.hasOwn(lists, name));
    return {
      entries: [
        ...[...listedBy(this.locked)].map(([kind, id, item]) => readListed(kind, id, item)),
        ...denied.map((name) => readListed("tool", name, {})),
      ],
      instructions: textOf(instructions),
    };
  }

  /** Whether an entry of the server's lists is used without approval. */
  isFree({ kind, id }: ListedEntry): boolean {
    return this.#scope.isListedFree(kind, this.label, id, this.#pack);
  }

  /** The ids of what was refused. */
  denied(kind: ListedKind): string[] {
    const prefix = this.#denialOf(kind, "");
    return this.#denied.flatMap((one) => (one.startsWith(prefix) ? [one.slice(prefix.length)] : []));
  }

  #denialOf(kind: ListedKind, id: string): string {
    const item = this.label.slice(this.label.lastIndexOf("/") + 1);
    return this.#pack === undefined ? `${kind}:${id}` : `${kind}:${item}/${id}`;
  }

  /** Why an entry of the server's lists is not used; `undefined` for one that is. */
  explain(listed: ListedEntry): NotApproved | undefined {
    const { kind, id } = listed;
    const refuse = (state: NotApproved["state"], differences: string[]) => ({
      name: `${this.label}/${id}`,
      state,
      differences,
      entry: this.entry,
    });
    if (this.#denied.includes(this.#denialOf(kind, id))) return refuse("denied", []);
    if (this.isFree(listed)) return undefined;
    const before = findListed(this.locked, kind, id);
    if (before !== undefined && originals.get(listed.entry) === before) return undefined;
    const now = recordOf(() => describeListed(listed, before));
    if (now === undefined) return refuse("unrecordable", []);
    if (before === undefined) return refuse("new", []);
    const changes = findChanges(before, now);
    return changes.length === 0 ? undefined : refuse("changed", changes);
  }

  /** Why the instructions of the server are not used. */
  explainInstructions(instructions: string | undefined): NotApproved | undefined {
    const { label: name, locked, entry } = this;
    const isApproved = isSameJson(linesOf(instructions), locked.instructions);
    return isApproved ? undefined : { name, state: "changed", differences: ["instructions"], entry };
  }
}

/** The entry of a server that has started; `undefined` if it is not locked. */
export function findApprovedServer(
  lock: LockFile,
  plan: ServerPlan,
  scope: LockScope,
): ApprovedServer | undefined {
  const { label, pack, source } = plan;
  const isFree = scope.isServerFree(label) || (pack !== undefined && scope.isPackFree(pack));
  const owner = source.pack === undefined ? undefined : ownEntry(lock.packs, source.pack);
  const locked =
    source.pack === undefined ? ownEntry(lock.servers, label) : ownEntry(owner?.servers, source.item ?? "");
  // The launch was compared before: a server without an entry is not locked.
  if (isFree || locked === undefined) return undefined;
  return new ApprovedServer(plan, locked, deniedIn(source.pack === undefined ? locked : owner), scope);
}
