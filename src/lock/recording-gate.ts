import type { SessionConfig, UserServer } from "../config/session-config.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { keyOfKind, kinds } from "../kinds.ts";
import type { ListedKind } from "../mcp/client/server-lists.ts";
import { createProblem, type Problem, type ProblemPlace } from "../problems/index.ts";
import { placeOfServer, type ServerPlan } from "../runtime/server-launches.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import { UnrecordableError } from "./canonical-json.ts";
import { ownEntry } from "./compare.ts";
import { describeListed, describeUserServer, linesOf } from "./describe-items.ts";
import { describePack } from "./describe-pack.ts";
import type { Gate, IsDenied, ListedServer, ListVerdict } from "./gate.ts";
import { readInstalledVersion } from "./installed.ts";
import { LockScope } from "./lock-scope.ts";
import type { ServerPlace } from "./parts.ts";
import type { LockedItem, LockedPack, LockedServer } from "./types.ts";

/** A pack that a session would use. */
export interface RecordedPack {
  pack: DiscoveredPack;
  entry: LockedPack;
  /** Declared items that are not in the entry, as `kind:name`: excluded by the config, or without a valid definition. */
  unknown: ReadonlySet<string>;
}

const refusedName = "not used";

/** Approves nothing: records what a session would use, and lets only chosen servers start, to take their lists. */
export class RecordingGate implements Gate {
  readonly isFrozen = false;
  readonly scope: LockScope;
  /** By npm name. */
  readonly packs = new Map<string, RecordedPack>();
  /** By label. */
  readonly servers = new Map<string, LockedServer>();
  /** What discovery and the checks of packs report. */
  readonly problems: Problem[] = [];
  found: FoundPacks | undefined;
  readonly #mayStart: (place: ServerPlace, launch: LockedServer) => boolean;
  readonly #project: string;
  readonly #refusal = createProblem("NotApproved", {
    name: refusedName,
    state: "new",
    differences: [],
    entry: refusedName,
  });

  constructor(
    config: SessionConfig,
    mayStart: (place: ServerPlace, launch: LockedServer) => boolean = () => false,
    folder?: string,
  ) {
    this.scope = new LockScope(config, folder);
    this.#mayStart = mayStart;
    this.#project = config.project;
  }

  #noteUnrecordable(name: string, entry: string, place: ProblemPlace): void {
    const args = { name, state: "unrecordable", differences: [], entry } as const;
    this.problems.push(createProblem("NotApproved", args, place));
  }

  checkServer(server: UserServer): { refusal?: Problem; problems: Problem[] } {
    const refused = { refusal: this.#refusal, problems: [] };
    if (this.scope.isServerFree(server.name)) return refused;
    const entry = describeUserServer(server, readInstalledVersion(this.#project, server));
    this.servers.set(server.name, entry);
    const place = { owner: "server", entry: server.name, name: server.name } as const;
    return this.#mayStart(place, entry) ? { problems: [] } : refused;
  }

  checkPack(checked: CheckedPack): CheckedPack {
    const { inspected } = checked;
    const { pack, items } = inspected;
    this.problems.push(...checked.problems);
    const isLocked = this.scope.hasPack(pack);
    if (isLocked) this.#record(checked);
    const servers = this.packs.get(pack.name)?.entry.servers;
    const mayStart = ({ shape, declaration }: InspectedItem) => {
      const launch = ownEntry(servers, declaration.name);
      if (!isLocked || shape !== "subprocessServer" || launch === undefined) return false;
      return this.#mayStart({ owner: "pack", entry: pack.name, name: declaration.name }, launch);
    };
    const unusable = new Map(
      items.flatMap((item) => {
        const broken = checked.unusable.get(item);
        return broken === undefined && mayStart(item) ? [] : [[item, broken ?? this.#refusal] as const];
      }),
    );
    return { inspected, problems: checked.problems, unusable };
  }

  #record({ inspected }: CheckedPack): void {
    const { pack, items } = inspected;
    const isWanted = ({ declaration: { kind, name }, definition }: InspectedItem) =>
      !this.scope.isItemFree(pack.qualifiedName, kind, name, definition);
    const entry = describePack(inspected, isWanted);
    const isKnown = (key: (typeof keyOfKind)[keyof typeof keyOfKind], name: string) =>
      ownEntry<LockedItem>(entry[key], name) !== undefined;
    const declared = kinds.flatMap((kind) => pack[keyOfKind[kind]].map(({ name }) => ({ kind, name })));
    const unknown = declared.filter(({ kind, name }) => !isKnown(keyOfKind[kind], name));
    this.packs.set(pack.name, {
      pack,
      entry,
      unknown: new Set(unknown.map(({ kind, name }) => `${kind}:${name}`)),
    });
    for (const item of items) {
      const { kind, name } = item.declaration;
      if (item.definition === null || item.shape === undefined || !isWanted(item)) continue;
      if (isKnown(keyOfKind[kind], name)) continue;
      this.#noteUnrecordable(item.qualifiedName, pack.qualifiedName, { pack: pack.name, kind, item: name });
    }
  }

  finish(found: FoundPacks): Problem[] {
    this.found = found;
    this.problems.unshift(...found.problems, ...found.packs.flatMap(({ pack }) => pack.problems));
    return [];
  }

  findApproved(): undefined {}

  checkList(plan: ServerPlan, { entries, instructions }: ListedServer, isDenied: IsDenied): ListVerdict {
    const { label, source, pack } = plan;
    const { item } = source;
    const entry =
      source.pack === undefined
        ? this.servers.get(label)
        : ownEntry(this.packs.get(source.pack)?.entry.servers, item ?? "");
    const recorded: Record<ListedKind, [string, LockedItem][]> = { tool: [], prompt: [], resource: [] };
    for (const one of entries) {
      const { kind, id } = one;
      if (isDenied(one) || this.scope.isListedFree(kind, label, id, pack)) continue;
      try {
        recorded[kind].push([id, describeListed(one)]);
      } catch (error) {
        if (!(error instanceof UnrecordableError)) throw error;
        this.#noteUnrecordable(`${label}/${id}`, pack ?? label, placeOfServer(plan));
      }
    }
    if (entry !== undefined) {
      const said = linesOf(instructions);
      if (said !== undefined) entry.instructions = said;
      entry.lists = Object.fromEntries(recorded.tool);
      if (recorded.prompt.length > 0) entry.prompts = Object.fromEntries(recorded.prompt);
      if (recorded.resource.length > 0) entry.resources = Object.fromEntries(recorded.resource);
    }
    // Nothing is registered, so no names collide.
    return { refused: new Map(entries.map((one) => [one, this.#refusal])), problems: [], vanished: [] };
  }
}
