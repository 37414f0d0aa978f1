import { sep } from "node:path";
import { matchesAny, matchesName } from "../config/packs-policy.ts";
import type { SessionConfig } from "../config/session-config.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import type { Kind } from "../kinds.ts";
import type { ListedKind } from "../mcp/client/server-lists.ts";
import { itemName } from "./parts.ts";

export type ScopeConfig = Pick<SessionConfig, "lock" | "project" | "labels">;

/** What `lock.unlocked` and `lock.workspace` leave out of the lock. */
export class LockScope {
  readonly #patterns: readonly string[];
  readonly #labels: ReadonlySet<string>;
  readonly #locksWorkspace: boolean;
  readonly #folder: string;

  /** @internal `folder`: that of the lock, by default the project's. */
  constructor({ lock, project, labels }: ScopeConfig, folder = project) {
    this.#patterns = lock.unlocked.map((pattern) => pattern.replace(/^(\w+:)@/, "$1"));
    this.#labels = new Set(labels);
    this.#locksWorkspace = lock.workspace;
    this.#folder = folder;
  }

  isServerFree(label: string): boolean {
    return matchesAny(this.#patterns, [`server:${label}`]);
  }

  isPackFree(qualifiedName: string): boolean {
    return matchesAny(this.#patterns, [`pack:${qualifiedName}`]);
  }

  /** Whether a pack is locked. The project's own packs are free only inside the lock's folder. */
  hasPack({ origin, qualifiedName, location }: DiscoveredPack): boolean {
    const isInside = `${location}${sep}`.startsWith(`${this.#folder}${sep}`);
    const isOwn = (origin === "self" || origin === "workspace") && isInside;
    return (!isOwn || this.#locksWorkspace) && !this.isPackFree(qualifiedName);
  }

  /** Whether an item of a pack needs no approval. `pack`: a qualified name. `definition`: what has the URI of a resource. */
  isItemFree(
    pack: string,
    kind: Kind,
    name: string,
    definition: Readonly<Record<string, unknown>> | null,
  ): boolean {
    if (kind === "server") return matchesAny(this.#patterns, [`server:${pack}/${name}`]);
    if (kind === "toolset") return false;
    const own = kind === "resource" ? (definition?.uri ?? definition?.uriTemplate) : name;
    return typeof own === "string" && this.isListedFree(kind, pack, own, pack);
  }

  /** Whether what a server lists needs none. `id`: its name, or its URI. `pack`: the qualified name of the server's pack. */
  isListedFree(kind: ListedKind, label: string, id: string, pack: string | undefined): boolean {
    // A pattern with the name of a server and of a pack means the server.
    if (pack !== undefined && this.#labels.has(pack)) return false;
    return matchesAny(this.#patterns, [`${kind}:${pack ?? label}/${itemName(kind, id)}`]);
  }

  /** Whether something that a server may list needs none. */
  mayFreeListed(label: string, pack: string | undefined): boolean {
    const owner = pack ?? label;
    const { length } = owner.split("/");
    return this.#patterns.some((pattern) => {
      const [kind = "", name = ""] = pattern.split(/:(.*)/s);
      return (
        !["pack", "server"].includes(kind) && matchesName(name.split("/").slice(0, length).join("/"), owner)
      );
    });
  }
}
