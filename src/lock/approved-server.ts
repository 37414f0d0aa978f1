import type {
  AdvertisedPrompt,
  AdvertisedResource,
  AdvertisedResourceTemplate,
  AdvertisedTool,
} from "../mcp/client/connected-server.ts";
import type { ProblemPlace } from "../problems/index.ts";
import type { NotApproved } from "../problems/lock-problems.ts";
import type { ServerPlan } from "../runtime/server-launches.ts";
import { isSameJson, UnrecordableError } from "./canonical-json.ts";
import { deniedIn, findChanges, ownEntry } from "./compare.ts";
import {
  describeListedPrompt,
  describeListedResource,
  describeListedTool,
  linesOf,
} from "./describe-items.ts";
import type { LockScope } from "./lock-scope.ts";
import type { ListedKind } from "./parts.ts";
import type { LockedItem, LockedServer, LockFile } from "./types.ts";

function recordOf(describe: () => LockedItem): LockedItem | undefined {
  try {
    return describe();
  } catch (error) {
    if (error instanceof UnrecordableError) return undefined;
    throw error;
  }
}

/** The items of the lock, by what a server would say that lists them. */
const originals = new WeakMap<object, LockedItem>();

/** Notes which item of the lock an entry of a list was made from, so that it need not be compared. */
export function noteOriginal<Entry extends object>(entry: Entry, item: LockedItem): Entry {
  originals.set(entry, item);
  return entry;
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

  constructor(
    { label, source, pack, configPath }: ServerPlan,
    locked: LockedServer,
    denied: readonly string[],
    scope: LockScope,
  ) {
    const { item } = source;
    this.label = label;
    this.locked = locked;
    this.place =
      source.pack !== undefined && item !== undefined
        ? { pack: source.pack, kind: "server", item }
        : configPath === undefined
          ? {}
          : { path: configPath };
    this.entry = pack ?? label;
    this.#pack = pack;
    this.#denied = denied;
    this.#scope = scope;
  }

  /** Whether what a server lists by this name, or by the URI of a resource, is used without approval. */
  isFree(kind: ListedKind, own: string): boolean {
    return this.#scope.isListedFree(kind, this.label, own, this.#pack);
  }

  /** The server's own names of what was refused. */
  denied(kind: ListedKind): string[] {
    const prefix = this.#denialOf(kind, "");
    return this.#denied.flatMap((one) => (one.startsWith(prefix) ? [one.slice(prefix.length)] : []));
  }

  #denialOf(kind: string, own: string): string {
    const item = this.label.slice(this.label.lastIndexOf("/") + 1);
    return this.#pack === undefined ? `${kind}:${own}` : `${kind}:${item}/${own}`;
  }

  /** Why a listed tool is not used; `undefined` for one that is. */
  explainTool(tool: AdvertisedTool): NotApproved | undefined {
    return this.#explain("tool", tool, tool.name, this.locked.lists ?? undefined, (known) =>
      describeListedTool(tool, known),
    );
  }

  /** The same of a prompt. */
  explainPrompt(prompt: AdvertisedPrompt): NotApproved | undefined {
    return this.#explain("prompt", prompt, prompt.name, this.locked.prompts, () =>
      describeListedPrompt(prompt),
    );
  }

  /** The same of a resource, or of a template, with its URI or template. */
  explainResource(
    uri: string,
    resource: AdvertisedResource | AdvertisedResourceTemplate,
  ): NotApproved | undefined {
    const describe = () => describeListedResource(resource);
    return this.#explain("resource", resource, uri, this.locked.resources, describe);
  }

  /** `own`: what the lock has it by. */
  #explain(
    kind: ListedKind,
    listed: { name: string },
    own: string,
    approved: Record<string, LockedItem> | undefined,
    describe: (known: LockedItem | undefined) => LockedItem,
  ): NotApproved | undefined {
    const { label, entry } = this;
    const name = `${label}/${own}`;
    const refuse = (state: NotApproved["state"], differences: string[]) => ({
      name,
      state,
      differences,
      entry,
    });
    if (this.#denied.includes(this.#denialOf(kind, own))) return refuse("denied", []);
    if (this.isFree(kind, own)) return undefined;
    const before = ownEntry(approved, own);
    if (before !== undefined && originals.get(listed) === before) return undefined;
    const now = recordOf(() => describe(before));
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
